"""Arrays made of values, and the dtypes that NumPy gives to what several make."""

import numbers

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.operation import Tensor, _VariableBase
from rheos.ops.array import array_ops, cast_ops, rearrange_ops
from rheos.ops.math import math_ops

_prefers_float32 = [False]


def prefer_float32(is_preferred):
    """Says that Python's floats, and what is made of integers, are of 32 bits."""
    _prefers_float32[:] = [bool(is_preferred)]


def _preferred(number):
    """What stands for a Python number of its kind where dtypes are chosen."""
    if isinstance(number, bool) or not _prefers_float32[0]:
        return number
    narrow = {float: np.float32, complex: np.complex64}.get(type(number))
    return number if narrow is None else np.dtype(narrow)


def default_float():
    """The NumPy type of what is made of integers."""
    return np.dtype(np.float64)


def numpy_type(dtype):
    """What a program says of a dtype as a NumPy type."""
    if isinstance(dtype, dtypes.DType):
        return np.dtype(dtype.as_numpy_dtype)
    return np.dtype(dtype)


def is_tensor(value):
    """Whether a value is a tensor or a variable."""
    return isinstance(value, (Tensor, _VariableBase, IndexedSlices))


def _kind(one):
    """What NumPy is asked about in place of a value: Python's numbers give way to dtypes."""
    if is_tensor(one):
        return np.dtype(one.dtype.base_dtype.as_numpy_dtype)
    if isinstance(one, (np.ndarray, np.generic)):
        return one.dtype
    if isinstance(one, dtypes.DType):
        return np.dtype(one.as_numpy_dtype)
    if one in _PYTHON_TYPES:
        return _preferred(one(0))
    if not isinstance(one, (list, tuple)):
        return _preferred(one) if isinstance(one, (bool, int, float, complex)) else one
    parts = [_kind(part) for part in one]
    if not parts:
        return np.dtype(np.float64)
    if any(isinstance(part, np.dtype) for part in parts):
        return np.result_type(*parts)
    return sum(part * 0 for part in parts) if bool not in map(type, parts) else _of_bools(parts)


def _of_bools(parts):
    return np.dtype(bool) if {bool} == set(map(type, parts)) else np.result_type(*parts)


_PYTHON_TYPES = (float, complex)


def numpy_result_type(*arrays_and_dtypes):
    """The NumPy type of what the arguments make together."""
    return np.result_type(*map(_kind, arrays_and_dtypes))


def result_type(*arrays_and_dtypes):
    """The dtype of what the arguments make together."""
    return dtypes.as_dtype(numpy_result_type(*arrays_and_dtypes))


def promote_types(type1, type2):
    """The smallest NumPy type that both can be cast to."""
    return np.promote_types(numpy_type(type1), numpy_type(type2))


def _has_tensors(value):
    if isinstance(value, (list, tuple)):
        return any(map(_has_tensors, value))
    return is_tensor(value)


def array(val, dtype=None, copy=True, ndmin=0):
    """A tensor of a value: of nested lists, numbers, arrays and tensors.

    Python's integers become int64 and its floats float64. ndmin: the least number of dimensions.
    """
    if is_tensor(val):
        made = convert_to_tensor(val)
        wanted = made.dtype.base_dtype if dtype is None else dtypes.as_dtype(numpy_type(dtype))
    elif _has_tensors(val):
        wanted = dtypes.as_dtype(numpy_result_type(val) if dtype is None else numpy_type(dtype))
        made = array_ops.stack([array(one, wanted, copy=False) for one in val])
    else:
        known = np.asarray(val) if dtype is None else np.asarray(val).astype(numpy_type(dtype))
        if dtype is None and not isinstance(val, (np.ndarray, np.generic)):
            known = known if known.dtype == object else known.astype(numpy_result_type(val))
        made = convert_to_tensor(known)
        wanted = made.dtype
    made = made if made.dtype.base_dtype == wanted else cast_ops.cast(made, wanted)
    missing = ndmin - (made.shape.ndims or 0)
    if missing > 0:
        sizes = array_ops.concat([[1] * missing, array_ops.shape(made)], 0)
        made = array_ops.reshape(made, sizes)
    return array_ops.identity(made) if copy and made is val else made


def asarray(a, dtype=None):
    """`a` itself if it is a tensor of the dtype, else array(a)."""
    if isinstance(a, Tensor) and (
        dtype is None or a.dtype.base_dtype == dtypes.as_dtype(numpy_type(dtype))
    ):
        return a
    return array(a, dtype, copy=False)


asanyarray = ascontiguousarray = asarray


def copy(a):
    """A tensor of the same values."""
    return array(a, copy=True)


def promoted(*values):
    """The values as tensors of the dtype that NumPy would give to what they make."""
    kind = numpy_result_type(*values)
    return [array(one, kind, copy=False) for one in values]


def as_inexact(a):
    """A value as a tensor of floats or complex numbers."""
    a = asarray(a)
    if a.dtype.is_floating or a.dtype.is_complex:
        return a
    return cast_ops.cast(a, default_float())


