"""TensorArraySpec: what is said of an array of tensors as a part of a structure of values."""

from rheos.framework import dtypes
from rheos.framework.structured import register_spec
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, register_type_spec_from_value
from rheos.ops.flow.tensor_array_ops import TensorArray, _ListArray


class TensorArraySpec(TypeSpec):
    """The dtype and shape of an array's elements, and whether it grows.

    Only arrays whose tensors are a list, those of version 2, can be parts of elements.
    """

    __slots__ = ("_element_shape", "_dtype", "_dynamic_size", "_infer_shape")

    def __init__(
        self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True
    ):
        self._element_shape = TensorShape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = bool(dynamic_size), bool(infer_shape)

    @property
    def value_type(self):
        """TensorArray."""
        return TensorArray

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self._dtype

    @property
    def element_shape(self):
        """What is known of the shape of all elements."""
        return self._element_shape

    @staticmethod
    def from_value(value):
        """That of an array."""
        return TensorArraySpec(
            value.element_shape, value.dtype, value._dynamic_size, value._infer_shape
        )

    def _serialize(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_tensor_list(self, value):
        return [value.flow]

    def _from_tensor_list(self, tensors):
        (flow,) = tensors
        return _ListArray(
            self._dtype,
            flow=flow,
            dynamic_size=self._dynamic_size,
            infer_shape=self._infer_shape,
            element_shape=self._element_shape,
        )

    def _batch(self, batch_size):
        raise NotImplementedError("arrays of tensors cannot be put together by a batch")

    def _unbatch(self):
        raise NotImplementedError("an array of tensors has no rows to unbatch")

    def _to_legacy_output_shapes(self):
        flags = TensorShape([int(self._dynamic_size), int(self._infer_shape)])
        return flags.concatenate(self._element_shape)


register_spec(4, TensorArraySpec)
register_type_spec_from_value(_ListArray, TensorArraySpec.from_value)
