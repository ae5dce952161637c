"""How values are shared out to rows, apart from the values."""

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor


def _numbers(value, dtype, dtype_hint):
    return convert_to_tensor(value, dtype, dtype_hint=dtype_hint or dtypes.int64)


class RowPartition:
    """Which values are in which row; made by the from_... functions.

    The functions take what those of RaggedTensor take, without values.
    """

    def __init__(self, row_splits, internal=False, uniform_row_length=None):
        if not internal:
            raise ValueError("RowPartition constructor is private; use a factory method instead")
        self._row_splits = row_splits
        self._uniform_row_length = uniform_row_length

    @classmethod
    def _of(cls, make, count, *args, **kwargs):
        with name_scope(None, "RowPartition"):
            ragged = make(math_ops.range(count), *args, **kwargs)
            return cls(ragged.row_splits, internal=True)

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """Row i has the values from row_splits[i] to row_splits[i + 1]."""
        row_splits = _numbers(row_splits, dtype, dtype_hint)
        make = RaggedTensor.from_row_splits
        return cls._of(make, row_splits[-1], row_splits, validate=validate)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """Rows of the lengths given, one behind the other."""
        row_lengths = _numbers(row_lengths, dtype, dtype_hint)
        make, count = RaggedTensor.from_row_lengths, math_ops.reduce_sum(row_lengths)
        return cls._of(make, count, row_lengths, validate=validate)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """Rows that start at `row_starts`, the last one ending behind value `nvals`."""
        row_starts = _numbers(row_starts, dtype, dtype_hint)
        nvals = math_ops.cast(nvals, row_starts.dtype)
        return cls._of(RaggedTensor.from_row_starts, nvals, row_starts, validate=validate)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """Rows that end at `row_limits`."""
        row_limits = _numbers(row_limits, dtype, dtype_hint)
        count = array_ops.concat([[0 * array_ops.size(row_limits)], row_limits], 0)[-1]
        return cls._of(RaggedTensor.from_row_limits, count, row_limits, validate=validate)

    @classmethod
    def from_value_rowids(
        cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None
    ):
        """Value i is in row value_rowids[i]. nrows: with empty rows at the end."""
        value_rowids = _numbers(value_rowids, dtype, dtype_hint)
        count = array_ops.shape(value_rowids, out_type=value_rowids.dtype)[0]
        make = RaggedTensor.from_value_rowids
        return cls._of(make, count, value_rowids, nrows, validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None, dtype_hint=None
    ):
        """Rows of one length; nvals, nrows: how many values or rows there are."""
        length = _numbers(uniform_row_length, dtype, dtype_hint)
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        nvals = length * math_ops.cast(nrows, length.dtype) if nvals is None else nvals
        make = RaggedTensor.from_uniform_row_length
        made = cls._of(make, nvals, length, nrows, validate=validate)
        return cls(made._row_splits, internal=True, uniform_row_length=length)

    def uniform_row_length(self):
        """The length of all rows, where it was made for one; else None."""
        return self._uniform_row_length

    def is_uniform(self):
        """Whether all rows are known to have the same length."""
        return self._uniform_row_length is not None

    def _whole(self):
        return RaggedTensor.from_row_splits(
            math_ops.range(self._row_splits[-1]), self._row_splits, validate=False
        )

    @property
    def dtype(self):
        """The dtype of the numbers."""
        return self._row_splits.dtype

    @property
    def static_nrows(self):
        """How many rows there are, if that is known."""
        size = self._row_splits.shape.as_list()[0]
        return None if size is None else size - 1

    @property
    def static_nvals(self):
        """How many values there are, if that is known."""
        known = constant_value(self._row_splits)
        return None if known is None else int(known[-1])

    def row_splits(self):
        """Where rows start and end, one more than there are rows."""
        return self._row_splits

    def row_lengths(self):
        """How many values each row has."""
        return self._row_splits[1:] - self._row_splits[:-1]

    def row_starts(self):
        """Where each row starts."""
        return self._row_splits[:-1]

    def row_limits(self):
        """Where each row ends."""
        return self._row_splits[1:]

    def nrows(self):
        """How many rows there are."""
        return array_ops.shape(self._row_splits, out_type=self.dtype)[0] - 1

    def nvals(self):
        """How many values there are."""
        return self._row_splits[-1]

    def value_rowids(self):
        """The row of each value."""
        return self._whole().value_rowids()

    def offsets_in_rows(self):
        """The place of each value in its row."""
        rows = self.value_rowids()
        places = math_ops.range(self.nvals())
        return places - array_ops.gather(self.row_starts(), rows)

    def with_dtype(self, dtype):
        """The same with numbers of another dtype, int32 or int64."""
        length = self._uniform_row_length
        if length is not None:
            length = math_ops.cast(length, dtype)
        splits = math_ops.cast(self._row_splits, dtype)
        return RowPartition(splits, internal=True, uniform_row_length=length)

    def __repr__(self):
        if not self._row_splits._is_eager:
            return "tf.RowPartition(...)"
        if self._uniform_row_length is not None:
            length = int(self._uniform_row_length)
            return f"tf.RowPartition(nrows={int(self.nrows())}, uniform_row_length={length})"
        return f"tf.RowPartition(row_splits={self._row_splits.numpy()})"
