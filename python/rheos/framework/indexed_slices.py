"""Sparse gradients."""

from rheos.framework import tensor_shape
from rheos.framework.constant_values import constant_value_as_shape
from rheos.framework.marks import CompositeTensor


class IndexedSlices(CompositeTensor):
    """Rows `values` at `indices` of a tensor of shape `dense_shape`: a sparse gradient."""

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self):
        """The slices, [n, ...]: a tensor of any dtype."""
        return self._values

    @property
    def indices(self):
        """The places of the slices along the first axis, [n]: int32 or int64."""
        return self._indices

    @property
    def dense_shape(self):
        """The shape of the whole, a vector of integers, or None if it is not known."""
        return self._dense_shape

    @property
    def shape(self):
        """What is known of the dense shape."""
        if self._dense_shape is None:
            return tensor_shape.TensorShape(None)
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self):
        """The same as shape."""
        return self.shape

    def consumers(self):
        """The operations that read its values or indices."""
        return [op for part in self._parts[:2] for op in part.consumers()]

    @property
    def _parts(self):
        return [t for t in (self._values, self._indices, self._dense_shape) if t is not None]

    @staticmethod
    def _with_parts(parts):
        return IndexedSlices(*parts)

    def _shapes_of_parts(self, shape):
        """The shapes of the parts where `shape` is that of the values."""
        shapes = [shape, shape[:1], tensor_shape.TensorShape([shape.ndims])]
        return shapes[: len(self._parts)]

    @property
    def name(self):
        """The name of the values."""
        return self._values.name

    @property
    def device(self):
        """The device of the values."""
        return self._values.device

    @property
    def op(self):
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._values.dtype

    @property
    def graph(self):
        """The graph of the values."""
        return self._values.graph

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self):
        return "IndexedSlices(indices=%s, values=%s%s)" % (
            self._indices,
            self._values,
            "" if self._dense_shape is None else f", dense_shape={self._dense_shape}",
        )
