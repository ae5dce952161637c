"""Elements of datasets and their tensors: an element is a structure of values, each of which has a
spec that says how it is taken apart into tensors and put together again."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor
from rheos.framework.sparse_tensor import SparseTensor, SparseTensorValue
from rheos.framework.sparse_tensor_spec import SparseTensorSpec
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.framework.tensor_spec import (
    TensorSpec,
    TypeSpec,
    has_own_type_spec,
    register_type_spec_from_value,
    type_spec_from_value,
)
from rheos.ops.flow.tensor_array_spec import TensorArraySpec  # noqa: F401  which knows arrays as parts
from rheos.ops.ragged.ragged_tensor import RaggedTensorValue, convert_to_tensor_or_ragged_tensor
from rheos.pipelines import nest


class NoneTensorSpec(TypeSpec):
    """What is said of None, a part of an element without tensors."""

    @property
    def value_type(self):
        """The class of None."""
        return type(None)

    def _serialize(self):
        return ()

    def is_compatible_with(self, spec_or_value):
        """Whether it is None, or the spec of that."""
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    @property
    def _flat_tensor_specs(self):
        return []

    def _to_tensor_list(self, value):
        return []

    _to_batched_tensor_list = _to_tensor_list

    def _from_tensor_list(self, tensors):
        return None

    def _batch(self, batch_size):
        return self

    def _unbatch(self):
        return self

    def _to_legacy_output_types(self):
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types


register_type_spec_from_value(type(None), lambda value: NoneTensorSpec())


def element_spec(element):
    """The structure of the specs of an element's values."""
    return nest.map_up_to(element, type_spec_from_value, element)


def _normal(value, number):
    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        return convert_to_tensor_or_ragged_tensor(value)
    if isinstance(value, list) and value and hasattr(value[0], "_put_together"):
        return value[0]._put_together(value)
    if isinstance(value, TypeSpec):
        raise TypeError(f"{value!r} says what a value is, and is none.")
    if has_own_type_spec(value):
        return value
    return convert_to_tensor(value, name=f"component_{number}")


def normalize_element(element):
    """The element, what is no tensor or the like made one."""
    number = iter(range(1 << 31))
    with name_scope("normalize_element"):
        return nest.map_up_to(element, lambda value: _normal(value, next(number)), element)


# ---- Tensors of elements


def flat_specs(spec):
    """The TensorSpecs of all tensors of an element."""
    return [one for leaf in nest.flatten(spec) for one in leaf._flat_tensor_specs]


def flat_types(spec):
    """Their dtypes."""
    return [one.dtype for one in flat_specs(spec)]


def flat_shapes(spec):
    """Their shapes."""
    return [one.shape for one in flat_specs(spec)]


def _tensors(spec, element, method):
    nest.assert_same_structure(spec, element)
    tensors = []
    for leaf, value in zip(nest.flatten(spec), nest.flatten_up_to(spec, element)):
        tensors += getattr(leaf, method)(value)
    return tensors


def to_tensor_list(spec, element):
    """The tensors of an element."""
    return _tensors(spec, element, "_to_tensor_list")


def to_batched_tensor_list(spec, element):
    """The tensors of an element whose rows along their first dimension are to be elements."""
    return _tensors(spec, element, "_to_batched_tensor_list")


def from_tensor_list(spec, tensors):
    """The element that consists of these tensors."""
    rest = iter(tensors)

    def make(leaf):
        return leaf._from_tensor_list([next(rest) for _ in leaf._flat_tensor_specs])

    return nest.map_up_to(spec, make, spec)


def batched(spec, batch_size):
    """The spec of elements put together; `batch_size` None if their number is not known."""
    return nest.map_up_to(spec, lambda leaf: leaf._batch(batch_size), spec)


def unbatched(spec):
    """The spec of the rows of an element."""
    return nest.map_up_to(spec, lambda leaf: leaf._unbatch(), spec)


def are_compatible(one, other):
    """Whether elements of one spec may be elements of the other."""
    try:
        nest.assert_same_structure(one, other)
    except (TypeError, ValueError):
        return False
    return all(
        a.is_compatible_with(b) for a, b in zip(nest.flatten(one), nest.flatten_up_to(one, other))
    )


def most_specific(one, other):
    """The narrowest spec that elements of both have; TypeError or ValueError if there is none."""
    return nest.map_structure(lambda a, b: a.most_specific_compatible_type(b), one, other)


# ---- Types, shapes and classes, as TensorFlow 1 says them


def legacy_types(spec):
    """The structure of dtypes."""
    return nest.map_up_to(spec, lambda leaf: leaf._to_legacy_output_types(), spec)


def legacy_shapes(spec):
    """The structure of shapes."""
    return nest.map_up_to(spec, lambda leaf: leaf._to_legacy_output_shapes(), spec)


def legacy_classes(spec):
    """The structure of the values' classes."""
    return nest.map_up_to(spec, lambda leaf: leaf._to_legacy_output_classes(), spec)


def as_shapes(types, shapes):
    """Shapes for a structure of dtypes; None for all: nothing is known."""
    if shapes is None:
        return nest.map_up_to(types, lambda _: TensorShape(None), types)
    return nest.map_up_to(types, lambda _, shape: _shape_of(shape), types, shapes)


def _shape_of(shape):
    return shape if isinstance(shape, TypeSpec) else as_shape(shape)


def _legacy_spec(dtype, shape, value_class):
    if isinstance(dtype, TypeSpec):
        return dtype
    if isinstance(value_class, TypeSpec):
        return value_class
    dtype = dtypes.as_dtype(dtype)
    if issubclass(value_class, SparseTensor):
        return SparseTensorSpec(shape, dtype)
    if issubclass(value_class, Tensor):
        return TensorSpec(shape, dtype)
    raise TypeError(f"Values of class {value_class!r} need a spec for their dtype.")


def from_legacy(types, shapes=None, classes=None):
    """The spec that structures of dtypes, shapes and classes say."""
    types = nest.map_up_to(
        types, lambda t: t if isinstance(t, TypeSpec) else dtypes.as_dtype(t), types
    )
    shapes = as_shapes(types, shapes)
    if classes is None:
        classes = nest.map_up_to(
            types, lambda t: t.value_type if isinstance(t, TypeSpec) else Tensor, types
        )
    return nest.map_up_to(types, _legacy_spec, types, shapes, classes)


def as_spec(structure):
    """A structure of specs, in which a dtype stands for a tensor of any shape."""
    return nest.map_up_to(
        structure,
        lambda leaf: leaf if isinstance(leaf, TypeSpec) else TensorSpec(None, leaf),
        structure,
    )
