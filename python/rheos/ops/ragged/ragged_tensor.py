"""Ragged tensors: rows of unlike lengths.

All rows lie one behind the other in `values`; row i goes from row_splits[i] to row_splits[i + 1].
The values may be ragged themselves, which gives another dimension of unlike lengths.
"""

import builtins

import numpy as np

from rheos.framework import dtypes, errors, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_session, is_eager_on
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.marks import CompositeTensor
from rheos.framework.op_call import op1, op_list
from rheos.framework.operation import Tensor
from rheos.framework.ragged import RaggedBase, RaggedValueBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import array_ops, rearrange_ops, segment_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import check_ops, math_ops


class _Rows:
    """What a RaggedTensor and its value have alike."""

    def __init__(self, values, row_splits):
        self._values, self._row_splits = values, row_splits

    @property
    def values(self):
        """The values of all rows, one row behind the other, which may be ragged themselves."""
        return self._values

    @property
    def row_splits(self):
        """Where each row starts, and at last where the last one ends."""
        return self._row_splits

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def flat_values(self):
        """The values of the innermost ragged dimension, dense."""
        values = self._values
        while isinstance(values, _Rows):
            values = values.values
        return values

    @property
    def nested_row_splits(self):
        """The row splits of every ragged dimension, outermost first."""
        inner = self._values
        return (self._row_splits, *(inner.nested_row_splits if isinstance(inner, _Rows) else ()))

    @property
    def ragged_rank(self):
        """How many dimensions are ragged, counting those around them."""
        return len(self.nested_row_splits)


