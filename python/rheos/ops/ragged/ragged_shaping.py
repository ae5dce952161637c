"""What functions that move, pick and repeat elements do with ragged tensors."""

import builtins

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.operation import Tensor
from rheos.framework.ragged import handles
from rheos.ops.array import array_ops, segment_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn.nn_ops import top_k
from rheos.ops.ragged.ragged_broadcast import _converted, in_same_rows
from rheos.ops.ragged.ragged_ops import _concat, map_flat_values
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    _axis_of,
    _index_tensor,
    _nrows,
    _of_ranges,
    _repeat,
    _splits_of_lengths,
    convert_to_tensor_or_ragged_tensor,
    gather,
    is_ragged,
)


def _checked(tensor, check):
    """The tensor, behind a check for the step."""
    if check is None:
        return tensor
    with control_dependencies([check]):
        return array_ops.identity(tensor)


# ---- Dimensions of one


@handles
def expand_dims_of(function, input, axis=None, name=None, dim=None):
    """tf.expand_dims of a ragged tensor."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    with name_scope(name, "RaggedExpandDims", []):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        ndims = input.shape.ndims
        return _expanded(input, _axis_of(axis, None if ndims is None else ndims + 1))


def _expanded(value, axis):
    if not is_ragged(value):
        return array_ops.expand_dims(value, axis)
    if axis > 1:
        return value.with_values(_expanded(value.values, axis - 1))
    dtype = value.row_splits.dtype
    count = value.nrows()
    splits = (
        array_ops.stack([array_ops.zeros([], dtype), count])
        if axis == 0
        else (math_ops.range(count + 1))
    )
    return RaggedTensor(value, splits, internal=True)


@handles
def squeeze_of(function, input, axis=None, name=None, squeeze_dims=None):
    """tf.squeeze of a ragged tensor; which dimensions has to be said."""
    axis = squeeze_dims if axis is None else axis
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    with name_scope(name, "RaggedSqueeze", []):
        input = convert_to_tensor_or_ragged_tensor(input)
        axes = [axis] if isinstance(axis, int) else list(axis)
        axes = sorted({_axis_of(a, input.shape.ndims) for a in axes}, reverse=True)
        for one in axes:  # innermost first, so that the others keep their numbers
            input = _squeezed(input, one)
        return input


def _squeezed(value, axis):
    if not is_ragged(value):
        return array_ops.squeeze(value, [axis])
    if axis > 1:
        return value.with_values(_squeezed(value.values, axis - 1))
    lengths = value.nrows() if axis == 0 else value.row_lengths()
    known = constant_value(lengths)
    if known is not None and (known != 1).any():
        raise ValueError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {known}")
    check = check_ops.assert_equal(
        lengths,
        array_ops.ones_like(lengths),
        message=f"Can not squeeze dimension {axis}: it is not 1",
    )
    values = value.values
    if is_ragged(values):
        return RaggedTensor(values.values, _checked(values.row_splits, check), internal=True)
    return _checked(values, check)


# ---- Repeating


@handles
def tile_of(function, input, multiples, name=None):
    """tf.tile of a ragged tensor."""
    with name_scope(name, "RaggedTile", []):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        multiples = _index_tensor(multiples, "multiples", input.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        if input.shape.ndims is not None:
            multiples.shape.assert_is_compatible_with([input.shape.ndims])
        known = constant_value(multiples)
        known = [None] * (input.ragged_rank + 1) if known is None else known.tolist()
        return _repeated_rows(_tiled(input, multiples, known), multiples[0], known[0])


def _tiled(value, multiples, known):
    """All dimensions but the first repeated; known: the numbers in `multiples`, or None."""
    if not is_ragged(value):
        ones = array_ops.ones([1], multiples.dtype)
        return array_ops.tile(value, array_ops.concat([ones, multiples[1:]], 0))
    inner = _tiled(value.values, multiples[1:], known[1:])
    times = multiples[1]
    if known[1] == 1:
        return value.with_values(inner)
    rows = _repeat(math_ops.range(value.nrows()), times)
    pieces = _of_ranges(inner, gather(value.row_starts(), rows), gather(value.row_limits(), rows))
    return RaggedTensor(pieces.values, value.row_splits * times, internal=True)


def _repeated_rows(value, times, count):
    result = gather(
        value, array_ops.tile(math_ops.range(value.nrows()), array_ops.reshape(times, [1]))
    )
    known = value.shape.as_list()[0] if value.shape.ndims is not None else None
    if known is not None and count is not None:
        result.row_splits.set_shape([known * count + 1])
    return result


@handles
def reverse_of(function, tensor, axis, name=None):
    """tf.reverse of a ragged tensor."""
    ndims = tensor.shape.ndims
    axes = [int(one) + ndims if int(one) < 0 else int(one) for one in axis]
    if any(not 0 <= one < ndims for one in axes):
        raise ValueError(f"axis {list(axis)} is not within the {ndims} dimensions")
    deepest = max(axes, default=0)
    keys = [slice(None, None, -1 if one in axes else None) for one in range(deepest + 1)]
    return tensor[tuple(keys)]


@handles
def split_of(function, value, num_or_size_splits, axis=0, num=None, name=None):
    """tf.split of the rows of a ragged tensor, or of the values inside of them."""
    axis = _axis_of(axis, value.shape.ndims)
    if axis > value.ragged_rank:
        parts = function(value.flat_values, num_or_size_splits, axis - value.ragged_rank, num)
        return [value.with_flat_values(part) for part in parts]
    if axis != 0:
        raise ValueError("a ragged tensor is split between its rows: axis has to be 0")
    sizes = constant_value(convert_to_tensor(num_or_size_splits))
    if sizes is None:
        raise ValueError("the sizes of the parts of a ragged tensor have to be known")
    rows = value.shape.as_list()[0]
    if sizes.ndim == 0:
        if rows is not None and rows % int(sizes):
            raise ValueError(f"{rows} rows cannot be split into {int(sizes)} equal parts")
        count = _nrows(value, value.row_splits.dtype) if rows is None else rows
        ends = [count * i // int(sizes) for i in range(int(sizes) + 1)]
    else:
        if rows is not None and sizes.sum() != rows:
            raise ValueError(f"parts of {sizes.tolist()} rows are not the {rows} rows there are")
        ends = [0, *(int(end) for end in sizes.cumsum())]
    return [value[start:end] for start, end in zip(ends, ends[1:])]


@handles
def cumsum_of(function, x, axis=0, exclusive=False, reverse=False, name=None):
    """tf.cumsum of the rows of a ragged tensor."""
    ndims = x.shape.ndims
    axis = axis + ndims if axis < 0 else axis
    if axis > x.ragged_rank:
        within = axis - x.ragged_rank
        return map_flat_values(lambda flat: function(flat, within, exclusive, reverse), x)
    dense = function(x.to_tensor(), axis, exclusive, reverse)
    result = RaggedTensor.from_tensor(dense, lengths=x.nested_row_lengths())
    return x.with_flat_values(result.flat_values)


@handles
def softmax_of(function, logits, axis=None, name=None, dim=None):
    """tf.nn.softmax, or its logarithm, of rows."""
    ndims = logits.shape.ndims
    axis = -1 if axis is None and dim is None else dim if axis is None else axis
    axis = axis + ndims if axis < 0 else axis
    if axis > logits.ragged_rank:
        return map_flat_values(lambda flat: function(flat, axis - logits.ragged_rank), logits)
    shifted = logits - math_ops.reduce_max(logits, axis=axis, keepdims=True)
    exponentials = math_ops.exp(shifted)
    total = math_ops.reduce_sum(exponentials, axis=axis, keepdims=True)
    if function.__name__ == "log_softmax":
        return shifted - math_ops.log(total)
    return exponentials / total


# ---- Choosing


@handles
def where_of(function, condition, x=None, y=None, name=None):
    """tf.where with ragged tensors: value by value, or row by row for a vector of conditions."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere", []):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            return _coordinates(condition)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        kinds = [is_ragged(value) for value in (condition, x, y)]
        if all(kinds):
            return map_flat_values(array_ops.where, condition, x, y)
        if kinds[0]:
            raise ValueError("Input shapes do not match.")
        condition.shape.assert_has_rank(1)
        both = _concat([x, y], 0)
        rows = math_ops.range(_nrows(both, dtypes.int64))
        count = _nrows(x, dtypes.int64)
        return gather(both, array_ops.where(condition, rows[:count], rows[count:]))


