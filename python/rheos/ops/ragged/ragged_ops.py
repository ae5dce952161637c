"""Functions of ragged tensors."""

import builtins

import numpy as np

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value as constant_value_of
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.op_call import op_list
from rheos.framework.operation import Tensor
from rheos.framework.ragged import RaggedBase, handles
from rheos.ops.array import array_ops, segment_ops
from rheos.ops.array.array_ops import placeholder as _placeholder
from rheos.ops.array.constant_op import constant as _constant
from rheos.ops.math import check_ops, math_ops
from rheos.ops.ragged.ragged_gather import gather_along
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    RaggedTensorValue,
    _axis_of,
    _splits_of_lengths,
    convert_to_tensor_or_ragged_tensor,
    gather,
    is_ragged,
)

# ---- Made of lists


def _is_row(value):
    return isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim > 0


def _depths(value):
    """How deep the scalars lie, None if there are none, and how deep the lists go."""
    if not _is_row(value):
        return 0, 0
    inner = [_depths(row) for row in value]
    scalars = {scalar for scalar, _ in inner if scalar is not None}
    if len(scalars) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return scalars.pop() + 1 if scalars else None, max((depth for _, depth in inner), default=0) + 1


def _inner_shape(rows, ragged_rank):
    """The shape of the values in `ragged_rank` levels of lists, by the first one there is."""
    for _ in builtins.range(ragged_rank):
        rows = [value for row in rows for value in row]
    shape = []
    while rows and _is_row(rows[0]):
        shape.append(len(rows[0]))
        if any(not _is_row(row) or len(row) != shape[-1] for row in rows):
            raise ValueError("inner values have inconsistent shape")
        rows = [value for row in rows for value in row]
    if any(_is_row(row) for row in rows):
        raise ValueError("inner values have inconsistent shape")
    return tuple(shape)


def _ragged_rank(pylist, depths, ragged_rank, inner_shape):
    """How many dimensions of a list are ragged; ValueError for what does not fit."""
    scalar_depth, max_depth = depths
    if scalar_depth is not None and max_depth > scalar_depth:
        raise ValueError(
            f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting"
        )
    if inner_shape is not None:
        inner_shape = tuple(inner_shape)
        depth = max_depth if scalar_depth is None else scalar_depth
        given = 1 + len(inner_shape) + ragged_rank if ragged_rank is not None else None
        if scalar_depth is not None and given not in (None, scalar_depth):
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with "
                f"ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner_shape)}"
            )
        # The inner shape of a tensor without ragged dimensions is all of its shape.
        return max(0, depth - 1 - len(inner_shape)) if ragged_rank is None else ragged_rank
    if ragged_rank is None:
        return max(0, max_depth - 1)
    if ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    if scalar_depth is not None and ragged_rank >= scalar_depth:
        raise ValueError(
            f"Invalid pylist={pylist}: pylist has scalar values depth {scalar_depth}, but "
            f"ragged_rank={ragged_rank} requires scalar value depth greater than {ragged_rank}"
        )
    return ragged_rank


def _parts(pylist, ragged_rank, inner_shape):
    """The values in a list, their shape, and the row splits of each ragged dimension."""
    depths = _depths(pylist)
    ragged_rank = _ragged_rank(pylist, depths, ragged_rank, inner_shape)
    if ragged_rank == 0:
        shape = (len(pylist), *_inner_shape(pylist, 0)) if inner_shape is None else inner_shape
        return pylist, depths[0] is None, tuple(shape), []
    if inner_shape is None:
        inner_shape = _inner_shape(pylist, ragged_rank)
    rows, splits = list(pylist), []
    for _ in builtins.range(ragged_rank):
        ends = np.cumsum([0] + [len(row) for row in rows])
        splits.append(ends)
        rows = [value for row in rows for value in row]
    return rows, not rows, (len(rows), *inner_shape), splits


def _check_scalar(value, ragged_rank, inner_shape):
    if ragged_rank:
        raise ValueError(f"Invalid pylist={value!r}: incompatible with ragged_rank={ragged_rank}")
    if inner_shape:
        raise ValueError(
            f"Invalid pylist={value!r}: incompatible with dim(inner_shape)={len(inner_shape)}"
        )


