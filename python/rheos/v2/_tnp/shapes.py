"""Arrays put together, taken apart and turned around."""

import numbers

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops, cast_ops, rearrange_ops
from rheos.ops.math import math_ops
from rheos.v2._tnp.arrays import array, asarray, axis_of, promoted, rank_of


def reshape(a, newshape, order="C"):
    """The elements in another shape; order: "C" or "F"."""
    a = asarray(a)
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    if isinstance(newshape, numbers.Integral):
        newshape = [newshape]
    if order == "C":
        return array_ops.reshape(a, newshape)
    made = array_ops.reshape(array_ops.transpose(a), list(newshape)[::-1])
    return array_ops.transpose(made)


def ravel(a):
    """All elements as a vector."""
    return array_ops.reshape(asarray(a), [-1])


def flatten(a, order="C"):
    """All elements as a vector; order: "C" or "F"."""
    a = asarray(a)
    if order in ("C", "A", "K"):
        return array_ops.reshape(a, [-1])
    if order == "F":
        return array_ops.reshape(array_ops.transpose(a), [-1])
    raise ValueError(f"order can only be C, A, K (all row major) or F (column major). Got {order}")


def expand_dims(a, axis):
    """An axis of one more."""
    return array_ops.expand_dims(asarray(a), axis)


def squeeze(a, axis=None):
    """Without axes of one."""
    return array_ops.squeeze(asarray(a), axis)


def transpose(a, axes=None):
    """The axes in another order, by default turned around."""
    a = asarray(a)
    if axes is None:
        return array_ops.transpose(a)
    return array_ops.transpose(a, [axis_of(one, rank_of(a)) for one in axes])


def swapaxes(a, axis1, axis2):
    """Two axes exchanged."""
    a = asarray(a)
    order = list(range(rank_of(a)))
    one, other = axis_of(axis1, len(order)), axis_of(axis2, len(order))
    order[one], order[other] = order[other], order[one]
    return array_ops.transpose(a, order)


def moveaxis(a, source, destination):
    """Axes moved to other places; the others keep their order."""
    a = asarray(a)
    rank = rank_of(a)
    source, destination = [
        [axis_of(one, rank) for one in (axes if isinstance(axes, (list, tuple)) else [axes])]
        for axes in (source, destination)
    ]
    if len(source) != len(destination):
        raise ValueError("The lengths of source and destination must equal")
    order = [i for i in range(rank) if i not in source]
    for place, one in sorted(zip(destination, source)):
        order.insert(place, one)
    return array_ops.transpose(a, order)


def concatenate(arys, axis=0):
    """Arrays one after the other along an axis."""
    if not isinstance(arys, (list, tuple)):
        arys = [arys]
    arys = promoted(*map(asarray, arys))
    if axis is None:
        arys, axis = [array_ops.reshape(one, [-1]) for one in arys], 0
    return array_ops.concat(arys, axis)


def append(arr, values, axis=None):
    """`values` after `arr` along an axis; without one both as vectors."""
    return concatenate([arr, values], axis)


def stack(arrays, axis=0):
    """Arrays along an axis of their own."""
    if isinstance(arrays, (list, tuple)):
        return array_ops.stack(promoted(*map(asarray, arrays)), axis)
    arrays = asarray(arrays)
    return arrays if axis == 0 else swapaxes(arrays, 0, axis)


def _at_least(count, arys, spread):
    made = []
    for one in arys:
        one = asarray(one)
        made.append(spread(one, rank_of(one)) if rank_of(one) < count else one)
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys):
    """Arrays of one dimension at least."""
    return _at_least(1, arys, lambda one, rank: array_ops.reshape(one, [1]))


def atleast_2d(*arys):
    """Arrays of two dimensions at least, what has fewer as one row."""
    return _at_least(2, arys, lambda one, rank: array_ops.reshape(one, [1, -1]))


def _three(one, rank):
    if rank == 2:
        return array_ops.expand_dims(one, -1)
    return array_ops.reshape(one, [1, -1, 1])