class RaggedTensorValue(_Rows, RaggedValueBase):
    """What a session gives for a RaggedTensor: `values` and `row_splits` as arrays.

    values: an array, or a RaggedTensorValue. row_splits: a vector of int32 or int64.
    """

    def __init__(self, values, row_splits):
        if not (
            isinstance(row_splits, (np.ndarray, np.generic))
            and row_splits.dtype in (np.int64, np.int32)
            and row_splits.ndim == 1
        ):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        super().__init__(values, row_splits)

    @property
    def shape(self):
        """The number of rows, None for ragged dimensions, and the shape of the innermost values."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def to_list(self):
        """The rows as lists in a list."""
        values = self._values
        rows = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        splits = self._row_splits
        return [rows[splits[i] : splits[i + 1]] for i in builtins.range(len(splits) - 1)]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


# ---- Partitions of rows, in their many forms


def _index_tensor(value, name, dtype=None):
    """`value` as a tensor of int32 or int64."""
    if dtype is not None:
        value = convert_to_tensor(value, name=name) if isinstance(value, Tensor) else value
        if isinstance(value, Tensor):
            return math_ops.cast(value, dtype)
        return convert_to_tensor(value, dtype=dtype, name=name)
    value = convert_to_tensor(value, dtype_hint=dtypes.int64, name=name)
    if value.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64, got {value.dtype.name}")
    return value


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row of each value: [0, 3, 3, 5] gives [0, 0, 0, 2, 2].

    splits: a vector of int32 or int64 that starts with 0 and does not fall.
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]) as name:
        splits = _index_tensor(splits, "splits")
        splits.shape.assert_has_rank(1)
        if out_type is not None:
            splits = math_ops.cast(splits, out_type)
        rows = array_ops.shape(splits, out_type=splits.dtype)[0] - 1
        return _repeat(math_ops.range(rows), splits[1:] - splits[:-1])


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """The row splits of values in rows `segment_ids`: [0, 0, 0, 2, 2] gives [0, 3, 3, 5].

    segment_ids: a sorted vector of int32 or int64. num_segments: how many rows there are, if not
    those up to the last of segment_ids.
    """
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        segment_ids = _index_tensor(segment_ids, "segment_ids")
        segment_ids.shape.assert_has_rank(1)
        out_type = dtypes.as_dtype(out_type or segment_ids.dtype)
        if num_segments is None:
            lowest = constant([-1], dtype=segment_ids.dtype)
            num_segments = math_ops.reduce_max(array_ops.concat([segment_ids, lowest], 0)) + 1
        return _splits_of_lengths(_count(segment_ids, num_segments, out_type))


def _count(rows, num_rows, dtype):
    """How many values each row has."""
    ones = array_ops.ones_like(rows, dtype=dtype)
    return segment_ops.unsorted_segment_sum(ones, rows, num_rows)


def _splits_of_lengths(lengths):
    return array_ops.concat([constant([0], dtype=lengths.dtype), math_ops.cumsum(lengths)], 0)


def _repeat(values, repeats):
    """Element i of `values` repeats[i] times."""
    return rearrange_ops.repeat(values, repeats, axis=0)


def _ranges(starts, limits, step=1):
    """The whole numbers of each range, one range behind the other, and the splits of the ranges."""
    splits, values = op_list(
        "RaggedRange",
        None,
        starts,
        limits,
        constant(step, dtype=starts.dtype),
        Tsplits=starts.dtype,
    )
    return splits, values


def _nested_rows(ragged):
    """The rows as nested lists, of one whose values are there."""
    values, splits = ragged._values, ragged._row_splits.numpy().tolist()
    items = _nested_rows(values) if isinstance(values, RaggedTensor) else values.numpy().tolist()
    return [items[first:end] for first, end in zip(splits, splits[1:])]


def _merged(value, outer, inner):
    """merge_dims() of dimensions that are there."""
    if outer == inner:
        return value
    if isinstance(value, Tensor):
        shape = array_ops.shape(value)
        return array_ops.reshape(
            value, array_ops.concat([shape[:outer], [-1], shape[inner + 1 :]], 0)
        )
    if outer > 1:
        return value.with_values(_merged(value.values, outer - 1, inner - 1))
    if outer == 0:
        return _merged(value.values, 0, inner - 1)
    rows = value.values
    if isinstance(rows, Tensor):
        size = array_ops.shape(rows, out_type=value.row_splits.dtype)[1]
        splits, rows = value.row_splits * size, _merged(rows, 0, 1)
    else:
        splits, rows = array_ops.gather(rows.row_splits, value.row_splits), rows.values
    return _merged(RaggedTensor(rows, splits, internal=True), 1, inner - 1)


def _wanted(shape, known):
    """(what is known of the shape of a dense tensor, what the op is told of it)."""
    if shape is None:
        return known, constant(-1, dtype=dtypes.int64)
    if isinstance(shape, Tensor):
        return tensor_shape.TensorShape([None] * known.ndims) if known.ndims else known, shape
    asked = tensor_shape.TensorShape(shape)
    sizes = [-1 if size is None else size for size in asked.as_list()]
    return asked, constant(sizes, dtype=dtypes.int64)


def _text(ragged):
    """The rows as NumPy prints an array of them, with commas."""

    def shown(item):
        if not isinstance(item, np.ndarray):
            return str(item)
        return np.array2string(item, separator=", ") if item.size else repr(item.tolist())

    with np.printoptions(formatter={"all": shown}):  # it prints the rows within rows too
        return shown(ragged.numpy())


class RaggedTensor(_Rows, RaggedBase, CompositeTensor):
    """Rows of unlike lengths: `values` of all rows, and `row_splits`, where they start and end.

    Made by the from_... functions, tf.ragged.constant and others. values: a Tensor of rank 1 or
    more, or a RaggedTensor. row_splits: a vector of int32 or int64, one longer than there are rows.

    >>> tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]).to_list()
    [[1, 2], [], [3]]
    """

    __array_priority__ = 100

    _uniform_row_length = None  # the length of each row, where it is known to be one

    def __init__(self, values, row_splits, internal=False):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        if not isinstance(values, (Tensor, RaggedTensor)):
            raise TypeError("values must be a Tensor or RaggedTensor.")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("values.row_splits and row_splits must have the same dtype")
        super().__init__(values, row_splits)

    @classmethod
    def _of_parts(cls, parts):
        """One of its flat values and splits, or of specs, say, that stand for them."""
        values, *splits = parts
        for one in reversed(splits):
            made = cls.__new__(cls)
            made._values, made._row_splits = values, one
            values = made
        return values

    @property
    def _parts(self):
        return [self.flat_values, *self.nested_row_splits]

    def _with_parts(self, parts):
        return self._of_parts(parts)

    def merge_dims(self, outer_axis, inner_axis):
        """The tensor with the dimensions from outer_axis to inner_axis made one; ValueError."""
        rank = self.shape.ndims
        axes = [a + rank if a < 0 and rank else a for a in (outer_axis, inner_axis)]
        if axes[0] > axes[1]:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to "
                f"inner_axis ({inner_axis})"
            )
        if axes[0] < 0 or rank is not None and axes[1] >= rank:
            raise ValueError(f"axes {outer_axis} and {inner_axis} are not both of rank {rank}")
        return _merged(self, *axes)

    # ---- Made of values and a partition

    @classmethod
    def from_uniform_row_length(
        cls, values, uniform_row_length, nrows=None, validate=True, name=None
    ):
        """Rows of one length. nrows: how many there are, for rows of length 0."""
        with name_scope(name, "RaggedFromUniformRowLength", [values, uniform_row_length, nrows]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            length = _index_tensor(uniform_row_length, "uniform_row_length", dtypes.int64)
            count = _nrows(values, length.dtype)
            if nrows is None:
                nrows = math_ops.floordiv(count, math_ops.maximum(length, 1))
            nrows = math_ops.cast(nrows, length.dtype)
            splits = math_ops.range(nrows + 1) * length
            if validate:
                splits = _checked(
                    splits,
                    [
                        check_ops.assert_equal(
                            splits[-1],
                            count,
                            message="uniform_row_length and the number of values do "
                            "not form a valid RaggedTensor",
                        )
                    ],
                )
            made = cls(values, splits, internal=True)
            made._uniform_row_length = constant_value(length)
            return made

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Rows from row_splits[i] to row_splits[i + 1]; the last split is the number of values.

        validate: whether a step fails with an invalid argument for splits that are no such.
        """
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            row_splits = _like_splits(values, row_splits, "row_splits")
            row_splits.shape.assert_has_rank(1)
            if validate:
                row_splits = _checked(
                    row_splits,
                    [
                        check_ops.assert_rank(row_splits, 1),
                        _assert_starts_at_zero(row_splits[:1], "row_splits"),
                        _assert_not_falling(row_splits, "row_splits"),
                        check_ops.assert_equal(
                            row_splits[-1],
                            _nrows(values, row_splits.dtype),
                            message="Arguments to from_row_splits do not form a valid RaggedTensor",
                        ),
                    ],
                )
            return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Rows of the lengths given, one behind the other."""
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            row_lengths = _like_splits(values, row_lengths, "row_lengths")
            row_lengths.shape.assert_has_rank(1)
            splits = _splits_of_lengths(row_lengths)
            if validate:
                splits = _checked(
                    splits,
                    [
                        check_ops.assert_non_negative(row_lengths),
                        check_ops.assert_equal(
                            splits[-1],
                            _nrows(values, splits.dtype),
                            message="Arguments to from_row_lengths do not form a "
                            "valid RaggedTensor",
                        ),
                    ],
                )
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Rows that start at `row_starts`, each ending where the next one starts."""
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            row_starts = _like_splits(values, row_starts, "row_starts")
            row_starts.shape.assert_has_rank(1)
            end = array_ops.expand_dims(_nrows(values, row_starts.dtype), 0)
            splits = array_ops.concat([row_starts, end], 0)
            if validate:
                splits = _checked(
                    splits,
                    [
                        _assert_starts_at_zero(row_starts[:1], "row_starts"),
                        _assert_not_falling(splits, "row_starts"),
                    ],
                )
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Rows that end at `row_limits`, each starting where the one before ends."""
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            row_limits = _like_splits(values, row_limits, "row_limits")
            row_limits.shape.assert_has_rank(1)
            splits = array_ops.concat([constant([0], dtype=row_limits.dtype), row_limits], 0)
            if validate:
                splits = _checked(
                    splits,
                    [
                        _assert_not_falling(splits, "row_limits"),
                        check_ops.assert_equal(
                            splits[-1],
                            _nrows(values, splits.dtype),
                            message="Arguments to from_row_limits do not form a valid RaggedTensor",
                        ),
                    ],
                )
            return cls(values, splits, internal=True)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """Value i in row value_rowids[i]; these do not fall. nrows: with empty rows at the end."""
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values = convert_to_tensor_or_ragged_tensor(values, name="values")
            value_rowids = _like_splits(values, value_rowids, "value_rowids")
            value_rowids.shape.assert_has_rank(1)
            known_rows = None
            if nrows is not None:
                nrows = _index_tensor(nrows, "nrows", value_rowids.dtype)
                nrows.shape.assert_has_rank(0)
                known_rows = constant_value(nrows)
                known_rows = None if known_rows is None else int(known_rows)
                if known_rows is not None and known_rows < 0:
                    raise ValueError(f"Expected nrows >= 0; got {known_rows}")
                ids = constant_value(value_rowids)
                if known_rows is not None and ids is not None and ids.size:
                    if known_rows < int(ids[-1]) + 1:
                        raise ValueError(
                            f"Expected nrows >= value_rowids[-1] + 1; got "
                            f"nrows={known_rows}, value_rowids[-1]={ids[-1]}"
                        )
            if validate:
                checks = [
                    check_ops.assert_non_negative(value_rowids),
                    _assert_not_falling(value_rowids, "value_rowids"),
                    check_ops.assert_equal(
                        array_ops.shape(value_rowids, out_type=value_rowids.dtype)[0],
                        _nrows(values, value_rowids.dtype),
                        message="Arguments to from_value_rowids do not form a valid RaggedTensor",
                    ),
                ]
                if nrows is not None:
                    checks.append(check_ops.assert_less(value_rowids, nrows))
                value_rowids = _checked(value_rowids, checks)
            splits = segment_ids_to_row_splits(value_rowids, nrows)
            if known_rows is not None:
                splits.set_shape([known_rows + 1])
            return cls(values, splits, internal=True)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """One ragged dimension for each vector of splits, the outermost first."""
        return _nested(
            cls.from_row_splits,
            "RaggedFromNestedRowSplits",
            flat_values,
            nested_row_splits,
            "nested_row_splits",
            name,
            validate,
        )

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """One ragged dimension for each vector of lengths, the outermost first."""
        return _nested(
            cls.from_row_lengths,
            "RaggedFromNestedRowlengths",
            flat_values,
            nested_row_lengths,
            "nested_row_lengths",
            name,
            validate,
        )

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True
    ):
        """One ragged dimension for each vector of rows, the outermost first."""
        if isinstance(nested_value_rowids, Tensor):
            raise TypeError("nested_value_rowids must be a list of Tensors")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        elif isinstance(nested_nrows, Tensor):
            raise TypeError("nested_nrows must be a list of Tensors")
        elif len(nested_nrows) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values]):
            result = flat_values
            for rowids, nrows in zip(reversed(nested_value_rowids), reversed(nested_nrows)):
                result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
            return result

    @classmethod
    def from_tensor(
        cls,
        tensor,
        lengths=None,
        padding=None,
        ragged_rank=1,
        name=None,
        row_splits_dtype=dtypes.int64,
    ):
        """The rows of a dense tensor, without what is behind their `lengths` or only `padding`.

        tensor: of rank ragged_rank + 1 or more. lengths: of each row, or a list of vectors of them,
        one for each ragged dimension. padding: a value; rows end behind the last that is another.
        """
        dtype = dtypes.as_dtype(row_splits_dtype)
        if lengths is not None and padding is not None:
            raise ValueError("Specify lengths or padding, but not both")
        if not isinstance(ragged_rank, int):
            raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
        if ragged_rank <= 0:
            raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            tensor = convert_to_tensor(tensor, name="tensor")
            tensor.shape.with_rank_at_least(ragged_rank + 1)
            if lengths is not None and _is_list_of_vectors(lengths):
                count = math_ops.reduce_sum(_index_tensor(lengths[-1], "lengths", dtype))
                there = cls.from_nested_row_lengths(
                    array_ops.ones(array_ops.reshape(count, [1]), dtype=dtypes.bool),
                    [_index_tensor(part, "lengths", dtype) for part in lengths],
                    validate=False,
                )
                values = array_ops.boolean_mask(tensor, there.to_tensor(False))
                return there.with_flat_values(values)
            shape = array_ops.shape(tensor, out_type=dtype)
            outer = []  # splits of the dimensions that are ragged in name only
            for axis in builtins.range(1, ragged_rank):
                rows = math_ops.reduce_prod(shape[:axis])
                outer.append(math_ops.range(rows + 1) * shape[axis])
            if outer:
                inner = [-1 if d is None else d for d in tensor.shape[ragged_rank:].as_list()]
                rest = shape[ragged_rank:]
                first = constant([-1], dtype=dtype)
                tensor = array_ops.reshape(tensor, array_ops.concat([first, rest], 0))
                tensor.set_shape([None] + [None if d == -1 else d for d in inner])
                shape = array_ops.shape(tensor, out_type=dtype)
            values = _rows_of(cls, tensor, shape, lengths, padding, dtype)
            return cls.from_nested_row_splits(values, outer, validate=False) if outer else values

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a sparse matrix, whose elements must fill them from the left."""
        if not isinstance(st_input, SparseTensor):
            raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
        dtype = dtypes.as_dtype(row_splits_dtype)
        with name_scope(name, "RaggedFromSparse", [st_input.indices, st_input.values]):
            shape, indices_shape = st_input.dense_shape.shape, st_input.indices.shape
            ranks = [
                None if shape.ndims is None else shape.size_at(0),
                None if indices_shape.ndims is None else indices_shape.size_at(1),
            ]
            if 2 not in ranks:
                raise ValueError("rank(st_input) must be 2")
            rows, columns = st_input.indices[:, 0], st_input.indices[:, 1]
            count = array_ops.shape(rows)[0]  # without elements there is no first one
            same_row = math_ops.equal(rows[1:], rows[:-1])
            same_row = array_ops.concat([[False], same_row], 0)[:count]
            previous = array_ops.concat([[-1], columns[:-1]], 0)[:count] + 1
            expected = array_ops.where(same_row, previous, array_ops.zeros_like(columns))
            check = check_ops.assert_equal(
                columns,
                expected,
                message="SparseTensor is not right-ragged: its elements are not contiguous",
            )
            rows = _checked(math_ops.cast(rows, dtype), [check])
            return cls.from_value_rowids(
                st_input.values, rows, math_ops.cast(st_input.dense_shape[0], dtype), validate=False
            )

    # ---- What it is

    @property
    def graph(self):
        """The graph of the row splits."""
        return self._row_splits.graph

    @property
    def op(self):
        """The operation that makes the flat values."""
        return self.flat_values.op

    @property
    def name(self):
        """The name of the flat values."""
        return self.flat_values.name

    @property
    def shape(self):
        """What is known of the shape; ragged dimensions are None."""
        rows = self._row_splits.shape.as_list()[0]
        rows = None if rows is None else rows - 1
        inner = self._values.shape
        if inner.ndims is None:
            return tensor_shape.TensorShape(None)
        length = None if self._uniform_row_length is None else int(self._uniform_row_length)
        return tensor_shape.TensorShape([rows, length, *inner.as_list()[1:]])

    @property
    def uniform_row_length(self):
        """How many values each row has, as a tensor, if from_uniform_row_length() made it so."""
        length = self._uniform_row_length
        return None if length is None else convert_to_tensor(length, self._row_splits.dtype)

    def get_shape(self):
        """The shape property."""
        return self.shape

    def value_rowids(self, name=None):
        """The row of each value."""
        with name_scope(name, "RaggedValueRowIds", [self._row_splits]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name=None):
        """The rows of each ragged dimension's values."""
        with name_scope(name, "RaggedNestedValueRowIds", [self._row_splits]):
            return tuple(row_splits_to_segment_ids(s) for s in self.nested_row_splits)

    def nrows(self, out_type=None, name=None):
        """The number of rows."""
        with name_scope(name, "RaggedNRows", [self._row_splits]):
            out_type = dtypes.as_dtype(out_type or self._row_splits.dtype)
            return array_ops.shape(self._row_splits, out_type=out_type)[0] - 1

    def row_starts(self, name=None):
        """Where each row starts."""
        with name_scope(name, "RaggedRowStarts", [self._row_splits]):
            return self._row_splits[:-1]

    def row_limits(self, name=None):
        """Where each row ends."""
        with name_scope(name, "RaggedRowLimits", [self._row_splits]):
            return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows; with axis above 1, of rows further inside, ragged too."""
        with name_scope(name, "RaggedRowLengths", [self._row_splits]):
            axis = _axis_of(axis, self.shape.ndims)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            shape = array_ops.shape(self._values, out_type=self._row_splits.dtype)
            lengths = array_ops.ones(shape[: axis - 1], self._row_splits.dtype) * shape[axis - 1]
            return self.with_values(lengths)

    def nested_row_lengths(self, name=None):
        """The lengths of the rows of each ragged dimension."""
        with name_scope(name, "RaggedNestedRowLengths", [self._row_splits]):
            return tuple(s[1:] - s[:-1] for s in self.nested_row_splits)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The shape of the smallest dense tensor that holds it, or one dimension of that."""
        with name_scope(name, "RaggedBoundingBox", [self._row_splits]):
            out_type = dtypes.as_dtype(out_type or self._row_splits.dtype)
            if isinstance(axis, int) and axis == 0:
                return self.nrows(out_type)
            zero = constant([0], dtype=self._row_splits.dtype)
            parts = [self.nrows()]
            for splits in self.nested_row_splits:
                lengths = array_ops.concat([splits[1:] - splits[:-1], zero], 0)
                parts.append(math_ops.reduce_max(lengths))
            inner = array_ops.shape(self.flat_values, out_type=self._row_splits.dtype)[1:]
            shape = math_ops.cast(array_ops.concat([array_ops.stack(parts), inner], 0), out_type)
            return shape if axis is None else array_ops.gather(shape, axis)

    # ---- The same rows of other values

    def with_values(self, new_values):
        """The same rows of other values, as many as there are."""
        new_values = convert_to_tensor_or_ragged_tensor(new_values)
        made = RaggedTensor(new_values, self._row_splits, internal=True)
        made._uniform_row_length = self._uniform_row_length
        return made

    def with_flat_values(self, new_values):
        """The same rows, in all ragged dimensions, of other values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """The same with splits of int32 or int64."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(values, math_ops.cast(self._row_splits, dtype), internal=True)

    # ---- Dense and sparse

    def to_tensor(self, default_value=None, name=None, shape=None):
        """A dense tensor, `default_value` (zero, or "") behind the ends of rows.

        shape: of the result; None is as large as it must be. What is beyond is cut off.
        """
        with name_scope(name, "RaggedToTensor", [self._row_splits, default_value]):
            if default_value is not None:
                default_value = convert_to_tensor(
                    default_value, name="default_value", dtype=self.dtype
                )
            else:
                default_value = array_ops.zeros([], self.dtype)
            known, shape = _wanted(shape, self.shape)
            result = op1(
                "RaggedTensorToTensor",
                None,
                shape,
                self.flat_values,
                default_value,
                list(self.nested_row_splits),
                row_partition_types=["ROW_SPLITS"] * self.ragged_rank,
            )
            result.set_shape(known)
            return result

    def to_sparse(self, name=None):
        """A SparseTensor with an element for each value."""
        with name_scope(name, "RaggedToSparse", [self._row_splits]):
            return SparseTensor(
                *op_list(
                    "RaggedTensorToSparse", None, list(self.nested_row_splits), self.flat_values
                )
            )

    def to_list(self):
        """The rows as lists in a list, of one whose values are there."""
        if not self._row_splits._is_eager:
            raise ValueError(
                "RaggedTensor.to_list() is only supported in eager mode; in graph "
                "mode, evaluate the RaggedTensor first and then use "
                "RaggedTensorValue.to_list()."
            )
        return _nested_rows(self)

    def numpy(self):
        """An array of rows, of objects unless all rows are equally long."""
        if not self._row_splits._is_eager:
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values, splits = self._values.numpy(), self._row_splits.numpy()
        if len(np.unique(splits[1:] - splits[:-1])) > 1:
            rows = np.empty(len(splits) - 1, object)
            for i, row in enumerate(np.split(values, splits[1:-1])):
                rows[i] = row
            return rows
        count = splits[1] - splits[0] if len(splits) > 1 else 0
        return values.reshape((len(splits) - 1, count, *values.shape[1:]))

    def eval(self, feed_dict=None, session=None):
        """The value as a RaggedTensorValue."""
        session = session or get_default_session()
        if session is None:
            raise ValueError("Cannot evaluate a RaggedTensor: no session is given or registered.")
        return session.run(self, feed_dict)

    def consumers(self):
        """The operations that take the values or the splits."""
        return [
            op
            for tensor in (self.flat_values, *self.nested_row_splits)
            for op in tensor.consumers()
        ]

    def __repr__(self):
        if getattr(self._row_splits, "_is_eager", False):
            return f"<tf.RaggedTensor {_text(self)}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    # ---- Parts

    def __getitem__(self, key):
        """Rows by number or slice, then slices of the columns, then parts of the values inside."""
        keys = list(key) if isinstance(key, (list, tuple)) else [key]
        with name_scope(None, "RaggedGetItem", [self._row_splits]):
            return _part(self, _without_ellipsis(self, keys))

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")


