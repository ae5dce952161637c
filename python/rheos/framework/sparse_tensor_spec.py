"""What is said of a sparse tensor without having one."""

from rheos.framework import dtypes
from rheos.framework.op_call import op1, op_list
from rheos.framework.sparse_tensor import SparseTensor, SparseTensorValue
from rheos.framework.structured import register_spec
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, register_type_spec_from_value


class SparseTensorSpec(TypeSpec):
    """A sparse tensor's dense shape and dtype."""

    __slots__ = ("_shape", "_dtype")

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @property
    def value_type(self):
        """SparseTensor."""
        return SparseTensor

    @property
    def shape(self):
        """The TensorShape of the whole."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._dtype

    def _serialize(self):
        return self._shape, self._dtype

    def _of_specs(self):
        """A SparseTensor that has TensorSpecs in place of its tensors."""
        rank = self._shape.ndims
        specs = [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]
        return SparseTensor._of_parts(specs, self._shape)

    # A component is three variants that hold indices, values and shape.

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        value = SparseTensor.from_value(value)
        parts = value.indices, value.values, value.dense_shape
        return [op1("SerializeSparse", None, *parts, out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value):
        value = SparseTensor.from_value(value)
        rank = value.dense_shape.shape.as_list()[0] if value.dense_shape.shape.ndims else None
        if rank == 0 or self._shape.ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        parts = value.indices, value.values, value.dense_shape
        return [op1("SerializeManySparse", None, *parts, out_type=dtypes.variant)]

    def _from_tensor_list(self, tensors):
        (tensor,) = tensors
        if tensor.dtype.base_dtype != dtypes.variant:
            raise ValueError(f"{self} cannot be made of {tensor}, which is no variant")
        parts = op_list("DeserializeSparse", None, tensor, dtype=self._dtype)
        if self._shape.ndims is not None:
            rank = self._shape.ndims
            parts[0].set_shape([None, rank])
            parts[2].set_shape([rank])
        return SparseTensor(*parts)._with_shape(self._shape)

    def _batch(self, batch_size):
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)


def _spec_of(value):
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    return SparseTensorSpec(value.shape, value.dtype)


register_spec(1, SparseTensorSpec)
register_type_spec_from_value((SparseTensor, SparseTensorValue), _spec_of)