def atleast_3d(*arys):
    """Arrays of three dimensions at least."""
    return _at_least(3, arys, _three)


def _all_of(tup, at_least):
    made = at_least(*tup)
    return made if isinstance(made, list) else [made]


def vstack(tup):
    """Arrays one below the other."""
    return concatenate(_all_of(tup, atleast_2d), 0)


def hstack(tup):
    """Arrays beside each other."""
    parts = _all_of(tup, atleast_1d)
    return concatenate(parts, 0 if rank_of(parts[0]) == 1 else 1)


def dstack(tup):
    """Arrays behind each other."""
    return concatenate(_all_of(tup, atleast_3d), 2)


def split(ary, indices_or_sections, axis=0):
    """Parts along an axis: so many alike, or cut at these places."""
    ary = asarray(ary)
    size = ary.shape[axis_of(axis, rank_of(ary))]
    if isinstance(indices_or_sections, numbers.Integral):
        if size is not None and size % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        return array_ops.split(ary, int(indices_or_sections), axis)
    places = [0, *map(int, indices_or_sections), size]
    before = (slice(None),) * axis_of(axis, rank_of(ary))
    return [ary[(*before, slice(*two))] for two in zip(places, places[1:])]


def vsplit(ary, indices_or_sections):
    """Parts along the first axis."""
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    """Parts along the second axis, of a vector along its only one."""
    return split(ary, indices_or_sections, 0 if rank_of(asarray(ary)) == 1 else 1)


def dsplit(ary, indices_or_sections):
    """Parts along the third axis."""
    return split(ary, indices_or_sections, 2)


def broadcast_to(array, shape):
    """An array repeated to a shape."""
    return array_ops.broadcast_to(asarray(array), np.atleast_1d(shape))


def broadcast_arrays(*args, **kwargs):
    """Arrays repeated to the shape that they have together."""
    if kwargs.pop("subok", False) or kwargs:
        raise ValueError("broadcast_arrays() takes only arrays")
    args = [asarray(one) for one in args]
    shape = array_ops.shape(args[0])
    for one in args[1:]:
        shape = rearrange_ops.broadcast_dynamic_shape(shape, array_ops.shape(one))
    return [array_ops.broadcast_to(one, shape) for one in args]


def tile(a, reps):
    """An array so many times along each axis."""
    a = asarray(a)
    reps = [int(one) for one in np.atleast_1d(reps)]
    rank = max(rank_of(a), len(reps))
    known = array_ops.concat([[1] * (rank - rank_of(a)), array_ops.shape(a)], 0)
    return array_ops.tile(array_ops.reshape(a, known), [1] * (rank - len(reps)) + reps)


def repeat(a, repeats, axis=None):
    """Each element so many times."""
    return rearrange_ops.repeat(asarray(a), repeats, axis)


def pad(array, pad_width, mode, **kwargs):
    """An array with more around it; mode: "constant", "reflect" or "symmetric"."""
    values = kwargs.pop("constant_values", 0)
    if mode not in ("constant", "reflect", "symmetric") or kwargs:
        raise ValueError(f"Unsupported padding mode: {mode}")
    array = asarray(array)
    width = np.broadcast_to(np.asarray(pad_width, np.int32), (rank_of(array), 2))
    return array_ops.pad(array, width, mode=mode.upper(), constant_values=values)


def flip(m, axis=None):
    """The order turned around, along all axes by default."""
    m = asarray(m)
    axes = list(range(rank_of(m))) if axis is None else [axis_of(axis, rank_of(m))]
    return array_ops.reverse(m, axes)


def flipud(m):
    """The order turned around along the first axis."""
    return flip(m, 0)


def fliplr(m):
    """The order turned around along the second axis."""
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """Turned by `k` quarters in the plane of two axes."""
    m = asarray(m)
    one, other = (axis_of(axis, rank_of(m)) for axis in axes)
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(flip(m, one), other)
    return flip(swapaxes(m, one, other), one) if k == 1 else swapaxes(flip(m, one), one, other)


