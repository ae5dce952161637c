"""Types of the program that hold tensors: tf.experimental.ExtensionType."""

import collections.abc
import inspect
import types
import typing

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.marks import CompositeTensor
from rheos.framework.operation import Tensor
from rheos.framework.structured import register_named_spec
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import (
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value,
    type_spec_from_value,
)
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops

_RESERVED = ("Spec", "_parts", "_with_parts", "_static_part")


class ImmutableDict(collections.abc.Mapping):
    """A dict that does not change, which fields have in place of dicts."""

    def __init__(self, *args, **kwargs):
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        return f"ImmutableDict({self._items!r})"


# ---- Fields, by their annotations


def _refuse(field, wanted, value):
    return TypeError(f"{field}: expected {wanted}, got {type(value).__name__!r}: {value!r}")


def _converted(value, wanted, field):
    """A value as an annotation asks for it; TypeError if it is none such."""
    if isinstance(value, TensorSpec) and (wanted is Tensor or isinstance(wanted, TensorSpec)):
        return value
    if wanted is Tensor:
        try:
            return value if isinstance(value, Tensor) else convert_to_tensor(value)
        except (TypeError, ValueError):
            raise _refuse(field, "a Tensor", value) from None
    if isinstance(wanted, TensorSpec):
        return _of_spec(value, wanted, field)
    origin, args = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return _of_any(value, args, field)
    if origin is tuple:
        return _of_tuple(value, args, field)
    if origin in (dict, collections.abc.Mapping):
        if not isinstance(value, collections.abc.Mapping):
            raise _refuse(field, "a mapping", value)
        return ImmutableDict(
            {k: _converted(v, args[1], f"{field}[{k!r}]") for k, v in value.items()}
        )
    if wanted is typing.Any or origin is collections.abc.Callable:
        return value
    if wanted in (None, type(None)):
        if value is not None:
            raise _refuse(field, "None", value)
        return value
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    kind = origin or wanted
    is_wrong_bool = isinstance(value, bool) and kind is int
    if isinstance(kind, type) and (not isinstance(value, kind) or is_wrong_bool):
        raise _refuse(field, f"a {kind.__name__}", value)
    return value


def _of_spec(value, spec, field):
    tensor = value
    if not isinstance(value, Tensor):
        try:
            tensor = convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError):
            raise _refuse(field, f"a Tensor of {spec}", value) from None
    if tensor.dtype.base_dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        raise _refuse(field, f"a Tensor of {spec}", value)
    return tensor


def _of_any(value, kinds, field):
    for kind in kinds:
        try:
            return value if kind is type(None) and value is None else _as_is(value, kind, field)
        except TypeError:
            continue
    for kind in kinds:
        try:
            return _converted(value, kind, field)
        except TypeError:
            continue
    raise _refuse(field, f"one of {kinds}", value)


def _as_is(value, kind, field):
    """The value, if it needs no conversion; else TypeError."""
    if kind is type(None) or (kind is Tensor and not isinstance(value, (Tensor, TensorSpec))):
        raise _refuse(field, kind, value)
    return _converted(value, kind, field)


def _of_tuple(value, args, field):
    if not isinstance(value, (list, tuple)):
        raise _refuse(field, "a tuple", value)
    if len(args) == 2 and args[1] is Ellipsis:
        args = [args[0]] * len(value)
    if len(args) != len(value):
        raise _refuse(field, f"a tuple of {len(args)}", value)
    return tuple(_converted(v, a, f"{field}[{i}]") for i, (v, a) in enumerate(zip(value, args)))


def _leaves(value):
    """The tensors in a field, and what makes the field of others in their place."""
    if isinstance(value, (Tensor, TensorSpec)):
        return [value], lambda parts: next(parts)
    if nest.is_composite(value):
        inner = nest.flatten(value, expand_composites=True)
        return inner, lambda parts: nest.pack_sequence_as(
            value, [next(parts) for _ in inner], expand_composites=True
        )
    if isinstance(value, tuple):
        found = [_leaves(one) for one in value]
        return (
            [leaf for one, _ in found for leaf in one],
            lambda parts: tuple(make(parts) for _, make in found),
        )
    if isinstance(value, ImmutableDict):
        found = {key: _leaves(value[key]) for key in value}
        return (
            [leaf for one, _ in found.values() for leaf in one],
            lambda parts: ImmutableDict({k: make(parts) for k, (_, make) in found.items()}),
        )
    return [], lambda parts: value


def _with_shapes(value, change):
    """A field whose shapes are changed."""
    if isinstance(value, TensorShape):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_with_shapes(one, change) for one in value)
    if isinstance(value, ImmutableDict):
        return ImmutableDict({key: _with_shapes(value[key], change) for key in value})
    return value