@handles
def broadcast_where_of(function, condition, x=None, y=None, name=None):
    """tf.where in TensorFlow 2's form: the condition, x and y broadcast."""
    if x is None and y is None:
        return where_of(function, condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere", []):
        condition = convert_to_tensor_or_ragged_tensor(condition, dtypes.bool, name="condition")
        x, y = _converted(x, y)
        rows, flat = in_same_rows([condition, x, y])
        return rows.with_flat_values(function(*flat))


def _coordinates(condition):
    """The coordinates of what is true, int64 (n, rank)."""
    splits = condition.nested_row_splits if is_ragged(condition) else ()
    flat = condition.flat_values if splits else condition
    found = array_ops.where(flat)
    for ends in reversed(splits):
        ends = math_ops.cast(ends, dtypes.int64)
        places = found[:, 0]
        rows = RaggedTensor.from_row_splits(
            math_ops.range(ends[-1]), ends, validate=False
        ).value_rowids()
        rows = array_ops.gather(rows, places)
        columns = places - array_ops.gather(ends, rows)
        found = array_ops.concat([array_ops.stack([rows, columns], axis=1), found[:, 1:]], 1)
    return found


@handles
def one_hot_of(
    function, indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None
):
    """tf.one_hot of ragged indices; the new dimension lies inside the ragged ones."""
    with name_scope(name, "RaggedOneHot", []):
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if axis is not None:
            # As TensorFlow counts it: a dimension of the flat values.
            axis = _axis_of(axis, indices.shape.ndims)
            if axis < indices.ragged_rank:
                raise ValueError("axis may not be less than indices.ragged_rank.")
        return indices.with_flat_values(
            function(indices.flat_values, depth, on_value, off_value, axis, dtype)
        )


# ---- Picking


def _gathered(params, indices, unknown):
    """Both as tensors, and the rank of indices; `unknown` is what to say if that is not known."""
    params = convert_to_tensor_or_ragged_tensor(params, name="params")
    indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    ndims = indices.shape.ndims
    if ndims is None:
        raise ValueError(unknown)
    if ndims == 0:
        raise ValueError("indices.rank must be at least 1.")
    return params, indices, ndims


@handles
def gather_nd_of(function, params, indices, name=None, batch_dims=0):
    """tf.gather_nd with ragged tensors."""
    if batch_dims not in (0, None):
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGatherNd", []):
        params, indices, ndims = _gathered(params, indices, "indices.rank be statically known.")
        if is_ragged(indices):
            if indices.ragged_rank == ndims - 1:
                raise ValueError("The innermost dimension of indices may not be ragged")
            return indices.with_values(gather_nd_of(function, params, indices.values))
        width = indices.shape.as_list()[-1]
        if width is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if not is_ragged(params):
            return function(params, indices)
        if width == 0:
            shape = array_ops.shape(indices)
            rows = math_ops.reduce_prod(shape[:-1])
            wide = _expanded(params, 0)
            picked = gather(wide, array_ops.zeros(array_ops.reshape(rows, [1]), dtypes.int64))
            return picked if ndims == 2 else picked[0] if ndims == 1 else _in_rows(picked, indices)
        if width == 1:
            return gather(params, array_ops.squeeze(indices, [-1]))
        dtype = params.row_splits.dtype
        indices = math_ops.cast(indices, dtype)
        rows, columns = indices[..., 0], indices[..., 1]
        starts = array_ops.gather(params.row_starts(), rows)
        lengths = array_ops.gather(params.row_lengths(), rows)
        columns = _checked(
            columns,
            check_ops.assert_equal(
                math_ops.logical_and(columns >= 0, columns < lengths),
                array_ops.ones_like(columns, dtype=dtypes.bool),
                message="gather_nd: an index is not in its row",
            ),
        )
        inside = array_ops.concat(
            [array_ops.expand_dims(starts + columns, -1), indices[..., 2:]], -1
        )
        if is_ragged(params.values):
            return gather_nd_of(function, params.values, inside)
        return function(params.values, inside)


def _in_rows(picked, indices):
    """The rows of `picked` in the dimensions of `indices` without its last one."""
    shape = array_ops.shape(indices, out_type=dtypes.int64)[:-1]
    count = math_ops.reduce_prod(shape)
    return gather(picked, array_ops.reshape(math_ops.range(count), shape))


@handles
def batch_gather_of(function, params, indices, name=None):
    """tf.batch_gather with ragged tensors."""
    with name_scope(name, "RaggedBatchGather", []):
        params, indices, ndims = _gathered(
            params, indices, "batch_gather does not allow indices with unknown shape."
        )
        if ndims == 1:
            return gather(params, indices)
        if not is_ragged(indices):
            if not is_ragged(params):
                return function(params, indices)
            if ndims == 2:
                return _gathered_in_rows(
                    params,
                    indices,
                    array_ops.expand_dims(params.row_starts(), 1),
                    array_ops.expand_dims(params.row_lengths(), 1),
                )
            indices = RaggedTensor.from_tensor(
                indices, ragged_rank=ndims - 2, row_splits_dtype=params.row_splits.dtype
            )
        if not is_ragged(params):
            params = RaggedTensor.from_tensor(
                params, ragged_rank=1, row_splits_dtype=indices.row_splits.dtype
            )
        if ndims == 2:
            same = check_ops.assert_equal(
                params.nrows(),
                _nrows(indices, params.row_splits.dtype),
                message="Dimensions of params and indices do not match: their numbers of rows",
            )
            rows = _checked(indices.value_rowids(), same)
            found = _gathered_in_rows(
                params,
                indices.values,
                array_ops.gather(params.row_starts(), rows),
                array_ops.gather(params.row_lengths(), rows),
            )
            return indices.with_values(found)
        same = check_ops.assert_equal(
            params.row_splits,
            indices.row_splits,
            message="Dimensions of params and indices do not match: their rows",
        )
        rows = _checked(indices.row_splits, same)
        return RaggedTensor(
            batch_gather_of(function, params.values, indices.values), rows, internal=True
        )


def _gathered_in_rows(params, indices, starts, lengths):
    """params.values at `indices`, each counted from the start of its row."""
    indices = math_ops.cast(indices, starts.dtype)
    indices = _checked(
        indices,
        check_ops.assert_equal(
            math_ops.logical_and(indices >= 0, indices < lengths),
            array_ops.ones_like(indices, dtype=dtypes.bool),
            message="batch_gather: an index is not in its row",
        ),
    )
    return gather(params.values, indices + starts)


@handles
def dynamic_partition_of(function, data, partitions, num_partitions, name=None):
    """tf.dynamic_partition with ragged tensors."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    parts = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [parts[i] for i in builtins.range(num_partitions)]


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """The values of each partition as a row, in their order.

    data: (...), with the shape of `partitions` in front. partitions: int32, from 0 to below
    num_partitions.
    """
    with name_scope(name, "SegmentStack", [num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        partitions = convert_to_tensor_or_ragged_tensor(partitions, name="partitions")
        if isinstance(partitions, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                data = RaggedTensor.from_tensor(
                    data,
                    ragged_rank=partitions.ragged_rank,
                    row_splits_dtype=partitions.row_splits.dtype,
                )
            same = check_ops.assert_equal(
                math_ops.cast(data.row_splits, dtypes.int64),
                math_ops.cast(partitions.row_splits, dtypes.int64),
                message="data and partitions have incompatible ragged shapes",
            )
            with control_dependencies([] if same is None else [same]):
                partitions = (
                    array_ops.identity(partitions.values)
                    if isinstance(partitions.values, Tensor)
                    else partitions.values
                )
            return stack_dynamic_partitions(data.values, partitions, num_partitions)
        ndims = partitions.shape.ndims
        if ndims is None:
            raise ValueError("partitions must have known rank.")
        if ndims == 0:
            if isinstance(data, RaggedTensor):
                data = expand_dims_of(None, data, 0)
            else:
                data = array_ops.expand_dims(data, 0)
            partitions = array_ops.expand_dims(partitions, 0)
        if isinstance(data, Tensor):
            data.shape[: max(ndims, 1)].assert_is_compatible_with(partitions.shape)
        if ndims > 1:
            if isinstance(data, RaggedTensor):
                return stack_dynamic_partitions(
                    data.values, array_ops.reshape(partitions, [-1]), num_partitions
                )
            inner = array_ops.shape(data)[ndims:]
            data = array_ops.reshape(data, array_ops.concat([[-1], inner], 0))
            partitions = array_ops.reshape(partitions, [-1])
        num_partitions = math_ops.cast(num_partitions, partitions.dtype)
        checks = [
            check_ops.assert_less(
                partitions, num_partitions, message="partitions must be less than num_partitions"
            ),
            check_ops.assert_non_negative(partitions),
        ]
        with control_dependencies([c for c in checks if c is not None]):
            partitions = array_ops.identity(partitions)
        order = _stable_order(partitions)
        counts = segment_ops.unsorted_segment_sum(
            array_ops.ones_like(partitions, dtype=dtypes.int64), partitions, num_partitions
        )
        splits = _splits_of_lengths(counts)
        values = gather(data, order)
        if isinstance(values, RaggedTensor):
            splits = math_ops.cast(splits, values.row_splits.dtype)
        return RaggedTensor(values, splits, internal=True)


def _stable_order(keys):
    """The places of `keys`, a vector, in rising order, equal ones as they come."""
    count = array_ops.shape(keys, out_type=dtypes.int64)[0]
    ranks = math_ops.cast(keys, dtypes.int64) * count + math_ops.range(count)
    _, places = top_k(-ranks, math_ops.cast(count, dtypes.int32))
    return places
