"""Reductions of rows that belong together.

`segment_*` take `segment_ids` in ascending order, one for each row of `data`; `unsorted_segment_*`
take them in any order and any shape that is the start of the shape of `data`, leave out rows
whose id is negative, and are told how many segments there are.
"""

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops


def segment_sum(data, segment_ids, name=None):
    """The sum of the rows of each segment.

    data: (n, ...), numbers. segment_ids: (n,), int32 or int64, ascending from 0. Returns
    (last id + 1, ...); 0 for an id that has no rows. InvalidArgumentError if the ids descend.

    >>> print(tf.math.segment_sum([1, 2, 3, 4], [0, 0, 1, 2]).numpy())
    [3 3 4]
    """
    return op1("SegmentSum", name, data, segment_ids)


def segment_mean(data, segment_ids, name=None):
    """The mean of the rows of each segment; shapes and errors as for segment_sum."""
    return op1("SegmentMean", name, data, segment_ids)


def segment_prod(data, segment_ids, name=None):
    """The product of the rows of each segment, 1 for an id that has none; see segment_sum."""
    return op1("SegmentProd", name, data, segment_ids)


def segment_max(data, segment_ids, name=None):
    """The maximum of the rows of each segment; shapes and errors as for segment_sum."""
    return op1("SegmentMax", name, data, segment_ids)


def segment_min(data, segment_ids, name=None):
    """The minimum of the rows of each segment; shapes and errors as for segment_sum."""
    return op1("SegmentMin", name, data, segment_ids)


@ragged_too("segments_of")
def unsorted_segment_sum(data, segment_ids, num_segments, name=None):
    """Sums of the slices of `data` that have the same number in `segment_ids`.

    segment_ids: int32 or int64, of a shape that is the start of the shape of `data`. Returns
    (num_segments, ...), 0 for an id that is not there. InvalidArgumentError if an id is not below
    `num_segments`; negative ones are left out.

    >>> print(tf.math.unsorted_segment_sum([1, 2, 3], [2, 0, 2], num_segments=3).numpy())
    [2 0 4]
    """
    return op1("UnsortedSegmentSum", name, data, segment_ids, num_segments)


@ragged_too("segments_of")
def unsorted_segment_prod(data, segment_ids, num_segments, name=None):
    """Products of the slices that have the same id, 1 for none; see unsorted_segment_sum."""
    return op1("UnsortedSegmentProd", name, data, segment_ids, num_segments)


@ragged_too("segments_of")
def unsorted_segment_max(data, segment_ids, num_segments, name=None):
    """Maxima of the slices that have the same id, the lowest number for none.

    Shapes and errors are those of unsorted_segment_sum.
    """
    return op1("UnsortedSegmentMax", name, data, segment_ids, num_segments)


@ragged_too("segments_of")
def unsorted_segment_min(data, segment_ids, num_segments, name=None):
    """Minima of the slices that have the same id, the highest number for none.

    Shapes and errors are those of unsorted_segment_sum.
    """
    return op1("UnsortedSegmentMin", name, data, segment_ids, num_segments)


def _counts(data, segment_ids, num_segments):
    """How many slices each segment has, at least 1, shaped to divide the sums."""
    ones = array_ops.ones(array_ops.shape(segment_ids), dtype=data.dtype)
    found = unsorted_segment_sum(ones, segment_ids, num_segments)
    rest = data.shape.ndims, segment_ids.shape.ndims
    if None in rest:
        count = array_ops.rank(data) - array_ops.rank(segment_ids)
        inner = array_ops.fill([count], 1)
        shape = array_ops.concat([array_ops.shape(found), inner], axis=0)
    else:
        shape = [num_segments] + [1] * (rest[0] - rest[1])
    return math_ops.maximum(array_ops.reshape(found, shape), 1)


@ragged_too("segments_of")
def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """Means of the slices that have the same id, 0 for none; see unsorted_segment_sum."""
    with name_scope(name, "UnsortedSegmentMean"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


@ragged_too("segments_of")
def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """Sums of the slices that have the same id over the square root of how many there are.

    Shapes and errors are those of unsorted_segment_sum.
    """
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data = convert_to_tensor(data)
        segment_ids = convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / math_ops.sqrt(counts)


def _sparse(op_type, data, indices, segment_ids, name, num_segments):
    if num_segments is not None:
        return op1(f"{op_type}WithNumSegments", name, data, indices, segment_ids, num_segments)
    return op1(op_type, name, data, indices, segment_ids)


def sparse_segment_sum(data, indices, segment_ids, name=None, num_segments=None):
    """The sum of the rows `data[indices]` of each segment.

    data: (n, ...). indices, segment_ids: (m,), the ids ascending. Returns (last id + 1, ...), or
    (num_segments, ...). InvalidArgumentError if an index is out of range or ids descend.
    """
    return _sparse("SparseSegmentSum", data, indices, segment_ids, name, num_segments)


def sparse_segment_mean(data, indices, segment_ids, name=None, num_segments=None):
    """The mean of the rows `data[indices]` of each segment; see sparse_segment_sum."""
    return _sparse("SparseSegmentMean", data, indices, segment_ids, name, num_segments)


def sparse_segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None):
    """The sum of the rows `data[indices]` of each segment over the square root of their number.

    Shapes and errors are those of sparse_segment_sum.
    """
    return _sparse("SparseSegmentSqrtN", data, indices, segment_ids, name, num_segments)