def _operator(function, swapped=False):
    if swapped:
        return lambda self, other: function(other, self)
    return lambda self, other: function(self, other)


for _name, _function in {
    "add": math_ops.add,
    "sub": math_ops.subtract,
    "mul": math_ops.multiply,
    "truediv": math_ops.truediv,
    "floordiv": math_ops.floordiv,
    "mod": math_ops.floormod,
    "pow": math_ops.pow,
    "and": math_ops.logical_and,
    "or": math_ops.logical_or,
    "xor": math_ops.logical_xor,
}.items():
    setattr(RaggedTensor, f"__{_name}__", _operator(_function))
    setattr(RaggedTensor, f"__r{_name}__", _operator(_function, swapped=True))
RaggedTensor.__lt__ = _operator(math_ops.less)
RaggedTensor.__le__ = _operator(math_ops.less_equal)
RaggedTensor.__gt__ = _operator(math_ops.greater)
RaggedTensor.__ge__ = _operator(math_ops.greater_equal)
RaggedTensor._compares_to_tensors = True  # a tensor on the left leaves it to the methods here
RaggedTensor.__eq__ = lambda self, other: _equal(math_ops.equal, self, other)
RaggedTensor.__ne__ = lambda self, other: _equal(math_ops.not_equal, self, other)
RaggedTensor.__hash__ = lambda self: _hash_of(self)
RaggedTensor.__matmul__ = _operator(math_ops.matmul)
RaggedTensor.__rmatmul__ = _operator(math_ops.matmul, swapped=True)
RaggedTensor.__neg__ = lambda self: math_ops.negative(self)
RaggedTensor.__abs__ = lambda self: math_ops.abs(self)
RaggedTensor.__invert__ = lambda self: math_ops.logical_not(self)


