"""What Python's own functions do with tensors in converted code."""

import builtins

from rheos.autograph.values import is_symbolic
from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.io import string_ops
from rheos.ops.math import math_ops


def _any_symbolic(values):
    return any(is_symbolic(leaf) for value in values for leaf in nest.flatten(value))


def abs_(x):
    return math_ops.abs(x) if is_symbolic(x) else abs(x)


def _number(x, dtype, name):
    tensor = convert_to_tensor(x)
    if tensor.dtype.base_dtype == dtypes.string:
        return string_ops.string_to_number(tensor, out_type=dtype)
    return math_ops.cast(tensor, dtype, name=name)


def float_(x=0):
    return _number(x, dtypes.float32, "float") if is_symbolic(x) else float(x)


def int_(x=0, *base):
    return _number(x, dtypes.int32, "int") if is_symbolic(x) else int(x, *base)


def len_(values):
    """The length of a tensor's first dimension; of others what Python says."""
    if isinstance(values, TensorArray):
        return values.size()
    if not is_symbolic(values):
        return len(values)
    tensor = convert_to_tensor(values)
    if tensor.shape.ndims == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {tensor.shape}")
    known = tensor.shape.dims[0].value if tensor.shape.dims is not None else None
    return array_ops.shape(tensor)[0] if known is None else known


def range_(*args):
    return math_ops.range(*args) if any(map(is_symbolic, args)) else range(*args)


def any_(values):
    return math_ops.reduce_any(_flags(values)) if is_symbolic(values) else any(values)


def all_(values):
    return math_ops.reduce_all(_flags(values)) if is_symbolic(values) else all(values)


def _flags(values):
    tensor = convert_to_tensor(values)
    if tensor.dtype.base_dtype != dtypes.bool:
        raise ValueError(f"any and all take a tensor of bool, got {tensor}")
    return tensor


def _extreme(reduce, python, args, options):
    if not _any_symbolic(args) or options:
        return python(*args, **options)
    if len(args) == 1:
        if not is_symbolic(args[0]):
            return reduce(array_ops.stack(list(args[0])), axis=0)
        tensor = convert_to_tensor(args[0])
        if tensor.shape.ndims not in (0, 1, None):
            raise ValueError(f"{python.__name__} takes a tensor of rank 0 or 1, got {tensor}")
        return reduce(tensor)
    return reduce(array_ops.stack(list(args)), axis=0)


def max_(*args, **options):
    return _extreme(math_ops.reduce_max, max, args, options)


def min_(*args, **options):
    return _extreme(math_ops.reduce_min, min, args, options)


def sum_(values, start=0):
    if not is_symbolic(values):
        return sum(values, start)
    return math_ops.reduce_sum(values, axis=0) + start


def sorted_(values, key=None, reverse=False):
    """Of a tensor, its elements along the first dimension in order; key: a function of a tensor."""
    if not is_symbolic(values):
        return sorted(values, key=key, reverse=reverse)
    tensor = convert_to_tensor(values)
    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        return rearrange_ops.sort(tensor, axis=0, direction=direction)
    order = rearrange_ops.argsort(key(tensor), axis=0, direction=direction, stable=True)
    return array_ops.gather(tensor, order)


class Together:
    """Tensors that a loop goes over together: zip() of them, or enumerate()."""

    def __init__(self, tensors, start=None):
        self.tensors = tensors
        self.start = start

    def __iter__(self):
        return iter(self.tensors[0])  # which says that it cannot be


def enumerate_(values, start=0):
    if is_symbolic(values):
        return Together([convert_to_tensor(values)], start)
    make = getattr(values, "enumerate", None)
    if make is not None and hasattr(values, "reduce"):
        return make(start)
    return enumerate(values, start)


def zip_(*values, **options):
    if values and all(map(is_symbolic, values)):
        return Together([convert_to_tensor(value) for value in values])
    if values and all(hasattr(v, "reduce") and hasattr(v, "zip") for v in values):
        return type(values[0]).zip(values)
    return zip(*values, **options)


def next_(iterator, *default):
    """What Python says; the program asks for it, so that no bound on elements that loops take is
    near."""
    value = next(iterator, *default)
    if getattr(iterator, "_taken_in_graph", 0):
        iterator._taken_in_graph = 0
    return value


TABLE = {
    builtins.abs: abs_,
    builtins.float: float_,
    builtins.int: int_,
    builtins.len: len_,
    builtins.range: range_,
    builtins.any: any_,
    builtins.all: all_,
    builtins.max: max_,
    builtins.min: min_,
    builtins.sum: sum_,
    builtins.sorted: sorted_,
    builtins.enumerate: enumerate_,
    builtins.zip: zip_,
    builtins.next: next_,
}
