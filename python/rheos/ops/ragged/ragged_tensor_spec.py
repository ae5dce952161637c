"""What is said of a ragged tensor without having one."""

from rheos.framework import dtypes
from rheos.framework.op_call import op1, op_list
from rheos.framework.structured import register_spec
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, register_type_spec_from_value
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    RaggedTensorValue,
    convert_to_tensor_or_ragged_tensor,
)


class RaggedTensorSpec(TypeSpec):
    """A ragged tensor's shape, dtype, number of ragged dimensions and dtype of the splits.

    shape: ragged dimensions are None. ragged_rank: by default all dimensions but the first are
    ragged; 0 is a tensor without ragged dimensions.
    """

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")

    def __init__(
        self,
        shape=None,
        dtype=dtypes.float32,
        ragged_rank=None,
        row_splits_dtype=dtypes.int64,
    ):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        rank = self._shape.ndims
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if rank is not None and not 0 <= ragged_rank < max(rank, 1):
            raise ValueError(f"ragged_rank must be less than rank ({rank}), got {ragged_rank}.")
        self._ragged_rank = ragged_rank

    @property
    def value_type(self):
        """RaggedTensor; without ragged dimensions Tensor."""
        return RaggedTensor if self._ragged_rank > 0 else TensorSpec(None).value_type

    @property
    def shape(self):
        """The TensorShape; ragged axes have the size None."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self):
        """The dtype of the splits."""
        return self._row_splits_dtype

    @staticmethod
    def from_value(value):
        """That of a ragged tensor."""
        return RaggedTensorSpec(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def _serialize(self):
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    # A component is a variant that holds splits and values.

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_variant(self, value, is_batched):
        value = convert_to_tensor_or_ragged_tensor(value)
        splits, values = [], value
        if isinstance(value, RaggedTensor):
            splits, values = list(value.nested_row_splits), value.flat_values
        return op1(
            "RaggedTensorToVariant",
            None,
            splits,
            values,
            batched_input=is_batched,
            Tsplits=self._row_splits_dtype,
        )

    def _to_tensor_list(self, value):
        return [self._to_variant(value, False)]

    def _to_batched_tensor_list(self, value):
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a scalar is not supported.")
        return [self._to_variant(value, True)]

    def _from_tensor_list(self, tensors):
        (tensor,) = tensors
        if tensor.dtype.base_dtype != dtypes.variant:
            raise ValueError(f"{self} cannot be made of {tensor}, which is no variant")
        parts = op_list(
            "RaggedTensorFromVariant",
            None,
            tensor,
            input_ragged_rank=-1,
            output_ragged_rank=self._ragged_rank,
            Tvalues=self._dtype,
            Tsplits=self._row_splits_dtype,
        )
        values = parts[-1]
        if self._ragged_rank == 0:
            values.set_shape(self._shape)
            return values
        if self._shape.ndims is not None:
            values.set_shape([None, *self._shape.as_list()[self._ragged_rank + 1 :]])
        return RaggedTensor.from_nested_row_splits(values, parts[:-1], validate=False)

    def _batch(self, batch_size):
        return RaggedTensorSpec(
            TensorShape([batch_size]).concatenate(self._shape),
            self._dtype,
            self._ragged_rank + 1,
            self._row_splits_dtype,
        )

    def _unbatch(self):
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a scalar is not supported.")
        rank = max(self._ragged_rank - 1, 0)
        return RaggedTensorSpec(self._shape[1:], self._dtype, rank, self._row_splits_dtype)

    def _of_specs(self):
        """A RaggedTensor that has TensorSpecs in place of its tensors."""
        rank, ragged = self._shape.ndims, self._ragged_rank
        inner = None if rank is None else [None, *self._shape.as_list()[ragged + 1 :]]
        values = TensorSpec(inner, self._dtype)
        if ragged == 0:
            return TensorSpec(self._shape, self._dtype)
        rows = self._shape.as_list()[0] if rank is not None else None
        splits = [TensorSpec([None], self._row_splits_dtype)] * (ragged - 1)
        first = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        return RaggedTensor._of_parts([values, first, *splits])

    def _to_legacy_output_classes(self):
        return self

    def __repr__(self):
        return (
            f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, "
            f"{self._row_splits_dtype!r})"
        )


def _spec_of(value):
    if isinstance(value, RaggedTensorValue):
        value = convert_to_tensor_or_ragged_tensor(value)
    return RaggedTensorSpec.from_value(value)


register_spec(3, RaggedTensorSpec)
register_type_spec_from_value((RaggedTensor, RaggedTensorValue), _spec_of)