def _static(value):
    """What a field holds besides tensors, as something that hashes."""
    if isinstance(value, (Tensor, TensorSpec)):
        return "tensor"
    if nest.is_composite(value):
        return type(value), getattr(value, "_static_part", None)
    if isinstance(value, tuple):
        return tuple(map(_static, value))
    if isinstance(value, ImmutableDict):
        return tuple((key, _static(value[key])) for key in value)
    if isinstance(value, TensorShape):
        return repr(value)
    return type(value), value


# ---- Types


def _is_named(annotation):
    """Whether an annotation has the name of a type in it, in place of the type."""
    if isinstance(annotation, (str, typing.ForwardRef)):
        return True
    return any(map(_is_named, typing.get_args(annotation)))


class _Meta(type):
    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        fields = {}
        for base in reversed(cls.__mro__):
            if isinstance(base, _Meta):
                fields.update(vars(base).get("__annotations__", {}))
        for field in fields:
            if field in _RESERVED or field.startswith("_tf_extension_type"):
                raise ValueError(f"The field name '{field}' is reserved.")
        cls._fields_of_type = fields
        own = namespace.get("Spec")
        kinds = (ExtensionTypeSpec,) if own is None else (own, ExtensionTypeSpec)
        is_root = not any(isinstance(base, _Meta) for base in bases)
        cls.Spec = None if is_root else type("Spec", kinds, {"_type": cls})
        if cls.Spec is not None:
            cls.Spec.__qualname__ = f"{cls.__qualname__}.Spec"
            cls.Spec.__module__ = cls.__module__
            if isinstance(namespace.get("__name__"), str):
                register_named_spec(f"{namespace['__name__']}.Spec", cls.Spec)

    def _resolve_fields(cls):
        """Puts types in place of their names, which may be given before the types are made."""
        fields = cls._fields_of_type
        named = [field for field, wanted in fields.items() if _is_named(wanted)]
        if not named:
            return
        try:
            hints = typing.get_type_hints(cls, localns={cls.__name__: cls})
        except NameError as error:
            unknown = next((f for f in named if error.name in repr(fields[f])), named[0])
            raise TypeError(
                f"{unknown}: Unsupported type annotation {fields[unknown]!r}: {error}"
            ) from None
        fields.update((field, hints[field]) for field in named)

    def __call__(cls, *args, **kwargs):
        cls._resolve_fields()
        made = cls.__new__(cls)
        object.__setattr__(made, "_is_open", True)
        made.__init__(*args, **kwargs)
        for field, wanted in cls._fields_of_type.items():
            if field not in vars(made):
                raise AttributeError(f"The constructor of {cls.__name__} did not set '{field}'.")
            vars(made)[field] = _converted(vars(made)[field], wanted, field)
        object.__delattr__(made, "_is_open")
        made.__validate__()
        return made

    @property
    def __signature__(cls):
        own = cls.__mro__[: cls.__mro__.index(ExtensionType)]
        if cls is ExtensionType or any("__init__" in vars(base) for base in own):
            return inspect.signature(cls.__init__)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        none = inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(field, kind, default=getattr(cls, field, none))
                for field in cls._fields_of_type
            ]
        )


class ExtensionTypeSpec(TypeSpec):
    """What is said of a value of an ExtensionType: specs in place of its tensors."""

    _type = None

    def __init__(self, *args, **kwargs):
        vars(self).update(_bound(self._type, args, kwargs))

    @classmethod
    def from_value(cls, value):
        """The spec of a value."""
        return cls._of(value._with_parts([_unnamed(part) for part in value._parts]))

    @classmethod
    def _of(cls, specs):
        """The spec of a value that has TensorSpecs in place of its tensors."""
        made = cls.__new__(cls)
        vars(made).update({f: _as_spec(vars(specs)[f]) for f in cls._type._fields_of_type})
        return made

    @property
    def _specs(self):
        made = self._type.__new__(self._type)
        for field in self._type._fields_of_type:
            if field not in vars(self):
                raise AttributeError(f"{type(self).__qualname__} has no '{field}'")
            value = vars(self)[field]
            vars(made)[field] = value._of_specs() if isinstance(value, TypeSpec) else value
        return made

    @property
    def value_type(self):
        """The class of the values."""
        return self._type

    def _serialize(self):
        return tuple((key, vars(self).get(key)) for key in self._type._fields_of_type)

    @classmethod
    def _deserialize(cls, serialized):
        return _spec_of_fields(cls, dict(serialized))

    def __reduce__(self):
        return _spec_of_fields, (type(self), dict(self._serialize()))

    def most_specific_compatible_type(self, other):
        """The narrowest spec that both fit; ValueError if there is none."""
        if type(other) is not type(self):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        pairs = zip(self._specs._parts, other._specs._parts)
        return self._of_parts([a.most_specific_compatible_type(b) for a, b in pairs])

    def _of_specs(self):
        return self._specs

    def __repr__(self):
        inside = ", ".join(f"{key}={value!r}" for key, value in self._serialize())
        return f"{self._type.__qualname__}.Spec({inside})"

    # As components of elements of datasets

    @property
    def _flat_tensor_specs(self):
        return list(self._specs._parts)

    def _to_tensor_list(self, value):
        return list(value._parts)

    def _from_tensor_list(self, tensors):
        return self._specs._with_parts(list(tensors))

    def _to_batched_tensor_list(self, value):
        return list(value._parts)

    def _of_parts(self, parts):
        return self._of(self._specs._with_parts(parts))

    def _batch(self, batch_size):
        made = self._of_parts([part._batch(batch_size) for part in self._specs._parts])
        return made._with_shapes(TensorShape([batch_size]).concatenate)

    def _unbatch(self):
        made = self._of_parts([part._unbatch() for part in self._specs._parts])
        return made._with_shapes(lambda shape: shape[1:])

    def _with_shapes(self, change):
        """Itself, whose fields that are shapes are changed: they are of a row, or of all rows."""
        for field in self._type._fields_of_type:
            vars(self)[field] = _with_shapes(vars(self)[field], change)
        return self

    def _to_legacy_output_types(self):
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types


