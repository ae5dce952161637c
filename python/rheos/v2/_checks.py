"""Counts and strings in TensorFlow 2's form."""

from rheos.framework import dtypes
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops import ragged_string_ops, statistics_ops, string_ops
from rheos.v2._forms import form

length = form(string_ops.string_length, "input, unit='BYTE', name=None")
substr = form(string_ops.substr, "input, pos, len, unit='BYTE', name=None")
to_hash_bucket = form(string_ops.string_to_hash_bucket, "input, num_buckets, name=None")


def to_number(input, out_type=dtypes.float32, name=None):
    """The number that each string is the text of."""
    return string_ops.string_to_number(input, out_type, name)


def split(input, sep=None, maxsplit=-1, name=None):
    """The parts of each string between `sep`, as a RaggedTensor (of a scalar, as a vector)."""
    return ragged_string_ops.string_split_v2(input, sep, maxsplit, "RaggedTensor", name=name)


def bincount(
    arr,
    weights=None,
    minlength=None,
    maxlength=None,
    dtype=dtypes.int32,
    name=None,
    axis=None,
    binary_output=False,
):
    """How often each number is in `arr`, or the sum of its weights."""
    if axis is None and not binary_output and not isinstance(arr, SparseTensor):
        return statistics_ops.bincount(arr, weights, minlength, maxlength, dtype)
    return statistics_ops.count_each(
        arr, weights, axis, minlength, maxlength, binary_output, False, name, dtype
    )


def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None
):
    """How often label i (row) was predicted as j (column), or the sum of the weights."""
    return statistics_ops.confusion_matrix(
        labels, predictions, num_classes, dtype, name, weights
    )
