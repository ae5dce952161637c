"""What of a call's arguments decides which traced function it takes.

The kind of an argument is a hashable value: of a tensor its dtype and shape, of Python's numbers
and texts the value, of other objects a weak reference. Equal kinds share a trace.
"""

import weakref

import numpy as np

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.framework.tensor_spec import (
    TensorSpec,
    TypeSpec,
    has_own_type_spec,
    type_spec_from_value,
)
from rheos.framework.trace_types import OwnKind
from rheos.ops.state.eager_variables import EagerVariable

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice)


class TensorKind:
    """The kind of tensors of a dtype and of shapes that fit one."""

    __slots__ = ("dtype", "dims", "is_variable", "_hash")

    def __init__(self, dtype, dims):
        self.dtype = dtype
        self.dims = dims  # a tuple with None for what is not known; None if the rank is not
        self._hash = hash((dtype.as_datatype_enum, dims))

    def __eq__(self, other):
        return (
            isinstance(other, TensorKind) and self.dims == other.dims and self.dtype == other.dtype
        )

    def __hash__(self):
        return self._hash

    def accepts(self, other):
        """Whether tensors of the other kind are of this one too."""
        if not isinstance(other, TensorKind) or self.dtype != other.dtype:
            return False
        if self.dims is None:
            return True
        if other.dims is None or len(self.dims) != len(other.dims):
            return False
        return all(a is None or a == b for a, b in zip(self.dims, other.dims))

    def relaxed(self, other):
        """The kind of tensors of both; None if there is none."""
        if not isinstance(other, TensorKind) or self.dtype != other.dtype:
            return None
        if self.dims is None or other.dims is None or len(self.dims) != len(other.dims):
            return TensorKind(self.dtype, None)
        dims = tuple(a if a == b else None for a, b in zip(self.dims, other.dims))
        return TensorKind(self.dtype, dims)

    def spec(self, name=None):
        """The kind as a TensorSpec."""
        return TensorSpec(TensorShape(self.dims), self.dtype, name)

    def __repr__(self):
        return f"a tensor of {self.dtype.name} and shape {TensorShape(self.dims)}"


class VariableSpec:
    """A variable among the arguments, and its kind: calls may give any other that is like it.

    alias: which one of the call's variables it is, since one may be there twice. traced_for: the
    variable that the function is traced for, by a weak reference.
    """

    __slots__ = ("dtype", "shape", "trainable", "alias", "name", "traced_for")

    def __init__(self, dtype, shape, trainable, alias, name=None, traced_for=None):
        self.dtype, self.shape = dtype, shape
        self.trainable, self.alias, self.name = trainable, alias, name
        self.traced_for = traced_for

    @property
    def _key(self):
        dims = self.shape.dims
        sizes = None if dims is None else tuple(dim.value for dim in dims)
        return self.dtype.as_datatype_enum, sizes, self.trainable, self.alias

    def __eq__(self, other):
        return isinstance(other, VariableSpec) and self._key == other._key

    def __hash__(self):
        return hash(self._key)

    def accepts(self, value):
        """Whether a value is such a variable."""
        return (
            _is_argument(value)
            and value.dtype == self.dtype
            and self.shape.is_compatible_with(value.shape)
        )

    def _as_argument_of(self, graph, name):
        handle = graph.add_argument(dtypes.resource, (), self.name or name, self.shape)
        known = graph.__dict__.setdefault("_variable_arguments", {})
        if self.alias not in known:
            known[self.alias] = EagerVariable.behind(
                handle, self.dtype, self.shape, self.trainable, self.name or "Variable"
            )
            known[self.alias].traced_for = self.traced_for
        return known[self.alias]

    def __repr__(self):
        return f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, alias_id={self.alias})"


def _is_argument(value):
    """Whether a value is a variable whose handle a function can be given."""
    return isinstance(value, EagerVariable) and not value._is_distributed


def _variable_spec(variable, aliases):
    alias = aliases.setdefault(id(variable.handle), len(aliases))
    traced_for = variable.traced_for or weakref.ref(variable)
    return VariableSpec(
        variable.dtype, variable.shape, bool(variable.trainable), alias, traced_for=traced_for
    )