def _bound(kind, args, kwargs):
    """The fields of a type by name, of arguments in their order, with defaults."""
    kind._resolve_fields()
    fields = kind._fields_of_type
    if len(args) > len(fields) or any(key not in fields for key in kwargs):
        raise TypeError(f"{kind.__name__}.Spec takes {list(fields)}, got {args} and {kwargs}")
    given = {**dict(zip(fields, args)), **kwargs}
    for field in fields:
        if field not in given:
            if not hasattr(kind, field):
                raise TypeError(f"{kind.__name__}.Spec is missing '{field}'")
            given[field] = getattr(kind, field)
    return given


def _spec_of_fields(kind, fields):
    made = kind.__new__(kind)
    vars(made).update(fields)
    return made


def _unnamed(part):
    return TensorSpec(part.shape, part.dtype.base_dtype)


def _as_spec(value):
    if isinstance(value, TypeSpec) or not nest.is_composite(value):
        return value
    return type_spec_from_value(value)


class ExtensionType(CompositeTensor, metaclass=_Meta):
    """A type whose fields are its annotations: tensors, other such types, values of Python.

    Values do not change. Functions traced, branches, loops and datasets take and give them. A
    subclass may have a constructor, which sets the fields, and `__validate__`, which checks them.
    """

    def __init__(self, *args, **kwargs):
        bound = type(self).__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        for field, value in bound.arguments.items():
            setattr(self, field, value)

    def __validate__(self):
        """Checks the fields."""

    def __setattr__(self, name, value):
        if "_is_open" not in vars(self):
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
            )
        if name not in self._fields_of_type:
            raise AttributeError(f"'{type(self).__name__}' has no field '{name}'")
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        raise AttributeError(
            f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
        )

    def __repr__(self):
        inside = ", ".join(f"{f}={vars(self)[f]!r}" for f in self._fields_of_type)
        return f"{type(self).__qualname__}({inside})"

    def __eq__(self, other):
        if type(self) is not type(other) or self._static_part != other._static_part:
            return False
        pairs = list(zip(self._parts, other._parts))
        if len(self._parts) != len(other._parts) or any(
            not a.shape.is_compatible_with(b.shape) or a.dtype != b.dtype for a, b in pairs
        ):
            return False
        same = [math_ops.reduce_all(math_ops.equal(a, b)) for a, b in pairs]
        return math_ops.reduce_all(array_ops.stack(same)) if same else True

    def __ne__(self, other):
        same = self.__eq__(other)
        return math_ops.logical_not(same) if isinstance(same, Tensor) else not same

    __hash__ = None

    @property
    def _parts(self):
        return [part for f in self._fields_of_type for part in _leaves(vars(self)[f])[0]]

    def _with_parts(self, parts):
        rest = iter(parts)
        made = type(self).__new__(type(self))
        for field in self._fields_of_type:
            vars(made)[field] = _leaves(vars(self)[field])[1](rest)
        return made

    @property
    def _static_part(self):
        return tuple((f, _static(vars(self)[f])) for f in self._fields_of_type)

    def _shapes_of_parts(self, shape):
        return [part.shape for part in self._parts]


class BatchableExtensionType(ExtensionType):
    """An ExtensionType whose values datasets put together and take apart along the first dimension
    of their tensors."""


def as_dict(value):
    """The fields of a value by name."""
    return {field: vars(value)[field] for field in value._fields_of_type}


register_type_spec_from_value(ExtensionType, lambda value: type(value).Spec.from_value(value))
