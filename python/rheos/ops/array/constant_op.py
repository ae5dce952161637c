"""Constants, as tensors and as messages."""

import numpy as np

from rheos import _core
from rheos.framework import dtypes, messages
from rheos.framework.conversion import _plain
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import Graph
from rheos.framework.tensor_proto import make_ndarray
from rheos.framework.tensor_shape import TensorShape


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A tensor with a fixed value.

    value: a number, string, array or nested list. shape: what to give it; a shorter value is
    filled up with its last element. verify_shape: whether the value has to have that shape.

    >>> print(tf.constant([1, 2, 3], dtype=tf.float32).numpy())
    [1. 2. 3.]
    """
    graph = get_default_graph()
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, TensorShape):
        value = value.as_list()
    elif not isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        if isinstance(value, (list, tuple)):
            if not (_core.is_plain(value) or graph_is_plain(value)):
                value = _plain_or_fail(value)
        elif type(value).__name__ == "TensorProto":
            value = make_ndarray(value)
        else:
            value = _plain(value, value)
    if shape is not None and graph._is_eager:
        _check_size(value, shape)
    return graph._constant(value, dtype, shape, name, verify_shape)


def _check_size(value, shape):
    """TypeError for more elements than one, and not as many as a tensor of the shape has."""
    wanted, size = TensorShape(shape).num_elements(), np.size(value)
    if size not in (1, wanted):
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape. Tensor {np.asarray(value)} "
            f"(converted from {value}) has {size} elements, but got `shape` {tuple(shape)} with "
            f"{wanted} elements)."
        )


def graph_is_plain(value):
    """Whether a nested list holds only what the extension converts itself."""
    for item in value:
        if isinstance(item, (list, tuple)):
            if not graph_is_plain(item):
                return False
        elif not isinstance(item, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
            return False
    return True


def _plain_or_fail(value):
    def has_tensor(items):
        return any(
            has_tensor(i) if isinstance(i, (list, tuple)) else hasattr(i, "_as_graph_element")
            for i in items
        )

    if has_tensor(value):
        raise TypeError("List of Tensors when single Tensor expected")
    return _plain(value, value)


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False):
    """A TensorProto of values: an array, a number, a text or lists of these.

    shape: the elements are laid out in it; if they are fewer, the last one goes on. ValueError if
    they are more, TypeError with verify_shape if the shape of the values is another one.
    """
    if isinstance(values, messages.TensorProto):
        return values
    with Graph().as_default():  # what the value of a constant is in a graph
        made = constant(values, dtype=dtype, shape=shape, verify_shape=verify_shape)
    return made.op.get_attr("value")
