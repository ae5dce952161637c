"""The variables that branches and loops of the graph change: which values they may have."""

import contextlib
import threading

import numpy as np

from rheos.autograph.values import is_symbolic, is_undefined
from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import FuncGraph
from rheos.framework.tensor_spec import TensorSpec
from rheos.framework.thread_state import inherited
from rheos.ops.array import array_ops
from rheos.ops.flow.tensor_array_ops import TensorArray

NUMBERS = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


class _Loops(threading.local):
    """How many loops of the graph the running converted code is in."""

    depth = 0

    @property
    def is_inside(self):
        return self.depth > 0

    @contextlib.contextmanager
    def entered(self):
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


LOOPS = inherited(_Loops())


def scratch():
    """A context for what is only made to see its shapes and dtypes."""
    if get_default_graph().building_function:
        return FuncGraph("scratch").as_default()
    return contextlib.nullcontext()


def is_value(value):
    """Whether a value is made of what tensors can hold."""
    return value is not None and all(
        isinstance(leaf, (TensorArray, *NUMBERS))
        or is_symbolic(leaf)
        or nest.is_composite(leaf)
        or hasattr(leaf, "__array__")
        for leaf in nest.flatten(value)
    )


def to_tensors(value):
    """The structure with tensors for what is neither a tensor nor made of tensors."""

    def tensor(leaf):
        if nest.is_composite(leaf) or isinstance(leaf, TensorArray):
            return leaf
        return convert_to_tensor(leaf)

    return nest.map_leaves(tensor, value)


def spec_of(value):
    """The structure with dtypes and shapes for tensors; what is no value stays."""
    if is_undefined(value) or not is_value(value):
        return value

    def spec(leaf):
        if nest.is_composite(leaf) or isinstance(leaf, TensorArray):
            return leaf
        tensor = convert_to_tensor(leaf)
        return TensorSpec(tensor.shape, tensor.dtype.base_dtype)

    return nest.map_leaves(spec, value)


def placeholder_like(value):
    """The structure with placeholders for its tensors and numbers."""
    if not get_default_graph().building_function or not is_value(value):
        return value

    def placeholder(leaf):
        if nest.is_composite(leaf) or isinstance(leaf, TensorArray):
            return leaf
        tensor = convert_to_tensor(leaf)
        if tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
            return leaf
        return array_ops.placeholder(tensor.dtype.base_dtype, tensor.shape)

    return nest.map_leaves(placeholder, value)


def filled_like(value):
    """Zeros of such dtypes and shapes; a dimension that is not known is 0."""

    def zeros(leaf):
        if isinstance(leaf, TensorArray):
            return TensorArray(leaf.dtype, size=0, dynamic_size=True)
        if nest.is_composite(leaf):
            raise ValueError(f"a variable of {type(leaf).__name__} needs a value before the loop")
        spec = leaf if isinstance(leaf, TensorSpec) else spec_of(leaf)
        dims = spec.shape.dims or ()
        return array_ops.zeros([dim.value or 0 for dim in dims], spec.dtype)

    return nest.map_leaves(zeros, value)


def _dtype_and_shape(leaf):
    if isinstance(leaf, NUMBERS):
        leaf = convert_to_tensor(leaf)
    dtype = getattr(leaf, "dtype", None)
    return getattr(dtype, "base_dtype", dtype), getattr(leaf, "shape", None)


def check_same(name, one, other, places, shape_too=False):
    """TypeError if two values of a variable differ in structure or dtypes; ValueError if a shape of
    `other` is not one of `one`, if that is asked for.

    places: where the two are, for the message.
    """
    try:
        nest.assert_same_structure(one, other, expand_composites=True)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"'{name}' does not have the same nested structure {places[0]} and {places[1]}."
            f"\n\n{error}"
        ) from error
    for first, second in zip(nest.flatten(one), nest.flatten(other)):
        if isinstance(first, TensorArray) or nest.is_composite(first):
            continue
        (dtype, shape), (other_dtype, other_shape) = map(_dtype_and_shape, (first, second))
        if dtype is not None and other_dtype is not None and dtype != other_dtype:
            raise TypeError(
                f"'{name}' has dtype {dtype.name} {places[0]}, but dtype {other_dtype.name} "
                f"{places[1]}"
            )
        if shape_too and not _is_within(other_shape, shape):
            raise ValueError(
                f"'{name}' has shape {shape} {places[0]}, but shape {other_shape} {places[1]}. Use "
                "tf.autograph.experimental.set_loop_options to set shape invariants."
            )


def _is_within(shape, wider):
    """Whether all tensors of a shape are of the other one."""
    if shape is None or wider is None or wider.dims is None:
        return True
    if shape.dims is None or len(shape.dims) != len(wider.dims):
        return False
    pairs = zip(shape.dims, wider.dims)
    return all(w.value is None or w.value == s.value for s, w in pairs)
