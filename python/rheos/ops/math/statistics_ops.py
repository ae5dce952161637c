"""Counting: histograms, and how predictions fall on labels."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_list
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import array_ops, segment_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import check_ops, clip_ops, math_ops


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each number is in `arr`, or the sum of its weights.

    arr: int32, not negative. weights: of the same shape. Returns a vector as long as the largest
    number plus 1, at least `minlength`, at most `maxlength`: larger numbers are left out.
    """
    with name_scope(None, "bincount"):
        arr = convert_to_tensor(arr, name="arr", dtype=dtypes.int32)
        has_some = math_ops.reduce_prod(array_ops.shape(arr)) > 0
        size = math_ops.cast(has_some, dtypes.int32) * (math_ops.reduce_max(arr) + 1)
        if minlength is not None:
            minlength = convert_to_tensor(minlength, name="minlength", dtype=dtypes.int32)
            size = math_ops.maximum(minlength, size)
        if maxlength is not None:
            maxlength = convert_to_tensor(maxlength, name="maxlength", dtype=dtypes.int32)
            size = math_ops.minimum(maxlength, size)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            return segment_ops.unsorted_segment_sum(weights, arr, size)
        return op1("Bincount", None, arr, size, constant([], dtype))


def _long_splits(values):
    return math_ops.cast(values.row_splits, dtypes.int64)


def _counted(values, weights, size, binary):
    """The op that counts what is in dense, sparse or ragged values below `size`."""
    if isinstance(values, SparseTensor):
        return op1(
            "SparseBincount", None, values.indices, values.values, values.dense_shape, size,
            weights, binary_output=binary,
        )  # fmt: skip
    if isinstance(values, RaggedBase):
        return op1(
            "RaggedBincount", None, _long_splits(values), values.values, size, weights,
            binary_output=binary,
        )  # fmt: skip
    return op1("DenseBincount", None, values, size, weights, binary_output=binary)


def _numbers_of(values):
    return values.values if isinstance(values, (SparseTensor, RaggedBase)) else values


def _size_for(values, minlength, maxlength):
    """One more than the largest number, within limits; 0 where there are none."""
    flat = array_ops.reshape(_numbers_of(values), [-1])
    has_some = math_ops.cast(array_ops.size(flat) > 0, flat.dtype)
    size = has_some * (math_ops.reduce_max(flat) + 1)
    if minlength is not None:
        size = math_ops.maximum(math_ops.cast(minlength, flat.dtype), size)
    if maxlength is not None:
        size = math_ops.minimum(math_ops.cast(maxlength, flat.dtype), size)
    return size


def _counted_sparse(values, weights, minlength, maxlength, binary_output):
    """What there is of each number, as a sparse tensor."""
    if isinstance(values, SparseTensor):
        op = "SparseCountSparseOutput"
        inputs = [values.indices, values.values, values.dense_shape]
    elif isinstance(values, RaggedBase):
        op, inputs = "RaggedCountSparseOutput", [_long_splits(values), values.values]
    else:
        op, inputs = "DenseCountSparseOutput", [values]
    return SparseTensor(
        *op_list(
            op,
            None,
            *inputs,
            weights,
            minlength=-1 if minlength is None else minlength,
            maxlength=-1 if maxlength is None else maxlength,
            binary_output=binary_output,
        )
    )


