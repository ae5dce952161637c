"""Structures of elements: tuples, named tuples, dicts, attrs classes, classes that flatten
themselves.

Unlike in rheos.framework.nest, lists are leaves: they become tensors.
"""

from collections.abc import Mapping

from rheos.framework.nest import is_custom


def _is_attrs(value):
    return hasattr(type(value), "__attrs_attrs__")


def is_nested(value):
    """Whether it has parts."""
    if isinstance(value, (tuple, Mapping)):
        return not _is_leaf_tuple(value)
    return _is_attrs(value) or is_custom(value)


def _is_leaf_tuple(value):
    # The value of a sparse tensor is a named tuple, and one component.
    return type(value).__name__ == "SparseTensorValue"


def keys_of(value):
    """The keys of a structure's parts, in their order."""
    if isinstance(value, Mapping):
        try:
            return sorted(value)
        except TypeError:
            raise TypeError("The keys of a dict of components have to be sortable.") from None
    if _is_attrs(value):
        return [attribute.name for attribute in type(value).__attrs_attrs__]
    if is_custom(value):
        return list(range(len(value.__tf_flatten__()[1])))
    return list(range(len(value)))


def _part(value, key):
    if is_custom(value):
        return value.__tf_flatten__()[1][key]
    return getattr(value, key) if _is_attrs(value) else value[key]


def _like(value, parts):
    """A structure of the kind of `value` with these parts, in the order of its keys."""
    if isinstance(value, Mapping):
        by_key = dict(zip(keys_of(value), parts))
        made = {key: by_key[key] for key in value}
        if type(value) is dict:
            return made
        if hasattr(value, "default_factory"):
            return type(value)(value.default_factory, made)
        return type(value)(made)
    if is_custom(value):
        return type(value).__tf_unflatten__(value.__tf_flatten__()[0], tuple(parts))
    if _is_attrs(value):
        return type(value)(**dict(zip(keys_of(value), parts)))
    if hasattr(value, "_fields"):
        return type(value)(*parts)
    return tuple(parts)


def flatten(structure):
    """The leaves, in order; of a leaf itself."""
    if not is_nested(structure):
        return [structure]
    return [leaf for key in keys_of(structure) for leaf in flatten(_part(structure, key))]


def map_structure(function, structure, *others):
    """A structure like the first, of what the function gives for the leaves that stand together."""
    for other in others:
        assert_same_structure(structure, other)
    return map_up_to(structure, function, structure, *others)


def map_up_to(shallow, function, *structures):
    """A structure like `shallow`, of what the function gives for what stands at its leaves."""
    if not is_nested(shallow):
        return function(*structures)
    for other in structures:
        _check_parts(shallow, other)
    parts = [
        map_up_to(_part(shallow, key), function, *(_part(other, key) for other in structures))
        for key in keys_of(shallow)
    ]
    return _like(shallow, parts)


def flatten_up_to(shallow, structure):
    """What stands at the leaves of `shallow`, in order."""
    found = []
    map_up_to(shallow, found.append, structure)
    return found


def pack_sequence_as(structure, leaves):
    """A structure with other leaves; ValueError for a wrong number."""
    count = len(flatten(structure))
    if count != len(leaves):
        raise ValueError(
            f"Could not pack {len(leaves)} values into a structure of {count}: {structure}"
        )
    rest = iter(leaves)
    return map_up_to(structure, lambda _: next(rest), structure)


def _kind(value):
    return dict if isinstance(value, Mapping) else type(value)


def _check_parts(one, other):
    if not is_nested(other):
        raise TypeError(
            f"The two structures don't have the same nested structure: {one!r} has parts, "
            f"{other!r} of type {type(other).__name__} has none."
        )
    if _kind(one) is not _kind(other):
        raise TypeError(
            f"The two structures don't have the same sequence type: one is of type {type(one)}, "
            f"the other of type {type(other)}."
        )
    if isinstance(one, Mapping) and set(one) != set(other):
        raise ValueError(
            f"The two structures don't have the same keys: {list(one)} and {list(other)}."
        )
    if len(keys_of(one)) != len(keys_of(other)):
        raise ValueError(
            f"The two structures don't have the same number of elements: {one!r} and {other!r}."
        )


def assert_same_structure(one, other):
    """ValueError or TypeError unless two structures differ in their leaves only."""
    if is_nested(one) != is_nested(other):
        raise ValueError(
            f"The two structures don't have the same nested structure: {one!r} and {other!r}."
        )
    if is_nested(one):
        _check_parts(one, other)
        for key in keys_of(one):
            assert_same_structure(_part(one, key), _part(other, key))