# ---- Pieces of the above


def _compares_values(value):
    """Whether == goes value by value: of values and in bodies of functions, as of tensors."""
    if not is_eager_on():
        return False
    splits = value.row_splits
    return splits._is_eager or splits.graph.building_function


def _equal(function, x, y):
    """x == y or x != y; what cannot be broadcast to each other is not equal."""
    differs = function is math_ops.not_equal
    if y is None:
        return differs
    if not _compares_values(x):
        return (x is not y) == differs
    try:
        return function(x, y)
    except (ValueError, errors.InvalidArgumentError):
        return differs


def _hash_of(value):
    if _compares_values(value):
        raise TypeError("RaggedTensor is unhashable.")
    return id(value)


def _is_list_of_vectors(lengths):
    return (
        isinstance(lengths, (list, tuple))
        and bool(lengths)
        and not isinstance(lengths[0], (int, float, np.number))
    )


def _rows_of(cls, tensor, shape, lengths, padding, dtype):
    """The rows of a tensor as one ragged dimension."""
    rows, columns = shape[0], shape[1]
    if padding is not None:
        padding = convert_to_tensor(padding, name="padding", dtype=tensor.dtype)
        padding.shape.assert_is_compatible_with(tensor.shape[2:])
        same = math_ops.equal(padding, tensor)
        same = array_ops.reshape(same, array_ops.stack([rows, columns, constant(-1, dtype=dtype)]))
        there = math_ops.cast(math_ops.logical_not(math_ops.reduce_all(same, axis=2)), dtype)
        lengths = math_ops.reduce_max(
            array_ops.concat(
                [
                    there * math_ops.range(1, columns + 1),
                    array_ops.zeros(array_ops.stack([rows, 1]), dtype),
                ],
                1,
            ),
            axis=1,
        )
    if lengths is None:
        inner = array_ops.concat([array_ops.reshape(rows * columns, [1]), shape[2:]], 0)
        values = array_ops.reshape(tensor, inner)
        values.set_shape([None, *tensor.shape.as_list()[2:]])
        splits = math_ops.range(rows + 1) * columns
        known = tensor.shape.as_list()[0]
        splits.set_shape([None if known is None else known + 1])
        return cls(values, splits, internal=True)
    lengths = _index_tensor(lengths, "lengths", dtype)
    lengths.shape.assert_has_rank(1)
    lengths = math_ops.maximum(math_ops.minimum(lengths, columns), 0)
    values = array_ops.boolean_mask(tensor, rearrange_ops.sequence_mask(lengths, columns))
    return cls(values, _splits_of_lengths(lengths), internal=True)


