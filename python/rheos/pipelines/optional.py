"""Optionals: values that may not be there."""

from rheos.framework import dtypes
from rheos.framework.graph import name_scope
from rheos.framework.marks import CompositeTensor
from rheos.framework.op_call import op1, op_list
from rheos.framework.structured import register_spec
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, register_type_spec_from_value
from rheos.pipelines import structure


class Optional(CompositeTensor):
    """A value, or none, as a variant tensor; the value is an element of a dataset."""

    def __init__(self, variant_tensor, value_structure):
        self._variant_tensor = variant_tensor
        self._element_spec = value_structure

    @staticmethod
    def from_value(value):
        """An optional that holds the value."""
        with name_scope("optional"):
            with name_scope("value"):
                value = structure.normalize_element(value)
                spec = structure.element_spec(value)
                tensors = structure.to_tensor_list(spec, value)
            variant = op1("OptionalFromValue", None, tensors)
        return Optional(variant, spec)

    @staticmethod
    def none_from_structure(value_structure):
        """One without a value, which would have this structure of specs."""
        return Optional(op1("OptionalNone", None), value_structure)

    empty = none_from_structure

    def has_value(self, name=None):
        """Whether there is a value, a bool tensor."""
        return op1("OptionalHasValue", name, self._variant_tensor)

    def get_value(self, name=None):
        """The value; a step that asks fails if there is none."""
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            tensors = op_list(
                "OptionalGetValue",
                scope,
                self._variant_tensor,
                output_types=structure.flat_types(self._element_spec),
                output_shapes=structure.flat_shapes(self._element_spec),
            )
        return structure.from_tensor_list(self._element_spec, tensors)

    @property
    def _parts(self):
        return [self._variant_tensor]

    def _with_parts(self, parts):
        return Optional(parts[0], self._element_spec)

    @property
    def value_structure(self):
        """The structure of specs of the value."""
        return self._element_spec

    element_spec = value_structure

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)


class OptionalSpec(TypeSpec):
    """What is said of an optional: the structure of its value."""

    __slots__ = ("_value_structure",)

    def __init__(self, element_spec=None, value_structure=None):
        self._value_structure = element_spec if value_structure is None else value_structure

    @property
    def value_type(self):
        """Optional."""
        return Optional

    def _serialize(self):
        return (self._value_structure,)

    @staticmethod
    def from_value(value):
        """That of an optional."""
        return OptionalSpec(value.value_structure)

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _of_specs(self):
        """An Optional that has a TensorSpec in place of its variant."""
        return Optional(TensorSpec([], dtypes.variant), self._value_structure)

    def _to_tensor_list(self, value):
        return [value._variant_tensor]

    def _from_tensor_list(self, tensors):
        return Optional(tensors[0], self._value_structure)

    def _to_legacy_output_types(self):
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types


register_spec(7, OptionalSpec)
register_type_spec_from_value(Optional, lambda value: value._type_spec)


def get_next_as_optional(iterator):
    """The next element of an iterator, at its end an optional without a value."""
    spec = iterator.element_spec
    variant = op1(
        "IteratorGetNextAsOptional",
        None,
        iterator._iterator_resource,
        output_types=structure.flat_types(spec),
        output_shapes=structure.flat_shapes(spec),
    )
    return Optional(variant, spec)