def count_each(
    values,
    weights=None,
    axis=0,
    minlength=None,
    maxlength=None,
    binary_output=False,
    is_sparse=False,
    name=None,
    dtype=dtypes.int32,
):
    """How often each number is in `values`, or the sum of its weights.

    values: integers, dense, sparse or ragged. axis: 0 or None for all together, -1 for each row.
    binary_output: 1 where there are any. is_sparse: the result has only what is there.
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported")
    with name_scope(name, "bincount"):
        if not isinstance(values, (SparseTensor, RaggedBase)):
            values = convert_to_tensor(values, name="values")
        if not _numbers_of(values).dtype.is_integer:
            values = math_ops.cast(values, dtypes.int32)
        if binary_output and weights is not None:
            raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive.")
        if weights is None:
            weights = constant([], _numbers_of(values).dtype if is_sparse else dtype)
        else:
            weights = convert_to_tensor(_numbers_of(weights), name="weights")
        if axis != -1:
            values = array_ops.reshape(_numbers_of(values), [-1])
            weights = array_ops.reshape(weights, [-1])
        if is_sparse:
            return _counted_sparse(values, weights, minlength, maxlength, binary_output)
        size = _size_for(values, minlength, maxlength)
        return _counted(values, weights, size, binary_output)


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """For each value the number of its bin; what lies outside counts to the first or last.

    value_range: [low, high] of the dtype of the values. Returns the shape of the values.
    """
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = array_ops.shape(values)
        values = array_ops.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        wide = math_ops.cast(nbins, values.dtype)
        scaled = math_ops.truediv(
            values - value_range[0],
            value_range[1] - value_range[0],
            name="scaled_values",
        )
        indices = math_ops.floor(wide * scaled, name="indices")

        indices = math_ops.cast(clip_ops.clip_by_value(indices, 0, wide - 1), dtypes.int32)
        return array_ops.reshape(indices, shape)


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The number of values in each of `nbins` equal bins of value_range = [low, high].

    What lies outside counts to the first or last bin. Returns (nbins,) of `dtype`.
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as name:
        return op1("HistogramFixedWidth", name, values, value_range, nbins, dtype=dtype)


def without_last(x, difference, wanted):
    """x, without its last dimension if `difference` is `wanted`; an error if that is not 1."""
    return control_flow_ops.cond(
        math_ops.equal(wanted, difference), lambda: array_ops.squeeze(x, [-1]), lambda: x
    )


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """(labels, predictions), a last dimension of 1 taken off the one that has one too many."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = convert_to_tensor(predictions)
        labels = convert_to_tensor(labels)
        p, n = predictions.shape, labels.shape
        if p.ndims is not None and n.ndims is not None:
            difference = p.ndims - n.ndims - expected_rank_diff
            if difference == 1:
                predictions = array_ops.squeeze(predictions, [-1])
            elif difference == -1:
                labels = array_ops.squeeze(labels, [-1])
            return labels, predictions
        difference = array_ops.rank(predictions) - array_ops.rank(labels)
        if p.ndims is None or p[-1:].is_compatible_with([1]):
            predictions = without_last(predictions, difference, expected_rank_diff + 1)
        if n.ndims is None or n[-1:].is_compatible_with([1]):
            labels = without_last(labels, difference, expected_rank_diff - 1)
        return labels, predictions


def confusion_matrix(
    labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None
):
    """How often label i (row) was predicted as j (column), or the sum of the weights.

    labels, predictions: (n,), not negative. num_classes: the largest class plus 1 by default.
    Returns (num_classes, num_classes). InvalidArgumentError when it runs and a class is out of
    range.
    """
    with name_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"),
            convert_to_tensor(predictions, name="predictions"),
        )
        predictions = math_ops.cast(predictions, dtypes.int64)
        labels = math_ops.cast(labels, dtypes.int64)
        labels = _checked(
            labels,
            check_ops.assert_non_negative(labels, message="`labels` contains negative values"),
        )
        predictions = _checked(
            predictions,
            check_ops.assert_non_negative(
                predictions, message="`predictions` contains negative values"
            ),
        )
        if num_classes is None:
            num_classes = (
                math_ops.maximum(math_ops.reduce_max(predictions), math_ops.reduce_max(labels)) + 1
            )
        else:
            limit = math_ops.cast(num_classes, dtypes.int64)
            labels = _checked(
                labels, check_ops.assert_less(labels, limit, message="`labels` out of bound")
            )
            predictions = _checked(
                predictions,
                check_ops.assert_less(predictions, limit, message="`predictions` out of bound"),
            )
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = math_ops.cast(weights, dtype)
        shape = array_ops.stack([num_classes, num_classes])
        indices = array_ops.stack([labels, predictions], axis=1)
        values = array_ops.ones_like(predictions, dtype) if weights is None else weights
        wide_shape = math_ops.cast(shape, dtypes.int64)
        zero = array_ops.zeros(math_ops.cast(shape, dtypes.int32), dtype)
        return op1("SparseTensorDenseAdd", None, indices, values, wide_shape, zero)


def _checked(tensor, assertion):
    return control_flow_ops.with_dependencies([assertion], tensor)
