"""The variables of a graph: lists of them, and operations that set and check them all."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import device, name_scope
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.state import state_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.initial_order import initializers_in_order


def _collection(key):
    def function(scope=None):
        return get_default_graph().get_collection(key, scope)

    return function


global_variables = _collection(GraphKeys.GLOBAL_VARIABLES)
global_variables.__name__ = global_variables.__qualname__ = "global_variables"
global_variables.__doc__ = """The variables shared by everything that uses the session.

>>> v = tf.Variable(1.0, name="v")
>>> print([one.name for one in tf.global_variables()])
['v:0']
"""
local_variables = _collection(GraphKeys.LOCAL_VARIABLES)
local_variables.__name__ = local_variables.__qualname__ = "local_variables"
local_variables.__doc__ = "The variables that are not saved."
model_variables = _collection(GraphKeys.MODEL_VARIABLES)
model_variables.__name__ = model_variables.__qualname__ = "model_variables"
model_variables.__doc__ = "The variables that a model needs to be used."
trainable_variables = _collection(GraphKeys.TRAINABLE_VARIABLES)
trainable_variables.__name__ = trainable_variables.__qualname__ = "trainable_variables"
trainable_variables.__doc__ = """The variables that optimizers change.

>>> v = tf.Variable(1.0, name="v")
>>> counter = tf.Variable(0, name="counter", trainable=False)
>>> print([one.name for one in tf.trainable_variables()])
['v:0']
"""
moving_average_variables = _collection(GraphKeys.MOVING_AVERAGE_VARIABLES)
moving_average_variables.__name__ = "moving_average_variables"
moving_average_variables.__qualname__ = "moving_average_variables"
moving_average_variables.__doc__ = "The variables that keep moving averages."


def all_variables():
    """The old name of global_variables()."""
    return global_variables()


def variables_initializer(var_list, name="init"):
    """An operation that sets variables to their initial values."""
    if var_list:
        copies = [c for v in var_list for c in (v.values if v._is_distributed else [v])]
        return control_flow_ops.group(*initializers_in_order(copies), name=name)
    return control_flow_ops.group(name=name)


def global_variables_initializer():
    """An operation that sets all global variables to their initial values.

    >>> v = tf.Variable([1, 2])
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(v))
    [1 2]
    """
    return variables_initializer(global_variables())


def local_variables_initializer():
    """An operation that sets all local variables to their initial values."""
    return variables_initializer(local_variables())


def initialize_variables(var_list, name="init"):
    """The old name of variables_initializer()."""
    return variables_initializer(var_list, name)


def initialize_all_variables():
    """The old name of global_variables_initializer()."""
    return global_variables_initializer()


def initialize_local_variables():
    """The old name of local_variables_initializer()."""
    return local_variables_initializer()


def is_variable_initialized(variable):
    """Whether the variable has a value in the session."""
    return state_ops.is_variable_initialized(variable)


def assert_variables_initialized(var_list=None):
    """Fails when it runs unless all variables have values; None if there are no variables."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return None
    with get_default_graph().device("/cpu:0"):
        # Reading a variable without a value is what fails; the rank is only something to ask for.
        ranks = [op1("Rank", None, convert_to_tensor(v)) for v in var_list]
        return ranks[0] if len(ranks) == 1 else array_ops.stack(ranks)


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """A vector of the names of the variables that have no value in the session."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        if not var_list:
            return constant([], dtype=dtypes.string)

        found = [state_ops.is_variable_initialized(v) for v in var_list]
        with device("/cpu:0"):
            missing = math_ops.logical_not(array_ops.stack(found))
            names = constant([v.op.name for v in var_list])
            return array_ops.boolean_mask(names, missing)