def _nested(make, scope, flat_values, partitions, what, name, validate):
    if isinstance(partitions, Tensor):
        raise TypeError(f"{what} must be a list of Tensors")
    with name_scope(name, scope, [flat_values, *partitions]):
        result = flat_values
        for partition in reversed(partitions):
            result = make(result, partition, validate=validate)
        return result


def _like_splits(values, partition, name):
    """A partition of `values`, with the dtype of their own splits if they are ragged."""
    if isinstance(values, RaggedTensor):
        return _index_tensor(partition, name, values.row_splits.dtype)
    return _index_tensor(partition, name)


def _nrows(values, dtype):
    if isinstance(values, RaggedTensor):
        return values.nrows(dtype)
    return array_ops.shape(values, out_type=dtype)[0]


def _checked(tensor, checks):
    with control_dependencies([check for check in checks if check is not None]):
        return array_ops.identity(tensor)


def _assert_starts_at_zero(first, name):
    return check_ops.assert_equal(
        first, array_ops.zeros_like(first), message=f"{name} must start with 0"
    )


def _assert_not_falling(splits, name):
    return check_ops.assert_non_negative(splits[1:] - splits[:-1], message=f"{name} must be sorted")


def _axis_of(axis, ndims):
    if axis < 0:
        if ndims is None:
            raise ValueError("axis may only be negative if ndims is statically known.")
        axis += ndims
    if axis < 0 or ndims is not None and axis >= ndims:
        raise ValueError(f"axis={axis} out of bounds: expected 0<=axis<{ndims}")
    return axis


