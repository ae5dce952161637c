"""Numbers in another dtype, and ranges of them: what array_ops and math_ops both stand on."""

import functools
import math

from rheos import _core
from rheos.framework import dtypes, from_ops
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op1, runs_op
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.ragged import ragged_too
from rheos.framework.sparse_tensor import SparseTensor, is_sparse


def sparse_too(function):
    """The function, made to take a SparseTensor too, of which it changes the values."""

    @functools.wraps(function)
    def wrapper(x, *args, **kwargs):
        if not is_sparse(x):
            return function(x, *args, **kwargs)
        return SparseTensor(x.indices, function(x.values, *args, **kwargs), x.dense_shape)

    return wrapper


@runs_op("Cast", "x", changes_type=True, DstT="dtype")
@ragged_too("elementwise")
@sparse_too
def cast(x, dtype, name=None):
    """x converted to another dtype.

    >>> print(tf.cast([1.7, -1.7], tf.int32).numpy())
    [ 1 -1]
    """
    base = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, (Tensor, _VariableBase)) and base == x.dtype:
        return x
    with name_scope(name, "Cast", [x]) as name:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, base, name), x.indices, x.dense_shape)
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype == base:
            return x
        return op1("Cast", name, x, DstT=base)


_RANGE_DTYPES = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


def _is_short(number):
    """Whether it is an integer of Python of 32 bits."""
    return type(number) is int and -(2**31) <= number < 2**31


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """Numbers from `start` up to `limit` (not included), `delta` apart.

    >>> print(tf.range(3, 10, delta=2).numpy())
    [3 5 7 9]
    """
    if limit is None:
        start, limit = 0, start
    if dtype is None and _core._executes_eagerly() and all(map(_is_short, (start, limit, delta))):
        return op1("Range", None, start, limit, delta)
    with name_scope(name, "Range", [start, limit, delta]) as name:
        parts = [
            part if isinstance(part, Tensor) else convert_to_tensor(part, dtype, label)
            for part, label in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        if dtype is None:
            dtype = max((p.dtype.base_dtype for p in parts), key=_RANGE_DTYPES.index)
        result = op1("Range", name, *(cast(p, dtype) for p in parts))
        if result.shape.as_list() == [None]:
            _tell_length(result, parts)
        return result


def _tell_length(result, parts):
    """Sets the length of a range of numbers that are known once they are cast."""
    start, limit, delta = (constant_value(part) for part in parts)
    if start is None or limit is None or delta is None or not delta:
        return
    count = math.ceil((float(limit) - float(start)) / float(delta))
    if 0 <= count < 1 << 62:
        result.set_shape([count])


from_ops.register(cast=cast)