def _splits_dtype(dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"row_splits_dtype must be int32 or int64, got {dtype.name}")
    return dtype


def _check_size(rows, shape, is_ragged):
    """Raises where the values are not as many as a tensor of the shape has; none is filled up."""
    found = np.shape(rows)
    if np.prod(found) == np.prod(shape):
        return
    if not is_ragged:
        raise TypeError(f"Expected Tensor's shape: {shape}, got {found}.")
    if not get_default_graph()._is_eager:  # else what makes the constant says so
        raise ValueError(
            f"Argument must be a dense tensor: {rows} - got shape {list(found)}, but "
            f"wanted {list(shape)}."
        )


def constant(
    pylist,
    dtype=None,
    ragged_rank=None,
    inner_shape=None,
    name=None,
    row_splits_dtype=dtypes.int64,
):
    """A RaggedTensor of nested lists; a Tensor if there is no ragged dimension.

    ragged_rank: how many dimensions are ragged; all but the innermost if neither it nor
    inner_shape, the shape of each value, is given. ValueError for lists that do not fit.

    >>> tf.ragged.constant([[1, 2], [], [3]]).row_lengths().numpy().tolist()
    [2, 0, 1]
    """
    with name_scope(name, "RaggedConstant"):
        if not _is_row(pylist):
            _check_scalar(pylist, ragged_rank, inner_shape)
            return _constant(pylist, dtype)
        rows, empty, shape, splits = _parts(pylist, ragged_rank, inner_shape)
        splits_dtype = _splits_dtype(row_splits_dtype)
        if empty and dtype is None:
            dtype = dtypes.float32
        _check_size(rows, shape, bool(splits))
        result = _constant([] if empty else rows, dtype, shape=shape, name="values")
        for ends in reversed(splits):
            ends = _constant(ends, splits_dtype)
            result = RaggedTensor(result, ends, internal=True)
        return result


def constant_value(
    pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"
):
    """A RaggedTensorValue of nested lists; an array if there is no ragged dimension."""
    if dtype is not None and isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype
    if not _is_row(pylist):
        _check_scalar(pylist, ragged_rank, inner_shape)
        return np.array(pylist, dtype=dtype)
    rows, empty, shape, splits = _parts(pylist, ragged_rank, inner_shape)
    result = np.reshape(np.array([] if empty else rows, dtype=dtype), shape)
    for ends in reversed(splits):
        result = RaggedTensorValue(
            result, ends.astype(_splits_dtype(row_splits_dtype).as_numpy_dtype)
        )
    return result


