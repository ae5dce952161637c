"""Counts and strings in TensorFlow 2's form."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import cast_ops
from rheos.ops.io import string_ops
from rheos.ops.math import check_ops, statistics_ops
from rheos.ops.ragged import ragged_string_ops
from rheos.v2._forms import form

_MORE = "message=None, summarize=None, name=None"
assert_equal = form(check_ops.assert_equal, f"x, y, {_MORE}")
assert_none_equal = form(check_ops.assert_none_equal, f"x, y, {_MORE}")
assert_greater = form(check_ops.assert_greater, f"x, y, {_MORE}")
assert_greater_equal = form(check_ops.assert_greater_equal, f"x, y, {_MORE}")
assert_less = form(check_ops.assert_less, f"x, y, {_MORE}")
assert_less_equal = form(check_ops.assert_less_equal, f"x, y, {_MORE}")
assert_near = form(check_ops.assert_near, f"x, y, rtol=None, atol=None, {_MORE}")
assert_negative = form(check_ops.assert_negative, f"x, {_MORE}")
assert_positive = form(check_ops.assert_positive, f"x, {_MORE}")
assert_non_negative = form(check_ops.assert_non_negative, f"x, {_MORE}")
assert_non_positive = form(check_ops.assert_non_positive, f"x, {_MORE}")
assert_rank = form(check_ops.assert_rank, "x, rank, message=None, name=None")
assert_rank_at_least = form(check_ops.assert_rank_at_least, "x, rank, message=None, name=None")
assert_rank_in = form(check_ops.assert_rank_in, "x, ranks, message=None, name=None")
assert_scalar = form(check_ops.assert_scalar, "tensor, message=None, name=None")
assert_all_finite = form(check_ops.assert_all_finite, "x, message, name=None")
reduce_join = form(
    string_ops.reduce_join, "inputs, axis=None, keepdims=False, separator='', name=None"
)
length = form(string_ops.string_length, "input, unit='BYTE', name=None")
substr = form(string_ops.substr, "input, pos, len, unit='BYTE', name=None")
to_hash_bucket = form(string_ops.string_to_hash_bucket, "input, num_buckets, name=None")


def to_number(input, out_type=dtypes.float32, name=None):
    """The number that each string is the text of.

    >>> print(tf.strings.to_number(["1.5", "2"]).numpy())
    [1.5 2. ]
    """
    return string_ops.string_to_number(input, out_type, name)


def split(input, sep=None, maxsplit=-1, name=None):
    """The parts of each string between `sep`, as a RaggedTensor (of a scalar, as a vector).

    >>> print(tf.strings.split(["one two", "three"]).to_list())
    [[b'one', b'two'], [b'three']]
    """
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
    """How often each number is in `arr`, or the sum of its weights.

    >>> print(tf.math.bincount([1, 1, 3]).numpy())
    [0 2 0 1]
    """
    is_composite = isinstance(arr, (SparseTensor, RaggedBase))
    if axis is None and not binary_output and not is_composite:
        arr = cast_ops.cast(convert_to_tensor(arr), dtypes.int32)
        return statistics_ops.bincount(arr, weights, minlength, maxlength, dtype)
    return statistics_ops.count_each(
        arr, weights, axis, minlength, maxlength, binary_output, False, name, dtype
    )


def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None
):
    """How often label i (row) was predicted as j (column), or the sum of the weights.

    >>> print(tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy())
    [[1 0]
     [1 1]]
    """
    return statistics_ops.confusion_matrix(labels, predictions, num_classes, dtype, name, weights)