def roll(a, shift, axis=None):
    """Moved along an axis, or as a vector; what leaves at one end comes in at the other."""
    a = asarray(a)
    if axis is not None:
        return rearrange_ops.roll(a, shift, axis)
    made = rearrange_ops.roll(array_ops.reshape(a, [-1]), shift, 0)
    return array_ops.reshape(made, array_ops.shape(a))


def _triangle(m, below, above):
    m = asarray(m)
    if rank_of(m) < 2:
        raise ValueError("Argument to tril/triu must have rank at least 2")
    rows, columns = array_ops.shape(m)[-2], array_ops.shape(m)[-1]
    gap = math_ops.range(columns)[None, :] - math_ops.range(rows)[:, None]
    inside = math_ops.logical_and(
        math_ops.less_equal(gap, above), math_ops.greater_equal(gap, below)
    )
    return rearrange_ops.where_v2(inside, m, array_ops.zeros_like(m))


def tril(m, k=0):
    """Zeros above diagonal `k`."""
    return _triangle(m, -(2**31), k)


def triu(m, k=0):
    """Zeros below diagonal `k`."""
    return _triangle(m, k, 2**31 - 1)


# ---- Places of elements


def sort(a, axis=-1, kind="quicksort", order=None):
    """Sorted along an axis; None: all elements."""
    _check_sort(kind, order)
    a = asarray(a)
    if axis is None:
        a, axis = array_ops.reshape(a, [-1]), 0
    return rearrange_ops.sort(a, axis)


def argsort(a, axis=-1, kind="quicksort", order=None):
    """The order that sorts along an axis; None: of all elements."""
    _check_sort(kind, order)
    a = asarray(a)
    if axis is None:
        a, axis = array_ops.reshape(a, [-1]), 0
    if a.shape.ndims == 0:
        return cast_ops.cast([0], dtypes.int64)
    return cast_ops.cast(rearrange_ops.argsort(a, axis, stable=kind == "stable"), dtypes.int64)


def _check_sort(kind, order):
    if kind not in ("quicksort", "stable"):
        raise ValueError(f"Only 'quicksort' and 'stable' arguments are supported. Got kind={kind}")
    if order is not None:
        raise ValueError("The 'order' argument is not supported.")


def nonzero(a):
    """The places of what is not zero, a vector for each axis."""
    a = asarray(a)
    places = rearrange_ops.where_v2(cast_ops.cast(a, dtypes.bool))
    return array_ops.unstack(places, num=rank_of(a), axis=1)


def where(condition, x=None, y=None):
    """Elements of `x` where a condition holds and else of `y`; alone: nonzero(condition)."""
    condition = cast_ops.cast(asarray(condition), dtypes.bool)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    return rearrange_ops.where_v2(condition, *promoted(x, y))


def take(a, indices, axis=None, out=None, mode="clip"):
    """Elements at places along an axis, or of all; mode: "clip" or "wrap" for others."""
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    a, indices = asarray(a), asarray(indices)
    if axis is None:
        a, axis = array_ops.reshape(a, [-1]), 0
    size = cast_ops.cast(array_ops.shape(a)[axis], indices.dtype)
    if mode == "wrap":
        indices = math_ops.floormod(indices, size)
    else:
        negative = math_ops.less(indices, 0)
        if mode == "raise":
            indices = rearrange_ops.where_v2(negative, indices + size, indices)
        else:
            low = cast_ops.cast(0, indices.dtype)
            indices = math_ops.minimum(math_ops.maximum(indices, low), size - 1)
    return array_ops.gather(a, indices, axis=axis)