def _without_ellipsis(tensor, keys):
    places = [i for i, key in enumerate(keys) if key is Ellipsis]
    if len(places) > 1:
        raise ValueError("multiple ellipses are not supported")
    if not places:
        return keys
    at = places[0]
    given = sum(1 for key in keys if key is not Ellipsis and key is not None)
    ndims = tensor.shape.ndims
    if ndims is None:
        if at == len(keys) - 1:
            return keys[:at]
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    return keys[:at] + [slice(None)] * (ndims - given) + keys[at + 1 :]


def _is_all(key):
    return isinstance(key, slice) and key == slice(None)


def _part(tensor, keys):
    """tensor[keys] for the rows first."""
    while keys and _is_all(keys[-1]) and keys[-1].step is None:
        keys = keys[:-1]
    if not keys:
        return tensor
    if not isinstance(tensor, RaggedTensor):
        return tensor[tuple(keys)]
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _part(tensor, rest)
        splits = array_ops.stack(
            [constant(0, dtype=tensor.row_splits.dtype), _nrows(inner, tensor.row_splits.dtype)]
        )
        return RaggedTensor(inner, splits, internal=True)
    if isinstance(key, slice):
        return _columns(_row_slice(tensor, key), rest)
    starts, limits = tensor.row_splits[:-1], tensor.row_splits[1:]
    if isinstance(key, int) and starts.shape.dims is not None:
        count = starts.shape.dims[0].value
        if count is not None and not -count <= key < count:
            raise IndexError(f"Row key {key} out of bounds")
    return _part(tensor.values[starts[key] : limits[key]], rest)