def rank_of(a):
    """The number of dimensions, which must be known."""
    rank = a.shape.ndims
    if rank is None:
        raise ValueError("the number of dimensions is not known")
    return rank


def axis_of(axis, rank):
    """An axis counted from the first; ValueError if there is no such."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis + rank if axis < 0 else axis


# ---- Making arrays


def empty(shape, dtype=float):
    """Zeros: no memory is left as it was."""
    return zeros(shape, dtype)


def empty_like(a, dtype=None):
    """Zeros of the shape of `a`."""
    return zeros_like(a, dtype)


def zeros(shape, dtype=float):
    """Zeros."""
    return array_ops.zeros(_shape(shape), dtypes.as_dtype(numpy_type(dtype or float)))


def ones(shape, dtype=float):
    """Ones."""
    return array_ops.ones(_shape(shape), dtypes.as_dtype(numpy_type(dtype or float)))


def _shape(shape):
    if isinstance(shape, numbers.Integral):
        return [int(shape)]
    if is_tensor(shape) and shape.shape.ndims == 0:
        return array_ops.reshape(shape, [1])
    return shape


def _like(a, dtype):
    a = asarray(a)
    return a, a.dtype if dtype is None else dtypes.as_dtype(numpy_type(dtype))


def zeros_like(a, dtype=None):
    """Zeros of the shape of `a`, and of its dtype by default."""
    a, kind = _like(a, dtype)
    return array_ops.zeros_like(a, dtype=kind)


def ones_like(a, dtype=None):
    """Ones of the shape of `a`, and of its dtype by default."""
    a, kind = _like(a, dtype)
    return array_ops.ones_like(a, dtype=kind)


def full(shape, fill_value, dtype=None):
    """An array of one value, or of values that broadcast to the shape."""
    return array_ops.broadcast_to(asarray(fill_value, dtype), _shape(shape))


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """An array of the shape and dtype of `a` with another value."""
    if order != "K" or not subok or shape is not None:
        raise ValueError("full_like() takes only order='K', subok=True and shape=None")
    a, kind = _like(a, dtype)
    return array_ops.broadcast_to(asarray(fill_value, kind), array_ops.shape(a))


def eye(N, M=None, k=0, dtype=float):
    """Ones on diagonal `k`, zeros elsewhere."""
    return convert_to_tensor(np.eye(int(N), M if M is None else int(M), k, numpy_type(dtype)))


def identity(n, dtype=float):
    """Ones on the main diagonal."""
    return eye(n, n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    """Ones on and below diagonal `k`."""
    return convert_to_tensor(np.tri(int(N), M, k, numpy_type(dtype or float)))


def arange(start, stop=None, step=1, dtype=None):
    """Numbers from `start` (0 if it is all that is said) up to `stop`, `step` apart."""
    if not step:
        raise ValueError("step must be non-zero")
    kind = numpy_result_type(start, step, *([] if stop is None else [stop]))
    kind = kind if dtype is None else numpy_type(dtype)
    low, high = (0, start) if stop is None else (start, stop)
    if not any(map(is_tensor, (low, high, step))):
        return convert_to_tensor(np.arange(low, high, step).astype(kind))
    low, high, step = (array(one, kind, copy=False) for one in (low, high, step))
    return math_ops.range(low, high, step)


def diag(v, k=0):
    """A matrix with `v` on diagonal `k`, or diagonal `k` of a matrix."""
    v = asarray(v)
    if rank_of(v) not in (1, 2):
        raise ValueError("Input must be 1- or 2-d.")
    if rank_of(v) == 2:
        return diagonal(v, k)
    size = int(v.shape[0]) + abs(k) if v.shape[0] is not None else None
    if size is None:
        raise ValueError("diag() needs a vector of known length")
    flat = np.full(size * size, int(v.shape[0]))
    flat.reshape(size, size)[np.eye(size, k=k, dtype=bool)] = np.arange(int(v.shape[0]))
    more = array_ops.concat([v, array_ops.zeros([1], v.dtype)], 0)
    return array_ops.reshape(array_ops.gather(more, flat), [size, size])


def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of matrices along two axes, which come last."""
    a = asarray(a)
    rank = rank_of(a)
    axis1, axis2 = axis_of(axis1, rank), axis_of(axis2, rank)
    order = [i for i in range(rank) if i not in (axis1, axis2)] + [axis1, axis2]
    a = array_ops.transpose(a, order)
    rows, columns = array_ops.shape(a)[-2], array_ops.shape(a)[-1]
    down, right = max(-offset, 0), max(offset, 0)
    length = math_ops.maximum(math_ops.minimum(rows - down, columns - right), 0)
    places = (math_ops.range(length) + down) * columns + math_ops.range(length) + right
    flat = array_ops.concat([array_ops.shape(a)[:-2], [rows * columns]], 0)
    return array_ops.gather(array_ops.reshape(a, flat), places, axis=-1)


def diagflat(v, k=0):
    """A matrix with the elements of `v` on diagonal `k`."""
    return diag(array_ops.reshape(asarray(v), [-1]), k)


