"""The shape of a ragged tensor: the sizes of its dimensions, as far as rows are equally long."""

from rheos.framework import tensor_shape
from rheos.ops import array_ops


class DynamicRaggedShape:
    """The sizes of the dimensions of a ragged tensor; what tf.shape() gives of it.

    shape[i] is the size of dimension i; ValueError of a dimension whose rows are unlike.
    """

    def __init__(self, rows, dtype):
        self._rows, self._dtype = rows, dtype

    @classmethod
    def from_tensor(cls, t, dtype=None):
        """That of a ragged tensor."""
        return cls(t, t.row_splits.dtype if dtype is None else dtype)

    @property
    def rank(self):
        """The number of dimensions; None if it is not known."""
        return self._rows.shape.ndims

    @property
    def dtype(self):
        """The dtype of the sizes."""
        return self._dtype

    @property
    def num_row_partitions(self):
        """How many dimensions are ragged, or inside of ragged ones."""
        return self._rows.ragged_rank

    @property
    def inner_shape(self):
        """The sizes of the dimensions of the flat values."""
        return array_ops.shape(self._rows.flat_values, out_type=self._dtype)

    def is_uniform(self, axis):
        """Whether all rows along an axis are equally long."""
        return axis == 0 or axis > self._rows.ragged_rank

    def static_lengths(self, ragged_lengths=True):
        """What is known of the sizes, None for others."""
        return self._rows.shape.as_list()

    def _to_tensor_shape(self):
        return tensor_shape.as_shape(self._rows.shape)

    def __getitem__(self, index):
        if isinstance(index, slice):
            axes = range(*index.indices(self.rank))
            return array_ops.stack([self[axis] for axis in axes])
        axis = index + self.rank if index < 0 and self.rank else index
        if axis == 0:
            return self._rows.nrows(out_type=self._dtype)
        if not self.is_uniform(axis):
            raise ValueError(f"Index {index} is not uniform")
        return self.inner_shape[axis - self._rows.ragged_rank]

    def __repr__(self):
        return f"<DynamicRaggedShape lengths={self.static_lengths()}>"
