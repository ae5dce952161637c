"""Sums, extremes and other things of all elements, or of those along axes."""

from rheos.framework import dtypes
from rheos.ops.array import array_ops, cast_ops, rearrange_ops
from rheos.ops.math import math_ops
from rheos.v2._reductions import argmax as _argmax, argmin as _argmin
from rheos.v2._tnp import arrays
from rheos.v2._tnp.arrays import as_inexact, asarray, numpy_type
from rheos.v2._tnp.math import as_bool


def _wide(a):
    """Integers of fewer bits than 64 as such of 64, booleans too: what sums of them are."""
    if a.dtype.base_dtype == dtypes.bool:
        return cast_ops.cast(a, dtypes.int64)
    if a.dtype.is_integer and a.dtype.size < 8:
        return cast_ops.cast(a, dtypes.uint64 if a.dtype.is_unsigned else dtypes.int64)
    return a


def _taken(a, dtype, widen):
    a = asarray(a)
    if dtype is not None:
        return cast_ops.cast(a, dtypes.as_dtype(numpy_type(dtype)))
    return widen(a)


def _total(name, function, widen, doc):
    def apply(a, axis=None, dtype=None, keepdims=None):
        return function(_taken(a, dtype, widen), axis=axis, keepdims=bool(keepdims))

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return apply


sum = _total("sum", math_ops.reduce_sum, _wide, "Sums along axes, by default of all elements.")
prod = _total("prod", math_ops.reduce_prod, _wide, "Products along axes.")


def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """Means along axes, by default of all elements."""
    if out is not None:
        raise ValueError("Setting out is not supported.")
    return math_ops.reduce_mean(_taken(a, dtype, as_inexact), axis=axis, keepdims=bool(keepdims))


def _no_out(out):
    if out is not None:
        raise ValueError("Setting out is not supported.")


def _extreme(function, of_bools):
    def apply(a, axis, keepdims):
        a = asarray(a)
        if a.dtype.base_dtype == dtypes.bool:
            return of_bools(a, axis=axis, keepdims=bool(keepdims))
        return function(a, axis=axis, keepdims=bool(keepdims))

    return apply


_largest = _extreme(math_ops.reduce_max, math_ops.reduce_any)
_smallest = _extreme(math_ops.reduce_min, math_ops.reduce_all)


def max(a, axis=None, keepdims=None):
    """The largest elements along axes."""
    return _largest(a, axis, keepdims)


def min(a, axis=None, keepdims=None):
    """The smallest elements along axes."""
    return _smallest(a, axis, keepdims)


def amax(a, axis=None, out=None, keepdims=None):
    """The largest elements along axes."""
    _no_out(out)
    return _largest(a, axis, keepdims)


def amin(a, axis=None, out=None, keepdims=None):
    """The smallest elements along axes."""
    _no_out(out)
    return _smallest(a, axis, keepdims)


def ptp(a, axis=None, keepdims=None):
    """How far the largest and the smallest element are apart."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def all(a, axis=None, keepdims=None):
    """Whether all elements are true, along axes."""
    return math_ops.reduce_all(as_bool(a), axis=axis, keepdims=bool(keepdims))


def any(a, axis=None, keepdims=None):
    """Whether some elements are true, along axes."""
    return math_ops.reduce_any(as_bool(a), axis=axis, keepdims=bool(keepdims))


def count_nonzero(a, axis=None):
    """How many elements are not zero, along axes."""
    return math_ops.reduce_sum(cast_ops.cast(as_bool(a), dtypes.int64), axis=axis)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """Variances along axes: sums of squares over the number of elements less `ddof`."""
    _no_out(out)
    a = _taken(a, dtype, as_inexact)
    keepdims = bool(keepdims)
    away = a - math_ops.reduce_mean(a, axis=axis, keepdims=True)
    squares = math_ops.square(math_ops.abs(away))
    if not ddof:
        return math_ops.reduce_mean(squares, axis=axis, keepdims=keepdims)
    made = math_ops.reduce_sum(squares, axis=axis, keepdims=keepdims)
    count = array_ops.size(squares) // array_ops.size(made)
    return made / cast_ops.cast(count - ddof, made.dtype)


def std(a, axis=None, keepdims=None):
    """Standard deviations along axes."""
    return math_ops.sqrt(var(a, axis, keepdims=keepdims))


def _place(function):
    def apply(a, axis):
        a = asarray(a)
        if a.dtype.base_dtype == dtypes.bool:
            a = cast_ops.cast(a, dtypes.int8)
        if axis is None or a.shape.ndims == 0:
            a, axis = array_ops.reshape(a, [-1]), 0
        return function(a, axis)

    return apply


_place_of_largest, _place_of_smallest = _place(_argmax), _place(_argmin)


def argmax(a, axis=None):
    """Where the largest elements are, along an axis or of all."""
    return _place_of_largest(a, axis)


def argmin(a, axis=None):
    """Where the smallest elements are, along an axis or of all."""
    return _place_of_smallest(a, axis)


def _running(function):
    def apply(a, axis, dtype):
        a = _taken(a, dtype, _wide)
        if axis is None:
            a, axis = array_ops.reshape(a, [-1]), 0
        return function(a, axis)

    return apply


_sums, _products = _running(math_ops.cumsum), _running(math_ops.cumprod)


def cumsum(a, axis=None, dtype=None):
    """Running sums along an axis, or of all elements."""
    return _sums(a, axis, dtype)


def cumprod(a, axis=None, dtype=None):
    """Running products along an axis, or of all elements."""
    return _products(a, axis, dtype)


def _without_nans(a, instead):
    a = asarray(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return a
    return rearrange_ops.where_v2(math_ops.not_equal(a, a), cast_ops.cast(instead, a.dtype), a)


def nansum(a, axis=None, dtype=None, keepdims=False):
    """Sums of what is not NaN."""
    return sum(_without_nans(a, 0), axis, dtype, keepdims)


def nanprod(a, axis=None, dtype=None, keepdims=False):
    """Products of what is not NaN."""
    return prod(_without_nans(a, 1), axis, dtype, keepdims)


def nanmean(a, axis=None, dtype=None, keepdims=None):
    """Means of what is not NaN."""
    a = asarray(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return mean(a, axis, dtype, keepdims=keepdims)
    total = nansum(a, axis, dtype, keepdims)
    there = cast_ops.cast(math_ops.equal(a, a), total.dtype)
    return total / math_ops.reduce_sum(there, axis=axis, keepdims=bool(keepdims))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sums of diagonals."""
    return sum(arrays.diagonal(a, offset, axis1, axis2), -1, dtype)


def diff(a, n=1, axis=-1):
    """How much each element is more than the one before it along an axis, `n` times."""
    a = asarray(a)
    if n < 0:
        raise ValueError(f"Argument `order` must be a non-negative integer. Received: axis={n}")
    rank = arrays.rank_of(a)
    axis = arrays.axis_of(axis, rank)
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
        is_bool = a.dtype.base_dtype == dtypes.bool
        a = math_ops.not_equal(later, earlier) if is_bool else later - earlier
    return a