def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A RaggedTensor to be fed: ragged_rank dimensions of rows, around values of value_shape."""
    if ragged_rank == 0:
        return _placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        shape = None if value_shape is None else [None, *list(value_shape)]
        result = _placeholder(dtype, shape, "flat_values")
        for i in reversed(builtins.range(ragged_rank)):
            splits = _placeholder(dtypes.int64, [None], f"row_splits_{i}")
            result = RaggedTensor(result, splits, internal=True)
        return result


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):
    """Rows that count from `starts` by `deltas` to before `limits`; from 0 if one number is given.

    starts, limits, deltas: scalars, or vectors of one length.
    """
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as name:
        given = [v for v in (starts, limits, deltas) if isinstance(v, Tensor)]
        hint = given[0].dtype if given and dtype is None else None
        starts, limits, deltas = (
            convert_to_tensor(v, dtype=dtype, dtype_hint=hint, name=n)
            for v, n in ((starts, "starts"), (limits, "limits"), (deltas, "deltas"))
        )
        if dtype is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]
            widest = max((t.dtype for t in (starts, limits, deltas)), key=order.index)
            starts, limits, deltas = (math_ops.cast(t, widest) for t in (starts, limits, deltas))
        splits, values = op_list(
            "RaggedRange", name, starts, limits, deltas, Tsplits=_splits_dtype(row_splits_dtype)
        )
        return RaggedTensor(values, splits, internal=True)


# ---- Value by value


def _flat(value, found):
    """The argument with flat values for ragged tensors, which are noted."""
    if isinstance(value, RaggedBase):
        found.append(value)
        return value.flat_values
    if isinstance(value, (list, tuple)) and any(isinstance(v, RaggedBase) for v in value):
        return type(value)(_flat(v, found) for v in value)
    return value


def _same_rows(found):
    """Checks for the step that all have the rows of the first."""
    checks = []
    for other in found[1:]:
        if other.ragged_rank != found[0].ragged_rank:
            raise ValueError("Inputs must have identical ragged splits")
        for a, b in zip(found[0].nested_row_splits, other.nested_row_splits):
            if a is b:
                continue
            if a.dtype != b.dtype:
                raise ValueError("Input RaggedTensors have mismatched row_splits dtypes")
            checks.append(
                check_ops.assert_equal(a, b, message="Inputs must have identical ragged splits")
            )
    return [check for check in checks if check is not None]


def map_flat_values(op, *args, **kwargs):
    """op of the flat values of ragged arguments, in the rows of these, which must be the same."""
    found = []
    args = [_flat(a, found) for a in args]
    kwargs = {k: _flat(v, found) for k, v in kwargs.items()}
    if not found:
        return op(*args, **kwargs)
    with control_dependencies(_same_rows(found)):
        return found[0].with_flat_values(op(*args, **kwargs))


@handles
def elementwise(function, *args, **kwargs):
    """The function value by value."""
    args = [_tensor(a) for a in args]
    return map_flat_values(function, *args, **{k: _tensor(v) for k, v in kwargs.items()})


def _tensor(value):
    """The argument, with tensors for the values of ragged tensors."""
    if isinstance(value, RaggedTensorValue):
        return convert_to_tensor_or_ragged_tensor(value)
    if isinstance(value, (list, tuple)) and any(is_ragged(v) for v in value):
        return [_tensor(v) for v in value]
    return value


# ---- Rows picked and put together


@handles
def gather_of(function, params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """tf.gather of ragged tensors."""
    return gather_along(params, indices, axis, batch_dims, name)


def _all_ragged(values, ragged_rank):
    """Dense tensors among `values` as ragged ones."""
    values = [convert_to_tensor_or_ragged_tensor(v) for v in values]
    most = max([ragged_rank] + [v.ragged_rank for v in values if isinstance(v, RaggedTensor)])
    return [
        v if isinstance(v, RaggedTensor) and v.ragged_rank == most else _deepened(v, most)
        for v in values
    ]


def _deepened(value, ragged_rank):
    if not isinstance(value, RaggedTensor):
        return RaggedTensor.from_tensor(value, ragged_rank=ragged_rank)
    return value.with_values(_deepened(value.values, ragged_rank - 1))


def _concat_rows(values):
    if not isinstance(values[0], RaggedTensor):
        return array_ops.concat(values, 0)
    parts = [values[0].row_splits]
    for value in values[1:]:
        parts.append(value.row_splits[1:] + parts[-1][-1])
    return RaggedTensor(
        _concat_rows([v.values for v in values]), array_ops.concat(parts, 0), internal=True
    )


def _concat(values, axis):
    if axis == 0:
        return _concat_rows(values)
    if not isinstance(values[0], RaggedTensor):
        return array_ops.concat(values, axis)
    if axis > 1:
        checks = [check_ops.assert_equal(values[0].row_splits, v.row_splits) for v in values[1:]]
        with control_dependencies([c for c in checks if c is not None]):
            return values[0].with_values(_concat([v.values for v in values], axis - 1))
    checks = [
        check_ops.assert_equal(
            values[0].nrows(), v.nrows(), message="Input tensors have incompatible shapes."
        )
        for v in values[1:]
    ]
    with control_dependencies([c for c in checks if c is not None]):
        together = _concat_rows(values)
    rows = values[0].nrows()
    count = _constant(len(values), rows.dtype)
    order = array_ops.transpose(
        array_ops.reshape(math_ops.range(rows * count), array_ops.stack([count, rows]))
    )
    mixed = gather(together, array_ops.reshape(order, [-1]))
    splits = mixed.row_splits[:: len(values)]
    for value in values:
        splits.set_shape(value.row_splits.shape)
    return RaggedTensor(mixed.values, splits, internal=True)


@handles
def concat_of(function, values, axis, name="concat"):
    """tf.concat of ragged tensors, and dense ones among them."""
    with name_scope(name, "RaggedConcat", []):
        if not isinstance(values, (list, tuple)):
            values = [values]
        values = [convert_to_tensor_or_ragged_tensor(v) for v in values]
        known = [v.shape.ndims for v in values if v.shape.ndims is not None]
        axis = _axis_of(axis, known[0] if known else None)
        if len(values) == 1:
            return values[0]
        return _concat(_all_ragged(values, max(1, axis)), axis)


def stack(values, axis=0, name=None):
    """Ragged or dense tensors joined along a new dimension at `axis`: a RaggedTensor."""
    with name_scope(name, "RaggedStack", []):
        if not isinstance(values, (list, tuple)):
            values = [values]
        if not values:
            raise ValueError("rt_inputs may not be empty.")
        values = [convert_to_tensor_or_ragged_tensor(v) for v in values]
        ndims = values[0].shape.ndims
        axis = _axis_of(axis, None if ndims is None else ndims + 1)
        if ndims == 0:
            return array_ops.stack(values, axis)
        if axis == 0:
            if len(values) == 1 and not isinstance(values[0], RaggedTensor) and ndims == 1:
                return array_ops.stack(values)
            dtype = dtypes.int64
            for value in values:
                if isinstance(value, RaggedTensor):
                    dtype = value.row_splits.dtype
            counts = [_rows(v, dtype) for v in values]
            if ndims is not None and ndims > 1 or any(isinstance(v, RaggedTensor) for v in values):
                values = _all_ragged(values, 1)
            return RaggedTensor(
                _concat_rows(values), _splits_of_lengths(array_ops.stack(counts)), internal=True
            )
        ragged_rank = axis if ndims is None else max(1, min(axis, ndims - 1))
        return _concat([_expanded(v, axis) for v in _all_ragged(values, ragged_rank)], axis)


def _rows(value, dtype):
    if isinstance(value, RaggedTensor):
        return value.nrows(dtype)
    return array_ops.shape(value, out_type=dtype)[0]


def _expanded(value, axis):
    """A new dimension of one at `axis`, from 1 on."""
    if axis == 1:
        return RaggedTensor(
            value, math_ops.range(_rows(value, value.row_splits.dtype) + 1), internal=True
        )
    return value.with_values(
        _expanded(value.values, axis - 1)
        if isinstance(value.values, RaggedTensor)
        else array_ops.expand_dims(value.values, axis - 1)
    )


@handles
def stack_of(function, values, axis=0, name="stack"):
    """tf.stack of ragged tensors."""
    return stack(values, axis, name)


def boolean_mask(data, mask, name=None):
    """The values where `mask` holds, in the rows that they are in.

    data, mask: ragged or dense. mask: bool, of a rank that is known; its rows are those of data.
    """
    with name_scope(name, "RaggedMask", []):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool, name="mask")
        ndims = mask.shape.ndims
        if ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if ndims == 1:
            if not isinstance(data, RaggedTensor):
                return array_ops.boolean_mask(data, mask)
            return gather(data, array_ops.reshape(array_ops.where(mask), [-1]))
        if not isinstance(mask, RaggedTensor):
            dtype = data.row_splits.dtype if isinstance(data, RaggedTensor) else dtypes.int64
            mask = RaggedTensor.from_tensor(mask, ragged_rank=ndims - 1, row_splits_dtype=dtype)
        if not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(
                data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype
            )
        checks = [check_ops.assert_equal(data.row_splits, mask.row_splits)]
        with control_dependencies([c for c in checks if c is not None]):
            inner = boolean_mask(data.values, mask.values)
        if mask.values.shape.ndims != 1:
            return data.with_values(inner)
        counts = segment_ops.unsorted_segment_sum(
            math_ops.cast(mask.flat_values, data.row_splits.dtype),
            mask.value_rowids(),
            mask.nrows(),
        )
        return RaggedTensor(inner, _splits_of_lengths(counts), internal=True)


@handles
def boolean_mask_of(function, tensor, mask, name="boolean_mask", axis=None):
    """tf.boolean_mask of ragged tensors."""
    if axis:
        raise ValueError("a ragged tensor is masked from its rows on: axis has to be 0")
    return boolean_mask(tensor, mask, name)


# ---- Sums and the like


@handles
def variance_of(function, input_tensor, axis=None, keepdims=False, name=None):
    """The mean of the squares less the square of the mean, as TensorFlow has it of ragged ones."""
    squares = math_ops.reduce_mean(math_ops.square(input_tensor), axis=axis, keepdims=keepdims)
    mean = math_ops.reduce_mean(input_tensor, axis=axis, keepdims=keepdims)
    return math_ops.maximum(squares - math_ops.square(mean), 0)


@handles
def deviation_of(function, input_tensor, axis=None, keepdims=False, name=None):
    """The root of the variance."""
    return math_ops.sqrt(variance_of(None, input_tensor, axis, keepdims))


def _segment_logsumexp(values, segments, count):
    """The logarithm of the sum of the exponentials of each segment."""
    largest = segment_ops.unsorted_segment_max(values, segments, count)
    largest = array_ops.stop_gradient(
        array_ops.where(math_ops.is_finite(largest), largest, array_ops.zeros_like(largest))
    )
    parts = math_ops.exp(values - array_ops.gather(largest, segments))
    return math_ops.log(segment_ops.unsorted_segment_sum(parts, segments, count)) + largest


_SEGMENTS = {
    "reduce_logsumexp": _segment_logsumexp,
    "reduce_sum": segment_ops.unsorted_segment_sum,
    "reduce_prod": segment_ops.unsorted_segment_prod,
    "reduce_max": segment_ops.unsorted_segment_max,
    "reduce_min": segment_ops.unsorted_segment_min,
}


@handles
def reduce(
    function,
    input_tensor,
    axis=None,
    keepdims=None,
    name=None,
    reduction_indices=None,
    keep_dims=None,
):
    """A reduction of a RaggedTensor; ragged while the rows further inside are."""
    keepdims = keepdims or keep_dims
    axis = reduction_indices if axis is None else axis
    input_tensor = convert_to_tensor_or_ragged_tensor(input_tensor)
    with name_scope(name, "RaggedReduce", []):
        if axis is None and keepdims:
            found = reduce(function, input_tensor)
            return array_ops.reshape(found, [1] * input_tensor.shape.ndims)
        if isinstance(axis, Tensor):
            known = constant_value_of(axis)
            if known is None:
                raise ValueError("axis must be known at graph construction time.")
            axis = known
        if axis is None and function.__name__ == "reduce_mean":
            flat = input_tensor.flat_values  # the mean of integers is no integer
            count = math_ops.reduce_sum(array_ops.ones_like(flat))
            return math_ops.divide(math_ops.reduce_sum(flat), count)
        if axis is None:
            return function(input_tensor.flat_values)
        axes = np.reshape(np.asarray(axis), [-1]).tolist()
        axes = sorted({_axis_of(a, input_tensor.shape.ndims) for a in axes}, reverse=True)
        if function.__name__ == "reduce_mean":
            ones = array_ops.ones_like(input_tensor)
            count = _reduced(math_ops.reduce_sum, ones, axes, keepdims)
            total = _reduced(math_ops.reduce_sum, input_tensor, axes, keepdims)
            return math_ops.divide(total, count)
        if function.__name__ in ("reduce_all", "reduce_any"):
            kind = math_ops.reduce_min if function.__name__ == "reduce_all" else math_ops.reduce_max
            number = math_ops.cast(input_tensor, dtypes.int32)
            # Of no values the results are the ends of int32.
            return math_ops.greater(_reduced(kind, number, axes, keepdims), 0)
        return _reduced(function, input_tensor, axes, keepdims)


def _reduced(function, value, axes, keepdims):
    for axis in axes:  # innermost first, so that the others keep their numbers
        if isinstance(value, RaggedTensor):
            value = _reduce_one(function, value, axis)
        else:
            value = function(value, axis)
        if keepdims:
            value = array_ops.expand_dims(value, axis)
    return value


def _reduce_one(function, value, axis):
    if axis > 1:
        inner = value.values
        if isinstance(inner, RaggedTensor):
            return value.with_values(_reduce_one(function, inner, axis - 1))
        return value.with_values(function(inner, axis - 1))
    rows = value.value_rowids()
    if axis == 1:
        return reduced_segments(function.__name__, value.values, rows, value.nrows())
    columns = math_ops.range(_rows(value.values, rows.dtype))
    columns -= array_ops.gather(value.row_starts(), rows)
    return reduced_segments(function.__name__, value.values, columns, value.bounding_shape(axis=1))


def reduced_segments(kind, values, segments, count):
    """The reduction of the values of each segment; of ragged rows, column by column.

    kind: a name in _SEGMENTS, or a function of values, segments and their number.
    """
    if not isinstance(values, RaggedTensor):
        return (kind if callable(kind) else _SEGMENTS[kind])(values, segments, count)
    widths = segment_ops.unsorted_segment_max(values.row_lengths(), segments, count)
    splits = _splits_of_lengths(math_ops.maximum(widths, 0))  # segments without rows
    rows = values.value_rowids()
    places = math_ops.range(_rows(values.values, rows.dtype))
    places -= array_ops.gather(values.row_starts(), rows)
    places += array_ops.gather(splits, array_ops.gather(segments, rows))
    return RaggedTensor(
        reduced_segments(kind, values.values, places, splits[-1]), splits, internal=True
    )


@handles
def segments_of(function, data, segment_ids, num_segments, name=None):
    """tf.math.unsorted_segment_... of ragged tensors: rows, or single values, by their segment."""
    with name_scope(name, "RaggedSegment", []):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        segment_ids = convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids")
        if isinstance(segment_ids, RaggedTensor):
            if not isinstance(data, RaggedTensor):
                raise ValueError(
                    "segment_ids.shape must be a prefix of data.shape, but "
                    "segment_ids is ragged and data is not."
                )
            same = check_ops.assert_equal(
                segment_ids.row_splits,
                data.row_splits,
                message="segment_ids.shape must be a prefix of data.shape",
            )
            with control_dependencies([same] if same is not None else []):
                return segments_of(function, data.values, segment_ids.values, num_segments)
        if not isinstance(data, RaggedTensor):
            return function(data, segment_ids, num_segments)
        segment_ids = math_ops.cast(segment_ids, data.row_splits.dtype)
        num_segments = math_ops.cast(num_segments, data.row_splits.dtype)
        kind = function.__name__
        if kind in ("unsorted_segment_mean", "unsorted_segment_sqrt_n"):
            total = segments_of(segment_ops.unsorted_segment_sum, data, segment_ids, num_segments)
            count = segments_of(
                segment_ops.unsorted_segment_sum,
                array_ops.ones_like(data),
                segment_ids,
                num_segments,
            )
            if kind == "unsorted_segment_sqrt_n":
                count = math_ops.sqrt(
                    math_ops.cast(count, dtypes.float64 if data.dtype.is_integer else data.dtype)
                )
                total = math_ops.cast(total, count.dtype)
            return math_ops.truediv(total, count)
        return reduced_segments(
            kind.replace("unsorted_segment", "reduce"), data, segment_ids, num_segments
        )


@handles
def size_of(function, input, name=None, out_type=dtypes.int32):
    """tf.size of a ragged tensor: how many values it has."""
    input = convert_to_tensor_or_ragged_tensor(input)
    return function(input.flat_values, name=name, out_type=out_type)


@handles
def rank_of(function, input, name=None):
    """tf.rank of a ragged tensor."""
    input = convert_to_tensor_or_ragged_tensor(input)
    with name_scope(name, "RaggedRank", []):
        return function(input.flat_values) + input.ragged_rank
