"""What is said of a tensor without having one: its shape, dtype and name."""

from rheos.framework import dtypes
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape


class TypeSpec:
    """The type of a value; TensorSpec is the kind for tensors."""


class TensorSpec(TypeSpec):
    """A tensor's shape, dtype and name. Equal ones are the same key of a dictionary."""

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
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def name(self):
        return self._name

    def is_compatible_with(self, spec_or_tensor):
        """Whether a tensor, or another spec, has this dtype and a shape that may be this one."""
        return (
            isinstance(spec_or_tensor, (Tensor, TensorSpec))
            and self._dtype.is_compatible_with(spec_or_tensor.dtype)
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def _key(self):
        dims = None if self._shape.ndims is None else tuple(self._shape.as_list())
        return dims, self._dtype, self._name

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self):
        return type(self), (self._shape, self._dtype, self._name)
