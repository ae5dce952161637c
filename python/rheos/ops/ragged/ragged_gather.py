"""tf.gather with ragged tensors, along any axis and in the rows of a batch.

All goes back to gathering rows: along a deeper axis the indices are the same for each row, and
those of a batch count from the starts of its rows.
"""

from rheos.framework import dtypes
from rheos.framework.graph import control_dependencies, name_scope
from rheos.ops.array import array_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    _axis_of,
    _nrows,
    convert_to_tensor_or_ragged_tensor,
    gather,
    is_ragged,
)


def gather_along(params, indices, axis=None, batch_dims=0, name=None):
    """The slices of `params` at `indices` along an axis; either may be ragged.

    axis: by default batch_dims, at least that. batch_dims: how many first dimensions the two share.
    ValueError for numbers that do not fit the ranks.
    """
    with name_scope(name, "RaggedGather", []):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        batch_dims = batch_dims or 0
        if batch_dims and batch_dims != indices.shape.ndims:
            batch_dims = _axis_of(batch_dims, indices.shape.ndims)
        rank = params.shape.ndims
        if rank is not None and batch_dims >= rank:
            raise ValueError("batch_dims must be less than params.shape.rank")
        axis = _axis_of(batch_dims if axis is None else axis, rank)
        if axis < batch_dims:
            raise ValueError("axis must be greater than or equal to batch_dims")
        return _gathered(params, indices, axis, batch_dims)


def _gathered(params, indices, axis, batch_dims):
    if not is_ragged(params) and not is_ragged(indices):
        return array_ops.gather(params, indices, axis=axis, batch_dims=batch_dims)
    if axis == 0:
        return gather(params, indices)
    if batch_dims == 0:
        return _in_batch(params, _for_each_row(params, indices), axis)
    if batch_dims == 1:
        return _in_batch(params, indices, axis)
    params, indices = _with_rows(params, indices), _with_rows(indices, params)
    same = check_ops.assert_equal(
        params.row_splits, math_ops.cast(indices.row_splits, params.row_splits.dtype),
        message="gather: params and indices have other rows in their batches",
    )  # fmt: skip
    with control_dependencies([same]):
        splits = array_ops.identity(params.row_splits)
    found = _gathered(params.values, indices.values, axis - 1, batch_dims - 1)
    return RaggedTensor(found, splits, internal=True)


def _with_rows(value, other):
    """A dense value as a ragged one, whose splits are of the dtype of the other's."""
    if is_ragged(value):
        return value
    dtype = other.row_splits.dtype if is_ragged(other) else dtypes.int64
    return RaggedTensor.from_tensor(value, ragged_rank=1, row_splits_dtype=dtype)


def _for_each_row(params, indices):
    """The indices once for each row of `params`, (rows, ...)."""
    count = array_ops.reshape(_nrows(params, dtypes.int64), [1])
    if not is_ragged(indices):
        once = array_ops.expand_dims(indices, 0)
        return array_ops.gather(once, array_ops.zeros(count, dtypes.int64))
    ends = array_ops.stack([array_ops.zeros_like(indices.nrows()), indices.nrows()])
    once = RaggedTensor(indices, ends, internal=True)
    return gather(once, array_ops.zeros(count, dtypes.int64))


def _in_batch(params, indices, axis):
    """Row i of `params` at row i of `indices`, along an axis >= 1."""
    if not is_ragged(params) and not is_ragged(indices):
        return array_ops.gather(params, indices, axis=axis, batch_dims=1)
    params = _with_rows(params, indices)
    if axis > 1:
        deeper = gather(indices, params.value_rowids())
        return params.with_values(_in_batch(params.values, deeper, axis - 1))
    return _in_rows(params.values, indices, params.row_starts(), params.row_lengths())


def _in_rows(values, indices, starts, lengths):
    """The values at indices, those of row i from starts[i] on."""
    if is_ragged(indices):
        rows = indices.value_rowids()
        of_rows = [array_ops.gather(one, rows) for one in (starts, lengths)]
        return indices.with_values(_in_rows(values, indices.values, *of_rows))
    places = math_ops.cast(indices, starts.dtype)
    wide = array_ops.concat(
        [array_ops.shape(starts), array_ops.ones([array_ops.rank(places) - 1], dtypes.int32)], 0
    )
    starts, lengths = array_ops.reshape(starts, wide), array_ops.reshape(lengths, wide)
    inside = check_ops.assert_equal(
        math_ops.logical_and(places >= 0, places < lengths),
        array_ops.ones_like(places, dtype=dtypes.bool),
        message="gather: an index is not in its row",
    )
    with control_dependencies([inside]):
        return gather(values, places + starts)
