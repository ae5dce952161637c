"""The variable that counts training steps."""

from rheos.framework import dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor
from rheos.ops.state import init_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_scope import get_variable
from rheos.ops.state.variables import Variable


def global_step(sess, global_step_tensor):
    """The value of the step counter in a session, as an int."""
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor):
    """TypeError or ValueError unless it is an integer scalar."""
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise TypeError(
            f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.'
        )
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(
            f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}'
        )
    if global_step_tensor.shape.ndims != 0 and global_step_tensor.shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


def get_global_step(graph=None):
    """The step counter of the graph, None if it has none."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) == 1:
        step = found[0]
    elif not found:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    else:
        return None
    assert_global_step(step)
    return step


def create_global_step(graph=None):
    """Makes the step counter; ValueError if the graph has one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=init_ops.zeros_initializer(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph=None):
    """The step counter of the graph, made if there is none.

    >>> print(tf.train.get_or_create_global_step().name)
    global_step:0
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step