def _row_slice(tensor, key):
    if _is_all(key):
        return tensor
    starts, limits = tensor.row_splits[:-1][key], tensor.row_splits[1:][key]
    return _of_ranges(tensor.values, starts, limits)


def _of_ranges(values, starts, limits, step=1):
    """The rows values[starts[i]:limits[i]:step]."""
    splits, places = _ranges(starts, limits, step)
    return RaggedTensor(gather(values, places), splits, internal=True)


def _columns(tensor, keys):
    """tensor[:, keys] for rows that are all there."""
    if not keys:
        return tensor
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = tensor.with_values(tensor.values) if not rest else _columns(tensor, rest)
        rows = inner.nrows()
        return RaggedTensor(inner, math_ops.range(rows + 1), internal=True)
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not _is_all(key):
        tensor = _slice_columns(tensor, key)
    if not rest:
        return tensor
    values = tensor.values
    if isinstance(values, RaggedTensor):
        return tensor.with_values(_columns(values, rest))
    return tensor.with_values(values[(slice(None), *rest)])


def _slice_columns(tensor, key):
    step = 1 if key.step is None else key.step
    if not isinstance(step, int) or step == 0:
        raise ValueError(f"The step of a slice of a ragged dimension is a number but 0, not {step}")
    starts, limits = tensor.row_splits[:-1], tensor.row_splits[1:]
    if step > 0:
        first = _place(key.start, starts, limits, (starts, limits), starts)
        last = _place(key.stop, starts, limits, (starts, limits), limits)
        return _of_ranges(tensor.values, first, math_ops.maximum(first, last), step)
    before, newest = starts - 1, limits - 1  # from the last column on, to before the first
    first = _place(key.start, starts, limits, (before, newest), newest)
    last = _place(key.stop, starts, limits, (before, newest), before)
    return _of_ranges(tensor.values, first, math_ops.minimum(first, last), step)


