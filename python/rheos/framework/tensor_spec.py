"""What is said of a value without having one: the kind of it, its shape, dtype and name.

A spec also says how a value is taken apart into tensors, one for each component of an element of a
dataset, and put together again.
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.tensor_shape import TensorShape


class TypeSpec:
    """The type of a value; TensorSpec is the kind for tensors. Equal ones hash alike."""

    __slots__ = ()

    @property
    def value_type(self):
        """The class of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self):
        """A tuple that tells the spec from others of its class, and makes it anew."""
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @classmethod
    def _deserialize(cls, serialized):
        """The spec that a tuple of `_serialize()` tells."""
        return cls(*serialized)

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or what another spec describes, may be of this type."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        if type(other) is not type(self):
            return False
        return _are_compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other):
        """The narrowest spec that both fit; ValueError if there is none."""
        if type(other) is not type(self):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return type(self)(*_widest(self, other, self._serialize(), other._serialize()))

    def is_subtype_of(self, other):
        """Whether each value of this type is one of the other type, too."""
        return type(self) is type(other) and _is_narrower(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others):
        """The narrowest spec of all values of this type and of others; None if there is none."""
        whole = self
        for other in others:
            if type(other) is not type(self):
                return None
            try:
                parts = _widest(whole, other, whole._serialize(), other._serialize())
            except ValueError:
                return None
            whole = type(self)(*parts)
        return whole

    def _of_specs(self):
        """What stands for a value of several tensors: TensorSpecs in place of these, or itself."""
        return self

    # ---- As components of elements

    @property
    def _flat_tensor_specs(self):
        """The TensorSpecs of the tensors that `_to_tensor_list` gives."""
        raise NotImplementedError(f"{type(self).__name__}._flat_tensor_specs")

    def _to_tensor_list(self, value):
        raise NotImplementedError(f"{type(self).__name__}._to_tensor_list")

    def _from_tensor_list(self, tensors):
        raise NotImplementedError(f"{type(self).__name__}._from_tensor_list")

    def _to_batched_tensor_list(self, value):
        """The same tensors with a first dimension, along which the rows of `value` are."""
        raise NotImplementedError(f"{type(self).__name__}._to_batched_tensor_list")

    def _batch(self, batch_size):
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self):
        raise NotImplementedError(f"{type(self).__name__}._unbatch")

    def _to_legacy_output_types(self):
        return self.dtype

    def _to_legacy_output_shapes(self):
        return self.shape

    def _to_legacy_output_classes(self):
        return self.value_type

    # ---- Comparison

    def __eq__(self, other):
        return type(self) is type(other) and _key(self._serialize()) == _key(other._serialize())

    def __hash__(self):
        return hash((type(self), _key(self._serialize())))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self._serialize()))})"

    def __reduce__(self):
        return type(self), self._serialize()


def _key(item):
    """A part of `_serialize()` as something that hashes."""
    if isinstance(item, TensorShape):
        return ("shape", None if item.ndims is None else tuple(item.as_list()))
    if isinstance(item, dict):
        return (dict, *sorted((k, _key(v)) for k, v in item.items()))
    if isinstance(item, (list, tuple)):
        return (type(item), *map(_key, item))
    return item


def _is_narrower(one, other):
    if isinstance(one, (TensorShape, TypeSpec)):
        return type(one) is type(other) and one.is_subtype_of(other)
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(_is_narrower(one[key], other[key]) for key in one)
        )
    if isinstance(one, (list, tuple)):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(map(_is_narrower, one, other))
        )
    return one == other


def _are_compatible(one, other):
    if isinstance(one, TensorShape):
        return one.is_compatible_with(other)
    if isinstance(one, dtypes.DType):
        return one.is_compatible_with(other)
    if isinstance(one, TypeSpec):
        return one.is_compatible_with(other)
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(_are_compatible(one[key], other[key]) for key in one)
        )
    if isinstance(one, (list, tuple)):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(map(_are_compatible, one, other))
        )
    return one == other


