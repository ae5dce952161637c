"""Values of several replicas, and structures of them."""

import operator

from rheos.framework import nest, replicas
from rheos.framework.marks import CompositeTensor
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.tensor_spec import (
    TypeSpec,
    register_type_spec_from_value,
    type_spec_from_value,
)


class DistributedValues:
    """Values of replicas; those of this process are `values`, in the order of the replicas."""

    def __init__(self, values):
        self._values = tuple(values)

    @property
    def values(self):
        """A tuple with the value of each replica."""
        return self._values

    def _get(self):
        """The value of the replica whose step this is, else that of the first one."""
        number = replicas.copy_number()
        return self._values[0 if number is None else number]

    def __repr__(self):
        lines = ",\n".join(f"  {i}: {value!r}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{lines}\n}}"

    def __str__(self):
        lines = ",\n".join(f"  {i}: {value!s}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{lines}\n}}"


class PerReplica(DistributedValues, CompositeTensor):
    """A value for each replica."""

    @property
    def _parts(self):
        return list(self._values)

    def _with_parts(self, parts):
        return PerReplica(parts)

    @property
    def _type_spec(self):
        return PerReplicaSpec(*map(type_spec_from_value, self._values))

    @property
    def dtype(self):
        """The dtype of the first replica's tensor."""
        return self._values[0].dtype

    @property
    def shape(self):
        """The shape of the first replica's tensor."""
        return self._values[0].shape


class PerReplicaSpec(TypeSpec):
    """What is said of the value of each replica."""

    __slots__ = ("_specs",)

    def __init__(self, *value_specs):
        self._specs = tuple(value_specs)

    @property
    def value_type(self):
        """PerReplica."""
        return PerReplica

    def _serialize(self):
        return self._specs

    @property
    def _component_specs(self):
        return self._specs

    @property
    def _flat_tensor_specs(self):
        return [one for spec in self._specs for one in spec._flat_tensor_specs]

    def _of_specs(self):
        return PerReplica([spec._of_specs() for spec in self._specs])

    def _to_components(self, value):
        return value.values

    def _from_components(self, components):
        return PerReplica(components)

    def _to_tensor_list(self, value):
        pairs = zip(self._specs, value.values)
        return [tensor for spec, one in pairs for tensor in spec._to_tensor_list(one)]

    def _from_tensor_list(self, tensors):
        rest, values = list(tensors), []
        for spec in self._specs:
            count = len(spec._flat_tensor_specs)
            values.append(spec._from_tensor_list(rest[:count]))
            rest = rest[count:]
        return PerReplica(values)


register_type_spec_from_value((PerReplica,), lambda value: value._type_spec)


class Mirrored(DistributedValues):
    """A value that is the same on each replica; it computes as that of the replica at hand."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._get(), name)

    def _convert_to_tensor(self):
        return self._get()

    def __getitem__(self, key):
        return self._get()[key]


def _operator(name):
    def method(self, *args):
        mine = self._get()
        return getattr(mine, name)(*(select_here(arg) for arg in args))

    method.__name__, method.__qualname__ = name, f"Mirrored.{name}"
    method.__doc__ = "As the replica's value computes it."
    setattr(Mirrored, name, method)


for _kind in "add sub mul truediv floordiv mod pow matmul and or xor".split():
    _operator(f"__{_kind}__")
    _operator(f"__r{_kind}__")
for _kind in "neg abs invert lt le gt ge bool int float len iter array".split():
    _operator(f"__{_kind}__")


# ---- Structures


def is_distributed(value):
    """Whether it has a value for each replica: a variable's copies too."""
    return isinstance(value, DistributedValues) or getattr(value, "_is_distributed", False)


def select_here(value):
    """The value of the replica at hand of a distributed one; variables stay."""
    return value._get() if isinstance(value, DistributedValues) else value


def select(number, structure):
    """The structure as the replica of that number gets it; variables stay."""
    return nest.map_leaves(
        lambda leaf: leaf.values[number] if isinstance(leaf, DistributedValues) else leaf,
        structure,
    )


def select_copies(number, structure):
    """The structure as the replica of that number has it, with its copies of variables."""
    return nest.map_leaves(
        lambda leaf: leaf.values[number] if is_distributed(leaf) else leaf, structure
    )


def _is_one(values):
    first = values[0]
    if all(value is first for value in values[1:]):
        return True
    plain = (bool, int, float, str, bytes, type(None))
    return isinstance(first, plain) and all(
        type(value) is type(first) and value == first for value in values[1:]
    )


def regroup(values, kind=PerReplica, wraps_same=False):
    """One structure of the structures of all replicas: what differs is of a kind, PerReplica.

    wraps_same: what is the same object in all becomes of the kind too. ValueError for structures
    that differ.
    """
    first = values[0]
    if isinstance(first, (Tensor, _VariableBase)) or not nest.is_nested(first):
        container = replicas.container_of(first)
        if container is not first and all(map(operator.is_, container.values, values)):
            return container
        return first if _is_one(values) and not wraps_same else kind(values)
    for other in values[1:]:
        if type(other) is not type(first) or len(other) != len(first):
            raise ValueError(f"replicas gave different structures: {first!r} and {other!r}")
    if isinstance(first, dict):
        if any(other.keys() != first.keys() for other in values[1:]):
            raise ValueError(f"replicas gave dicts with different keys: {values!r}")
        made = {key: regroup([v[key] for v in values], kind, wraps_same) for key in first}
        return made if type(first) is dict else type(first)(made)
    parts = [regroup(part, kind, wraps_same) for part in zip(*values)]
    if hasattr(first, "_fields"):
        return type(first)(*parts)
    return type(first)(parts)