def take_along_axis(arr, indices, axis):
    """At each place the element that `indices` says along an axis."""
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        return take_along_axis(array_ops.reshape(arr, [-1]), indices, 0)
    rank = rank_of(arr)
    axis = axis_of(axis, rank)
    size = cast_ops.cast(array_ops.shape(arr)[axis], indices.dtype)
    indices = rearrange_ops.where_v2(math_ops.less(indices, 0), indices + size, indices)
    arr, indices = swapaxes(arr, axis, rank - 1), swapaxes(indices, axis, rank - 1)
    batch = rearrange_ops.broadcast_dynamic_shape(
        array_ops.shape(arr)[:-1], array_ops.shape(indices)[:-1]
    )
    arr, indices = [
        array_ops.broadcast_to(one, array_ops.concat([batch, array_ops.shape(one)[-1:]], 0))
        for one in (arr, indices)
    ]
    return swapaxes(array_ops.gather(arr, indices, batch_dims=rank - 1), axis, rank - 1)


def compress(condition, a, axis=None):
    """The parts along an axis, or the elements, where a condition holds."""
    condition = cast_ops.cast(asarray(condition), dtypes.bool)
    a = asarray(a)
    if axis is None:
        a, axis = array_ops.reshape(a, [-1]), 0
    places = array_ops.reshape(rearrange_ops.where_v2(condition), [-1])
    return array_ops.gather(a, places, axis=axis)


# ---- Indexing as NumPy has it


def _is_advanced(one):
    if isinstance(one, (list, tuple, np.ndarray)):
        return True
    shape = getattr(one, "shape", None)
    dtype = getattr(one, "dtype", None)
    return shape is not None and (len(shape) > 0 or dtype in (dtypes.bool, np.bool_))


def getitem(plain, a, key):
    """`a[key]`, in which arrays and lists are places to take; plain: a[key] without these."""
    keys = key if isinstance(key, tuple) else (key,)
    if not any(_is_advanced(one) for one in keys):
        return plain(a, key)
    used = sum(1 for one in keys if one is not None and one is not Ellipsis)
    used += sum(
        rank_of(array(one)) - 1
        for one in keys
        if _is_advanced(one) and array(one).dtype.base_dtype == dtypes.bool
    )
    rest = (slice(None),) * (rank_of(a) - used)
    if not any(one is Ellipsis for one in keys):
        keys = (*keys, Ellipsis)
    at = [one is Ellipsis for one in keys].index(True)
    keys = (*keys[:at], *rest, *keys[at + 1 :])
    return _take_places(plain, a, keys)


def _take_places(plain, a, keys):
    """What arrays among the keys take, after slices, numbers and new axes are done."""
    places, simple, axis = [], [], 0
    for one in keys:
        if one is None:
            simple.append(None)
            axis += 1
        elif _is_advanced(one):
            one = array(one)
            if one.dtype.base_dtype == dtypes.bool:
                parts = nonzero(one)
            else:
                parts = [one]
            for part in parts:
                places.append((axis, part))
                simple.append(slice(None))
                axis += 1
        elif isinstance(one, slice):
            simple.append(one)
            axis += 1
        elif any(map(_is_advanced, keys)):
            places.append((axis, convert_to_tensor(one)))  # a number counts as an array
            simple.append(slice(None))
            axis += 1
    a = plain(a, tuple(simple))
    axes = [one for one, _ in places]
    parts = broadcast_arrays(*[cast_ops.cast(part, dtypes.int64) for _, part in places])
    first = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    others = [i for i in range(rank_of(a)) if i not in axes]
    a = array_ops.transpose(a, axes + others)
    sizes = array_ops.shape(a)
    rows = []
    for i, part in enumerate(parts):
        size = cast_ops.cast(sizes[i], dtypes.int64)
        rows.append(rearrange_ops.where_v2(math_ops.less(part, 0), part + size, part))
    made = array_ops.gather_nd(a, array_ops.stack(rows, -1))
    taken = rank_of(parts[0])
    order = list(range(taken, taken + first)) + list(range(taken))
    order += list(range(taken + first, rank_of(made)))
    return array_ops.transpose(made, order)
