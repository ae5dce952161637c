"""Features of examples that become ragged tensors, and how their values are shared out to rows."""

import collections

from rheos.framework import dtypes
from rheos.ops.array import array_ops, segment_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor


class RaggedFeature(
    collections.namedtuple(
        "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]
    )
):
    """Any number of values in each example: a RaggedTensor (batch, None).

    value_key: the feature with the values, by default that of its own key. partitions: how each
    example's values are shared out to rows, outermost first: RaggedFeature.RowSplits(key),
    RowLengths, RowStarts, RowLimits, ValueRowIds, whose numbers are a feature of the example, or
    UniformRowLength(length). validate: whether the numbers are checked.
    """

    __slots__ = ()

    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])

    def __new__(
        cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False
    ):
        kinds = (
            cls.RowSplits, cls.RowLengths, cls.RowStarts, cls.RowLimits, cls.ValueRowIds,
            cls.UniformRowLength,
        )  # fmt: skip
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"value_key must be a string; got {value_key!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("partitions must be a list or tuple")
        for partition in partitions:
            if not isinstance(partition, kinds):
                raise TypeError(f"partitions must be a list of partition objects; got {partition}")
        if not isinstance(validate, bool):
            raise TypeError(f"validate must be a bool; got {validate}")
        row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if row_splits_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"row_splits_dtype must be int32 or int64; got {row_splits_dtype}")
        dtype = dtypes.as_dtype(dtype)
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)


def keys_of(key, feature):
    """(key, dtype of values, dtype of splits) of each feature of an example that is needed."""
    splits = feature.row_splits_dtype
    yield key if feature.value_key is None else feature.value_key, feature.dtype, splits
    for partition in feature.partitions:
        if not isinstance(partition, RaggedFeature.UniformRowLength):
            yield partition.key, dtypes.int64, splits


class _Numbers:
    """The numbers that say how each example's values are shared out: (batch, None)."""

    def __init__(self, ragged):
        self.ragged, self.flat = ragged, ragged.values
        self.dtype = ragged.row_splits.dtype
        self.rows = ragged.value_rowids()
        self.places = math_ops.range(ragged.row_splits[-1])

    def of_row(self, each):
        """What belongs to the row of each number."""
        return array_ops.gather(each, self.rows)

    def is_first(self):
        return math_ops.equal(self.places, self.of_row(self.ragged.row_starts()))

    def is_last(self):
        return math_ops.equal(self.places + 1, self.of_row(self.ragged.row_limits()))

    def before(self):
        """The number before each, of its row or another; 0 for the first."""
        zero = constant([0], self.flat.dtype)
        return array_ops.concat([zero, self.flat], 0)[:-1]

    def behind(self):
        """The number behind each, likewise."""
        zero = constant([0], self.flat.dtype)
        return array_ops.concat([self.flat, zero], 0)[1:]


def _lengths_of_splits(rows, numbers):
    kept = array_ops.where(math_ops.logical_not(numbers.is_first()))[:, 0]
    lengths = array_ops.gather(numbers.flat - numbers.before(), kept)
    counts = math_ops.maximum(numbers.ragged.row_lengths() - 1, 0)
    return RaggedTensor.from_row_lengths(lengths, counts, validate=False)


def _lengths_of_starts(rows, numbers):
    whole = math_ops.cast(rows.row_lengths(), numbers.flat.dtype)
    ends = array_ops.where(numbers.is_last(), numbers.of_row(whole), numbers.behind())
    return numbers.ragged.with_values(ends - numbers.flat)


def _lengths_of_limits(rows, numbers):
    before = numbers.before()
    starts = array_ops.where(numbers.is_first(), array_ops.zeros_like(before), before)
    return numbers.ragged.with_values(numbers.flat - starts)


def _lengths_of_rowids(rows, numbers):
    padded = array_ops.concat([constant([-1], numbers.flat.dtype), numbers.flat], 0)
    limits = numbers.ragged.row_limits()
    is_some = math_ops.greater(numbers.ragged.row_lengths(), 0)
    last = array_ops.gather(padded, array_ops.where(is_some, limits, array_ops.zeros_like(limits)))
    counts = math_ops.cast(last + 1, numbers.dtype)
    first = math_ops.cumsum(counts, exclusive=True)
    ids = math_ops.cast(numbers.flat, numbers.dtype) + numbers.of_row(first)
    ones = array_ops.ones_like(ids)
    lengths = segment_ops.unsorted_segment_sum(ones, ids, math_ops.reduce_sum(counts))
    return RaggedTensor.from_row_lengths(lengths, counts, validate=False)


_LENGTHS = {
    RaggedFeature.RowSplits: _lengths_of_splits,
    RaggedFeature.RowStarts: _lengths_of_starts,
    RaggedFeature.RowLimits: _lengths_of_limits,
    RaggedFeature.ValueRowIds: _lengths_of_rowids,
}


def _in_rows_of_length(rows, length):
    """(batch, None, ...) as (batch, None, length, ...)."""
    if isinstance(rows.values, RaggedTensor):
        count = math_ops.floordiv(rows.row_splits[-1], length)
        starts = math_ops.range(count + 1) * length
        inner = RaggedTensor.from_row_splits(rows.values, starts, validate=False)
    else:
        shape = array_ops.shape(rows.values)
        inner = array_ops.reshape(rows.values, array_ops.concat([[-1, length], shape[1:]], 0))
    splits = math_ops.floordiv(rows.row_splits, length)
    return RaggedTensor.from_row_splits(inner, splits, validate=False)


def _shared_out(rows, partition, found, validate):
    """(batch, None, ...) with the values of each row shared out to rows of their own."""
    if isinstance(partition, RaggedFeature.UniformRowLength):
        return _in_rows_of_length(rows, partition.length)
    numbers = found[partition.key]
    make = _LENGTHS.get(type(partition))
    lengths = numbers if make is None else make(rows, _Numbers(numbers))
    flat = math_ops.cast(lengths.values, rows.row_splits.dtype)
    inner = RaggedTensor.from_row_lengths(rows.values, flat, validate=validate)
    splits = math_ops.cast(lengths.row_splits, rows.row_splits.dtype)
    return RaggedTensor.from_row_splits(inner, splits, validate=False)


def shared_out(key, feature, found):
    """The ragged tensor of a feature. found: by key, ragged tensors (batch, None), or those of
    the steps of sequences, (batch, steps, None)."""
    rows = found[key if feature.value_key is None else feature.value_key]
    is_in_steps = rows.ragged_rank == 2
    steps = rows
    if is_in_steps and feature.partitions:
        rows = steps.values
        found = {k: v.values for k, v in found.items()}
    for partition in reversed(feature.partitions):
        rows = _shared_out(rows, partition, found, feature.validate)
    return steps.with_values(rows) if is_in_steps and feature.partitions else rows