class ValueKind:
    """A value of Python. As in TensorFlow, 1, 1.0 and True are of one kind."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, ValueKind) and self.value == other.value

    def __hash__(self):
        value = self.value
        if isinstance(value, slice):
            value = (value.start, value.stop, value.step)
        return hash(value)

    def __repr__(self):
        return f"the Python value {self.value!r}"


class ObjectKind:
    """An object, which the kind does not keep alive."""

    __slots__ = ("_reference", "_id")

    def __init__(self, value):
        self._id = id(value)
        try:
            self._reference = weakref.ref(value)
        except TypeError:
            hash(value)  # TypeError if it cannot be told apart
            self._reference = lambda: value

    def __eq__(self, other):
        if not isinstance(other, ObjectKind):
            return False
        one = self._reference()
        return one is not None and one is other._reference()

    def __hash__(self):
        return hash(self._id)

    def is_alive(self):
        return self._reference() is not None

    def __repr__(self):
        value = self._reference()
        if value is None:
            return "an object that is gone"
        return f"the {type(value).__name__} object at {id(value):#x}"


class PartsKind:
    """A list, tuple or dict of kinds, or a composite tensor of them."""

    __slots__ = ("type", "keys", "parts")

    def __init__(self, kind, keys, parts):
        self.type = kind
        self.keys = keys
        self.parts = parts

    def __eq__(self, other):
        return (
            isinstance(other, PartsKind)
            and self.type is other.type
            and self.keys == other.keys
            and self.parts == other.parts
        )

    def __hash__(self):
        return hash((self.type, self.keys, self.parts))

    def __repr__(self):
        if self.keys is not None:
            inside = ", ".join(f"{k!r}: {part!r}" for k, part in zip(self.keys, self.parts))
        else:
            inside = ", ".join(map(repr, self.parts))
        return f"a {self.type.__name__} of {inside}"


def accepts(one, other):
    """Whether a trace for arguments of one kind takes those of the other."""
    if isinstance(one, TensorKind):
        return one.accepts(other)
    if isinstance(one, PartsKind):
        return (
            isinstance(other, PartsKind)
            and (one.type, len(one.parts)) == (other.type, len(other.parts))
            and (one.keys == other.keys or _has_sizes_of(one, other))
            and all(map(accepts, one.parts, other.parts))
        )
    if isinstance(one, OwnKind):
        return isinstance(other, OwnKind) and bool(other.type.is_subtype_of(one.type))
    return one == other


def _has_sizes_of(one, other):
    """Whether a sparse tensor of one kind may have the sizes that are known of the other."""
    if not issubclass(one.type, SparseTensor):
        return False
    if one.keys is None or other.keys is None:
        return one.keys is None
    (mine,), (theirs,) = one.keys, other.keys
    return len(mine) == len(theirs) and all(a is None or a == b for a, b in zip(mine, theirs))


def _dims_of(value):
    shape = value.shape.dims
    return None if shape is None else tuple(dim.value for dim in shape)


def kind_of(value, aliases=None):
    """The kind of an argument; TypeError if it is an object that cannot be told apart.

    aliases: the variables of other arguments.
    """
    aliases = {} if aliases is None else aliases
    if isinstance(value, Tensor):
        return TensorKind(value.dtype.base_dtype, _dims_of(value))
    if _is_argument(value):
        return _variable_spec(value, aliases)
    if isinstance(value, VariableSpec):
        return value
    if isinstance(value, _VariableBase):
        return ObjectKind(value)
    if isinstance(value, TensorSpec):
        return TensorKind(value.dtype, _dims_of(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorKind(dtypes.as_dtype(value.dtype), tuple(value.shape))
    if isinstance(value, _PLAIN):
        return ValueKind(value)
    if isinstance(value, dict):
        keys = tuple(value)
        try:
            keys = tuple(sorted(keys))
        except TypeError:
            pass
        return PartsKind(type(value), keys, tuple(kind_of(value[key], aliases) for key in keys))
    if isinstance(value, (list, tuple)):
        return PartsKind(type(value), None, tuple(kind_of(one, aliases) for one in value))
    if nest.is_custom(value):
        static, parts = value.__tf_flatten__()
        parts = tuple(kind_of(one, aliases) for one in parts)
        return PartsKind(type(value), (kind_of(static, aliases),), parts)
    if nest.is_composite(value):
        value = of_its_spec(value)
        leaves = nest.flatten(value, expand_composites=True)
        static = getattr(value, "_static_part", None)  # what the tensors do not tell
        keys = None if static is None else (static,)
        return PartsKind(type(value), keys, tuple(kind_of(one, aliases) for one in leaves))
    if isinstance(value, TypeSpec):
        return ValueKind(value)
    if hasattr(type(value), "__tf_tracing_type__"):
        return OwnKind(value.__tf_tracing_type__(None))
    try:
        return ObjectKind(value)
    except TypeError as error:
        raise TypeError(
            f"{value!r} cannot be an argument of a traced function: the trace could not be found "
            f"again, since the object has no hash and no weak references ({error})"
        ) from error


def of_its_spec(value):
    """A composite with specs for its tensors, as wide as its own spec is; others are themselves."""
    if nest.is_composite(value) and isinstance(value._parts[0], Tensor):
        if has_own_type_spec(value):
            wider = type_spec_from_value(value)._of_specs()
            return value if isinstance(wider, TypeSpec) else wider
    return value


def is_tensor_leaf(value):
    """Whether a leaf of the arguments is given to the graph's function as a tensor."""
    return isinstance(value, (Tensor, TensorSpec, np.ndarray, np.generic))


def spec_maker():
    """A function that gives what the placeholder for a leaf is made of, leaf by leaf."""
    aliases = {}
    return lambda value: _spec_leaf(value, aliases)


def _spec_leaf(value, aliases):
    """What the placeholder for a leaf is made of; other leaves are themselves."""
    if _is_argument(value):
        return _variable_spec(value, aliases)
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(as_shape(value.shape), dtypes.as_dtype(value.dtype))
    return value


def tensor_leaves(structure):
    """The tensors of arguments, in the order of the placeholders."""
    tensors = []
    for leaf in nest.flatten(structure, expand_composites=True):
        if is_tensor_leaf(leaf):
            tensors.append(convert_to_tensor(leaf))
        elif _is_argument(leaf):
            leaf._touch()
            tensors.append(leaf.handle)
    return tensors