def diag_indices(n, ndim=2):
    """The places of the main diagonal, an array for each axis."""
    return (math_ops.range(convert_to_tensor(n)),) * ndim


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """`num` numbers from `start` to `stop`, the last among them if `endpoint`."""
    kind = numpy_result_type(start, stop, float)
    start, stop = array(start, kind, copy=False), array(stop, kind, copy=False)
    start, stop = start + array_ops.zeros_like(stop), stop + array_ops.zeros_like(start)
    if num < 0:
        raise ValueError(f"Argument `num` (got {num}) must be a non-negative integer.")
    parts = num - 1 if endpoint else num
    step = (stop - start) / cast_ops.cast(max(parts, 1), kind)
    if parts < 1:
        step = start * float("nan")
    counts = cast_ops.cast(math_ops.range(num), kind)
    rank = rank_of(start) + 1
    counts = array_ops.reshape(counts, [num] + [1] * (rank - 1))
    made = start + counts * (step if parts >= 1 else array_ops.zeros_like(step))
    if endpoint and num > 1:
        made = array_ops.concat([made[:-1], array_ops.expand_dims(stop, 0)], 0)
    if dtype:
        made = cast_ops.cast(made, result_type(dtype))
    if axis % rank:
        order = list(range(1, rank))
        order.insert(axis % rank, 0)
        made = array_ops.transpose(made, order)
    return (made, step) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """`base` to the powers that linspace() gives."""
    kind = numpy_result_type(start, stop, float) if dtype is None else numpy_type(dtype)
    made = linspace(start, stop, num, endpoint, axis=axis)
    made = math_ops.pow(cast_ops.cast(base, made.dtype), made)
    return cast_ops.cast(made, dtypes.as_dtype(kind))


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from `start` to `stop`, each by the same factor more than the last."""
    kind = numpy_result_type(start, stop, float) if dtype is None else numpy_type(dtype)
    start, stop = promoted(start, stop, float(num))[:2]
    sign = math_ops.sign(start)
    low, high = math_ops.log(start * sign), math_ops.log(stop * sign)
    made = math_ops.exp(linspace(low, high, num, endpoint, axis=axis))
    sign = cast_ops.cast(sign, made.dtype)
    if rank_of(sign):
        sign = array_ops.expand_dims(sign, axis)
    return cast_ops.cast(made * sign, dtypes.as_dtype(kind))


def vander(x, N=None, increasing=False):
    """A matrix whose columns are powers of `x`, the lowest first if `increasing`."""
    x = asarray(x)
    number = x.shape[0] if N is None else int(N)
    if number is None or number < 0:
        raise ValueError("N must be nonnegative")
    powers = np.arange(number) if increasing else np.arange(number - 1, -1, -1)
    powers = cast_ops.cast(convert_to_tensor(powers), x.dtype)
    return math_ops.pow(array_ops.expand_dims(x, -1), powers)


def ix_(*args):
    """Vectors, shaped so that each runs along an axis of its own."""
    made = []
    for i, one in enumerate(args):
        one = asarray(one)
        if rank_of(one) != 1:
            raise ValueError("Arguments must be 1-d, got arg of shape " + str(one.shape))
        if one.dtype.base_dtype == dtypes.bool:
            one = array_ops.reshape(rearrange_ops.where_v2(one), [-1])
        made.append(array_ops.reshape(one, [1] * i + [-1] + [1] * (len(args) - 1 - i)))
    return made


def meshgrid(*xi, **kwargs):
    """Grids of coordinates of vectors; indexing: "xy" or "ij". sparse: not supported."""
    if kwargs.pop("sparse", False):
        raise ValueError("meshgrid doesnt support setting sparse to True")
    kwargs.pop("copy", None)
    return array_ops.meshgrid(*map(asarray, xi), **kwargs)


# ---- What arrays are


def ndim(a):
    """The number of dimensions."""
    a = asarray(a)
    return a.shape.ndims if a.shape.ndims is not None else array_ops.rank(a)


def shape(a):
    """The sizes of the dimensions."""
    a = asarray(a)
    known = a.shape
    return known if known.is_fully_defined() else array_ops.shape(a)


def size(x, axis=None):
    """How many elements there are, in all or along an axis."""
    x = asarray(x)
    if axis is None:
        known = x.shape.num_elements()
        return np.int64(known) if known is not None else array_ops.size(x)
    known = x.shape.as_list()[axis] if x.shape.ndims is not None else None
    return np.int64(known) if known is not None else array_ops.shape(x)[axis]


def isscalar(num):
    """Whether a value is a number or an array of no dimensions."""
    if is_tensor(num):
        return num.shape.ndims == 0
    return bool(np.isscalar(num))


def issubdtype(arg1, arg2):
    """Whether the first type is one of the second."""
    return np.issubdtype(numpy_type(arg1), arg2)


def iscomplexobj(x):
    """Whether an array is of complex numbers."""
    return asarray(x).dtype.is_complex


def isrealobj(x):
    """Whether an array is not of complex numbers."""
    return not iscomplexobj(x)
