"""The shape of a ragged tensor: how values are shared out to rows, and the shape of the values."""

from rheos.framework import dtypes, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.ragged import RaggedShapeBase, handles
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.ragged import ragged_broadcast
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)
from rheos.ops.ragged.row_partition import RowPartition


class DynamicRaggedShape(RaggedShapeBase):
    """The sizes of the dimensions of a ragged tensor; what tf.shape() gives of it.

    row_partitions: RowPartitions, outermost first. inner_shape: that of the flat values.
    shape[i] is the size of dimension i; ValueError of a dimension whose rows are unlike.
    """

    def __init__(self, row_partitions, inner_shape, dtype=None, validate=False):
        if dtype is None:
            known = [p.dtype for p in row_partitions]
            dtype = known[0] if known else getattr(inner_shape, "dtype", dtypes.int64)
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"dtype must be tf.int32 or tf.int64, got {dtype}")
        self._dtype = dtype
        self._partitions = tuple(
            p if p.dtype == dtype else p.with_dtype(dtype) for p in row_partitions
        )
        self._inner = math_ops.cast(convert_to_tensor(inner_shape, dtype_hint=dtype), dtype)
        if self._inner.shape.ndims != 1:
            raise ValueError(f"Shape {self._inner.shape} must have rank 1")

    @classmethod
    def from_tensor(cls, t, dtype=None):
        """That of a tensor, ragged or not."""
        if not is_ragged(t):
            return cls([], array_ops.shape(t, out_type=dtype or dtypes.int32), dtype)
        dtype = t.row_splits.dtype if dtype is None else dtypes.as_dtype(dtype)
        partitions = [RowPartition(splits, internal=True) for splits in t.nested_row_splits]
        return cls(partitions, array_ops.shape(t.flat_values, out_type=dtype), dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None):
        """That of a vector of values shared out to rows."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, array_ops.stack([row_partitions[-1].nvals()]), dtype)

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=dtypes.int64):
        """That of rows of these lengths: for each dimension one number, or a tuple of one for
        each row. num_row_partitions: how many of the dimensions are shared out to rows."""
        for one in lengths:
            parts = one if isinstance(one, tuple) else [one]
            if not all(isinstance(part, int) for part in parts):
                raise ValueError(
                    f"element of lengths should be int or tuple of ints: instead {one!r}"
                )
        ragged = [i for i, one in enumerate(lengths) if isinstance(one, tuple)]
        wanted = max(ragged) if ragged else 0
        count = wanted if num_row_partitions is None else num_row_partitions
        if count < wanted or count > max(len(lengths) - 1, 0) or 0 in ragged:
            raise ValueError(f"num_row_partitions should be at least {wanted}, got {count}")
        rows = lengths[0] if lengths else 0
        partitions = []
        for one in lengths[1 : count + 1]:
            if isinstance(one, tuple):
                if len(one) != rows:
                    raise ValueError("Shape not consistent.")
                made = RowPartition.from_row_lengths(list(one), dtype=dtype)
                rows = sum(one)
            else:
                made = RowPartition.from_uniform_row_length(one, nrows=rows, dtype=dtype)
                rows *= one
            partitions.append(made)
        inner = [rows, *lengths[count + 1 :]] if lengths else []
        return cls(partitions, convert_to_tensor(inner, dtype), dtype)

    @property
    def rank(self):
        """The number of dimensions; None if it is not known."""
        inner = self.inner_rank
        return None if inner is None else inner + len(self._partitions)

    @property
    def inner_rank(self):
        """The number of dimensions of the flat values."""
        return self._inner.shape.as_list()[0]

    @property
    def dtype(self):
        """The dtype of the sizes."""
        return self._dtype

    @property
    def row_partitions(self):
        """How values are shared out to rows, outermost first."""
        return self._partitions

    @property
    def num_row_partitions(self):
        """How many dimensions are ragged, or outside of ragged ones."""
        return len(self._partitions)

    @property
    def inner_shape(self):
        """The sizes of the dimensions of the flat values."""
        return self._inner

    def with_dtype(self, dtype):
        """The same with sizes of another dtype, int32 or int64."""
        return DynamicRaggedShape(self._partitions, self._inner, dtype)

    def is_uniform(self, axis):
        """Whether all rows along an axis are equally long."""
        if not 0 <= axis < (self.rank or axis + 1):
            raise IndexError(f"axis {axis} is not within the rank {self.rank}")
        if axis == 0 or axis > len(self._partitions):
            return True
        return self._partitions[axis - 1].uniform_row_length() is not None

    def static_lengths(self, ragged_lengths=True):
        """What is known of the sizes: numbers; tuples of one for each row, unless they are not
        wanted; None for others."""
        inner = _static_sizes(self._inner)
        if not self._partitions:
            return [Ellipsis] if inner is None else inner
        found = [self._partitions[0].static_nrows]
        for one in self._partitions:
            length = one.uniform_row_length()
            if length is not None:
                known = constant_value(length)
                found.append(None if known is None else int(known))
                continue
            known = constant_value(one.row_lengths()) if ragged_lengths else None
            found.append(None if known is None else tuple(int(n) for n in known))
        return [*found, *([Ellipsis] if inner is None else inner[1:])]

    def _to_tensor_shape(self):
        lengths = self.static_lengths(ragged_lengths=False)
        return tensor_shape.as_shape(None if Ellipsis in lengths else lengths)

    def _rows_of(self, values):
        """The ragged tensor of flat values."""
        for one in reversed(self._partitions):
            values = RaggedTensor.from_row_splits(values, one.row_splits(), validate=False)
        return values

    def _size(self, axis):
        if axis == 0 and self._partitions:
            return self._partitions[0].nrows()
        if not self.is_uniform(axis):
            raise ValueError(f"Index {axis} is not uniform")
        if 0 < axis <= len(self._partitions):
            return self._partitions[axis - 1].uniform_row_length()
        return self._inner[axis - len(self._partitions)]

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return self._size(index + self.rank if index < 0 else index)
        if index.step not in (None, 1):
            raise IndexError("Cannot stride through a shape")
        start, stop, _ = index.indices(self.rank)
        if start == 0:
            return self._outermost(max(stop, 0))
        if not all(map(self.is_uniform, range(start, stop))):
            raise ValueError("All relevant dimensions must be uniform")
        sizes = [self._size(axis) for axis in range(start, stop)]
        return DynamicRaggedShape([], array_ops.stack(sizes) if sizes else [], self._dtype)

    def _outermost(self, count):
        """The shape of its first dimensions."""
        kept = self._partitions[: max(count - 1, 0)]
        if count > len(self._partitions):
            return DynamicRaggedShape(kept, self._inner[: count - len(kept)], self._dtype)
        if count == 0:
            return DynamicRaggedShape([], convert_to_tensor([], self._dtype), self._dtype)
        return DynamicRaggedShape(kept, array_ops.stack([self._partitions[len(kept)].nrows()]))

    def __eq__(self, other):
        if not isinstance(other, DynamicRaggedShape):
            return NotImplemented
        if (self.rank, self.num_row_partitions) != (other.rank, other.num_row_partitions):
            return convert_to_tensor(False)
        mine = [*(p.row_splits() for p in self._partitions), self._inner]
        others = [*(p.row_splits() for p in other._partitions), other._inner]
        pairs = zip(mine, (math_ops.cast(one, self._dtype) for one in others))
        same = [
            math_ops.reduce_all(math_ops.equal(array_ops.shape(a), array_ops.shape(b)))
            for a, b in pairs
        ]
        if not all(bool(constant_value(one)) for one in same if constant_value(one) is not None):
            return convert_to_tensor(False)
        pairs = zip(mine, (math_ops.cast(one, self._dtype) for one in others))
        return math_ops.reduce_all([math_ops.reduce_all(math_ops.equal(a, b)) for a, b in pairs])

    __hash__ = None

    def __repr__(self):
        lengths = ", ".join(str(one) for one in self.static_lengths()).replace("Ellipsis", "...")
        count = len(self._partitions)
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={count}>"


def _static_sizes(vector):
    """The numbers of a vector as far as they are known; None if not even their count is."""
    known = constant_value(vector)
    if known is not None:
        return [int(size) for size in known]
    count = vector.shape.as_list()[0]
    shape = tensor_shape.as_shape(None)
    if vector._is_eager or count is None:
        return None
    if vector.op.type == "Shape":
        shape = vector.op.inputs[0].shape
    return [None] * count if shape.ndims is None else shape.as_list()


@handles
def filled_in_rows(function, dims, *args, **kwargs):
    """function(shape, ...) of a ragged shape, such as fill() and zeros()."""
    return dims._rows_of(function(dims.inner_shape, *args, **kwargs))


@handles
def reshape_of(function, tensor, shape, name=None):
    """reshape() of a ragged tensor, or to a ragged shape."""
    flat = tensor.flat_values if is_ragged(tensor) else tensor
    if not isinstance(shape, DynamicRaggedShape):
        return function(flat, shape, name)
    return shape._rows_of(function(flat, shape.inner_shape, name))


@handles
def broadcast_to_rows(function, input, shape, name=None):
    """broadcast_to() of a ragged tensor, or to a ragged shape."""
    value = convert_to_tensor_or_ragged_tensor(input)
    if not isinstance(shape, DynamicRaggedShape):
        raise ValueError("a ragged tensor is broadcast to a DynamicRaggedShape")
    if not shape.num_row_partitions and not is_ragged(value):
        return function(value, shape.inner_shape, name)
    if not is_ragged(value) and value.shape.ndims < shape.inner_rank:
        return shape._rows_of(function(value, shape.inner_shape, name))
    rows = shape._rows_of(array_ops.zeros(shape.inner_shape, dtypes.bool))
    value, _ = ragged_broadcast.broadcast(value, rows)
    return shape._rows_of(function(value.flat_values, shape.inner_shape, name))


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape of two ragged shapes, or of a ragged one and a vector, broadcast together."""
    x, y = (_rows_of_shape(one) for one in (shape_x, shape_y))
    dtype = shape_x.dtype if isinstance(shape_x, DynamicRaggedShape) else shape_y.dtype
    both = ragged_broadcast.binary(math_ops.logical_or, x, y)
    return DynamicRaggedShape.from_tensor(both, dtype)


def _rows_of_shape(shape):
    if isinstance(shape, DynamicRaggedShape):
        return shape._rows_of(array_ops.zeros(shape.inner_shape, dtypes.bool))
    return array_ops.zeros(shape, dtypes.bool)
