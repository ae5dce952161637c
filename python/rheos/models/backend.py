"""tf.keras.backend: functions of tensors, and of the session, that programs use."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph, reset_default_graph
from rheos.layers import values
from rheos.layers.values import (  # noqa: F401
    get_session,
    learning_phase,
    learning_phase_scope,
    set_learning_phase,
    set_session,
)
from rheos.models.defaults import (  # noqa: F401
    epsilon,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.state.variables import Variable


def backend():
    """Its name."""
    return "tensorflow"


def clear_session():
    """Forgets the session, the graph and the numbers in names."""
    values.forget_session()
    if not values.runs_in_session():
        for name in ("_object_counts", "_prefix_counts", "_seed_generator", "_graph_of_layers"):
            values.root_graph().__dict__.pop(name, None)
    reset_default_graph()


def get_uid(prefix=""):
    """A number that is one more with each call for a prefix."""
    counts = get_default_graph().__dict__.setdefault("_prefix_counts", {})
    counts[prefix] = counts.get(prefix, 0) + 1
    return counts[prefix]


def reset_uids():
    """Forgets the numbers in names."""
    get_default_graph().__dict__.pop("_prefix_counts", None)
    get_default_graph().__dict__.pop("_object_counts", None)


def variable(value, dtype=None, name=None, constraint=None):
    """A variable with a value."""
    if dtype is None:
        dtype = floatx()
    return Variable(
        convert_to_tensor(np.asarray(value), dtypes.as_dtype(dtype)),
        dtype=dtypes.as_dtype(dtype),
        name=name,
        constraint=constraint,
        use_resource=True,
    )


def get_value(x):
    """The value of a variable or tensor, as an array."""
    return values.get_values([x])[0] if values.is_tensor(x) else x


def batch_get_value(tensors):
    """The values of variables or tensors, as arrays."""
    return values.get_values(tensors)


def set_value(x, value):
    """Sets a variable."""
    values.set_values([(x, value)])


def batch_set_value(tuples):
    """Sets variables: pairs of a variable and a value."""
    values.set_values(tuples)


def eval(x):
    """The value of a tensor, as an array."""
    return get_value(x)


def cast(x, dtype):
    """x in another dtype."""
    return math_ops.cast(x, dtype)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None):
    """A tensor that is fed."""
    if shape is None and ndim is not None:
        shape = [None] * ndim
    return array_ops.placeholder(dtype or floatx(), shape=shape, name=name)