def most_specific_shape(one, other):
    """The shape with the dimensions that two shapes have in common."""
    if one.ndims is None or one.ndims != other.ndims:
        return TensorShape(None)
    return TensorShape([a if a == b else None for a, b in zip(one.as_list(), other.as_list())])


def _widest(left, right, one, other):
    if isinstance(one, TensorShape):
        return most_specific_shape(one, other)
    if isinstance(one, TypeSpec) and isinstance(other, TypeSpec):
        return one.most_specific_compatible_type(other)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: _widest(left, right, one[key], other[key]) for key in one}
    if isinstance(one, (list, tuple)) and type(one) is type(other) and len(one) == len(other):
        parts = [_widest(left, right, a, b) for a, b in zip(one, other)]
        return type(one)(*parts) if hasattr(one, "_fields") else type(one)(parts)
    if one == other:
        return one
    raise ValueError(f"No TypeSpec is compatible with both {left} and {right}")


class TensorSpec(TypeSpec):
    """A tensor's shape, dtype and name. Equal ones are the same key of a dictionary.

    >>> tf.TensorSpec([None, 2], tf.float32).is_compatible_with(tf.ones([5, 2]))
    True
    """

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec, name=None):
        """The same as another one, by its name if none is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """That of a Tensor; ValueError if it is none."""
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        if name is None and not tensor._is_eager:
            name = tensor.op.name
        return cls(tensor.shape, tensor.dtype, name)

    @property
    def value_type(self):
        """Tensor."""
        return Tensor

    @property
    def shape(self):
        """The TensorShape that values have, unknown sizes being None."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of values."""
        return self._dtype

    @property
    def name(self):
        """The name of the argument, or None."""
        return self._name

    def _serialize(self):
        return self._shape, self._dtype, self._name

    def is_subtype_of(self, other):
        """Whether each tensor of this spec is one of the other. A name has to be the same."""
        return (
            type(self) is type(other)
            and self._shape.is_subtype_of(other._shape)
            and self._dtype == other._dtype
            and (self._name is None or self._name == other._name)
        )

    def is_compatible_with(self, spec_or_tensor):
        """Whether a tensor, or another spec, has this dtype and a shape that may be this one."""
        return (
            isinstance(spec_or_tensor, (Tensor, TensorSpec))
            and self._dtype.is_compatible_with(spec_or_tensor.dtype)
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def most_specific_compatible_type(self, other):
        """The narrowest spec that both fit; ValueError if there is none."""
        if not isinstance(other, TensorSpec) or self._dtype != other.dtype:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return TensorSpec(most_specific_shape(self._shape, other.shape), self._dtype)

    @property
    def _flat_tensor_specs(self):
        return [self]

    def _to_tensor_list(self, value):
        tensor = convert_to_tensor(value, self._dtype)
        if not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"The value {value} of shape {tensor.shape} is not compatible with {self}"
            )
        return [tensor]

    def _from_tensor_list(self, tensors):
        (tensor,) = tensors
        if tensor.dtype.base_dtype != self._dtype:
            raise ValueError(f"The tensor {tensor} is not of the dtype of {self}")
        tensor.set_shape(self._shape)
        return tensor

    def _to_batched_tensor_list(self, value):
        tensor = convert_to_tensor(value, self._dtype)
        if tensor.shape.ndims == 0:
            raise ValueError(f"Unbatching a tensor is only supported for rank >= 1: {tensor}")
        return [tensor]

    def _batch(self, batch_size):
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


# ---- Specs of values

_SPECS = []  # (types, function that gives the spec of a value of theirs)


def register_type_spec_from_value(types, function):
    """Makes `function(value)` give the spec of values of a class."""
    _SPECS.append((types, function))


def has_own_type_spec(value):
    """Whether a class of values that are no tensors has specs of its own for the value."""
    return any(isinstance(value, types) for types, _ in _SPECS)


def type_spec_from_value(value):
    """The spec of a value: of what is no tensor, that of the tensor it converts to. TypeError."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, _VariableBase):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    for types, function in _SPECS:
        if isinstance(value, types):
            return function(value)
    try:
        tensor = convert_to_tensor(value)
    except (ValueError, TypeError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype.base_dtype)