def _place(offset, starts, limits, bounds, default):
    """Where a bound of a slice lies in each row, not outside of `bounds`."""
    if offset is None:
        return default
    if isinstance(offset, Tensor):
        offset = math_ops.cast(offset, starts.dtype)
        place = array_ops.where(
            array_ops.broadcast_to(offset >= 0, array_ops.shape(starts)),
            starts + offset,
            limits + offset,
        )
    else:
        place = starts + offset if offset >= 0 else limits + offset
    return math_ops.maximum(bounds[0], math_ops.minimum(place, bounds[1]))


# ---- Conversion


def is_ragged(x):
    """Whether x is a RaggedTensor or the value of one."""
    return isinstance(x, (RaggedTensor, RaggedTensorValue))


def convert_to_tensor_or_ragged_tensor(value, dtype=None, dtype_hint=None, name=None):
    """A RaggedTensor for a ragged value, else a Tensor."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for "
                f"RaggedTensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat = convert_to_tensor(
                value.flat_values, dtype=dtype, dtype_hint=dtype_hint, name="flat_values"
            )
            return RaggedTensor.from_nested_row_splits(
                flat, value.nested_row_splits, validate=False
            )
    return convert_to_tensor(value, dtype=dtype, dtype_hint=dtype_hint, name=name)


def gather(params, indices, name=None):
    """The rows of `params` at `indices`; either may be ragged."""
    with name_scope(name, "RaggedGather", []):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array_ops.gather(params, indices)
        if indices.shape.ndims is None:
            raise ValueError("indices.shape.ndims must be known statically")
        splits = list(params.nested_row_splits)
        rank = len(splits) + indices.shape.ndims - 1
        outputs = op_list(
            "RaggedGather", None, splits, params.flat_values, indices, OUTPUT_RAGGED_RANK=rank
        )
        outputs = [o for part in outputs for o in (part if isinstance(part, list) else [part])]
        result = outputs[-1]
        result.set_shape([None]) if params.flat_values.shape.ndims == 1 else None
        for part in reversed(outputs[:-1]):
            result = RaggedTensor(result, part, internal=True)
        return result
