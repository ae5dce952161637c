"""What is said of indexed slices without having them."""

from rheos.framework import dtypes
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.structured import register_spec
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, register_type_spec_from_value


class IndexedSlicesSpec(TypeSpec):
    """The dense shape and dtype of indexed slices.

    indices_dtype: int32 or int64. dense_shape_dtype: of the dense shape's tensor, None where there
    is none. indices_shape: of the indices, one dimension.
    """

    __slots__ = ("_shape", "_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")

    def __init__(
        self,
        shape=None,
        dtype=dtypes.float32,
        indices_dtype=dtypes.int64,
        dense_shape_dtype=None,
        indices_shape=None,
    ):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        has_shape = dense_shape_dtype is not None
        self._dense_shape_dtype = dtypes.as_dtype(dense_shape_dtype) if has_shape else None
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self):
        """IndexedSlices."""
        return IndexedSlices

    @property
    def shape(self):
        """The TensorShape of the whole."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._dtype

    def _serialize(self):
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self):
        """TensorSpecs of the values, the indices and, where there is one, the dense shape."""
        values = self._indices_shape.concatenate(self._shape[1:])
        indices = TensorSpec(self._indices_shape, self._indices_dtype)
        specs = TensorSpec(values, self._dtype), indices
        if self._dense_shape_dtype is None:
            return specs
        return *specs, TensorSpec([self._shape.ndims], self._dense_shape_dtype)

    _flat_tensor_specs = property(lambda self: list(self._component_specs))

    def _to_components(self, value):
        return tuple(value._parts)

    def _from_components(self, tensors):
        return IndexedSlices(*tensors)

    def _of_specs(self):
        """IndexedSlices that have TensorSpecs in place of their tensors."""
        return IndexedSlices(*self._component_specs)

    def _to_tensor_list(self, value):
        return list(value._parts)

    def _from_tensor_list(self, tensors):
        return IndexedSlices(*tensors)


def _spec_of(value):
    shape, rows = value.dense_shape, value.values.shape
    return IndexedSlicesSpec(
        value.shape,
        value.values.dtype,
        value.indices.dtype,
        None if shape is None else shape.dtype,
        rows[:1] if value.indices.shape.ndims is None else value.indices.shape,
    )


register_spec(2, IndexedSlicesSpec)
register_type_spec_from_value((IndexedSlices,), _spec_of)
