"""What belongs to eager execution itself: variables, DLPack, the state of the process."""

import functools

import numpy as np

from rheos.framework import conversion
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import EagerTensor
from rheos.ops.state import variables


class _AnyVariable(type(variables.Variable)):
    """Makes a variable where Variable is called, and knows all of them as its own."""

    def __call__(cls, *values, **arguments):
        if cls is not Variable:
            return super().__call__(*values, **arguments)
        arguments.pop("experimental_enable_variable_lifting", None)
        arguments.update(zip(_ORDER, values))
        arguments.setdefault("use_resource", True)
        return variables.Variable(**arguments)

    def __instancecheck__(cls, instance):
        return isinstance(instance, variables.Variable)


_ORDER = (
    "initial_value",
    "trainable",
    "validate_shape",
    "caching_device",
    "name",
    "variable_def",
    "dtype",
    "import_scope",
    "constraint",
    "synchronization",
    "aggregation",
    "shape",
)


class Variable(variables.Variable, metaclass=_AnyVariable):
    """A value that stays: (initial_value, trainable, validate_shape, ..., name, dtype, shape).

    >>> count = tf.Variable(1, name="count")
    >>> count.assign_add(2).numpy().item()
    3
    """


def get_current_name_scope():
    """The name scope that operations are added in now, "" outside of all."""
    return get_default_graph()._scope_name().rstrip("/")


def inside_function():
    """Whether a function is being traced here."""
    return bool(getattr(get_default_graph(), "building_function", False))


def is_eager_tensor(value):
    """Whether the value of a tensor is there."""
    return isinstance(value, EagerTensor)


def enabled():
    """Whether TensorFlow 2's behaviour is on: it is."""
    return True


def unwrap(maybe_decorated):
    """([what decorates a function, outermost first], the function itself)."""
    around, inner = [], maybe_decorated
    while hasattr(inner, "__wrapped__") or isinstance(inner, functools.partial):
        around.append(inner)
        inner = getattr(inner, "__wrapped__", None) or inner.func
    return around, inner


def is_symbolic_tensor(tensor):
    """Whether a tensor is one of a graph."""
    return not getattr(tensor, "_is_eager", True)


def to_dlpack(tf_tensor):
    """A capsule of DLPack that shares the tensor's memory."""
    return np.asarray(_Shared(tf_tensor)).__dlpack__()


def from_dlpack(dlcapsule):
    """A tensor of the value in a capsule of DLPack, or of an object that gives one."""
    return conversion.convert_to_tensor(np.from_dlpack(_Holder(dlcapsule)))


class _Shared:
    """The memory of a tensor as NumPy wants it told; DLPack cannot say that it is only read."""

    def __init__(self, tensor):
        self._tensor = tensor
        told = np.asarray(memoryview(tensor)).__array_interface__
        self.__array_interface__ = {**told, "data": (told["data"][0], False)}


class _Holder:
    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **unused):
        held = self._capsule
        return held.__dlpack__() if hasattr(held, "__dlpack__") else held

    def __dlpack_device__(self):
        return 1, 0


_filtering = [True]


def enable_traceback_filtering():
    """Says that tracebacks leave out frames inside of TensorFlow: nothing else changes."""
    _filtering[:] = [True]


def disable_traceback_filtering():
    """Says that tracebacks show frames inside of TensorFlow: nothing else changes."""
    _filtering[:] = [False]


def is_traceback_filtering_enabled():
    """What was said last; True at first."""
    return _filtering[0]
