"""Nested structures of lists, tuples, named tuples and dicts.

Everything else is a leaf, strings and arrays too. Dicts are gone through in the order of their
sorted keys. With `expand_composites`, what is made of several tensors (a sparse tensor) has these
as its leaves.
"""

from collections.abc import Mapping, MappingView, Sequence

from rheos import _core

_LEAVES = (_core.TensorBase, _core.VariableBase)  # asking abstract classes about them is slow
_PLAIN = (list, tuple)
_NESTS = frozenset((list, tuple, dict))
_PARTLESS = frozenset((type(None), bool, int, float, str))


def is_nested(seq):
    """Whether it is a list, tuple, dict, view of a dict or the like, which has parts."""
    if type(seq) in _NESTS:
        return True
    if isinstance(seq, _LEAVES) or type(seq) in _PARTLESS:
        return False
    return (
        isinstance(seq, (list, dict, Mapping, MappingView))
        or (isinstance(seq, Sequence) and not isinstance(seq, (str, bytes, bytearray, range)))
        or is_custom(seq)
    )


is_sequence = is_nested


def is_custom(value):
    """Whether its class says what its parts are: __tf_flatten__() gives what goes with it and a
    tuple of the parts, __tf_unflatten__() of the class makes another one of such."""
    kind = type(value)
    return hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__")


def is_composite(value):
    """Whether it is made of several tensors: it has `_parts`, a list of them, and `_with_parts`."""
    return hasattr(type(value), "_parts")


def _has_parts(structure, expand_composites):
    return is_nested(structure) or expand_composites and is_composite(structure)


def _keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _parts(structure):
    """The parts of a structure, in order."""
    if type(structure) in _PLAIN:
        return structure
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    if is_composite(structure):
        return structure._parts
    return list(structure.__tf_flatten__()[1] if is_custom(structure) else structure)


def _count(structure):
    if type(structure) in _NESTS:
        return len(structure)
    return len(_parts(structure) if is_custom(structure) else structure)


def _like(structure, parts):
    """A structure of the same kind, with other parts."""
    if type(structure) in _PLAIN:
        return type(structure)(parts)
    if is_composite(structure):
        return structure._with_parts(parts)
    if is_custom(structure):
        return type(structure).__tf_unflatten__(structure.__tf_flatten__()[0], tuple(parts))
    if isinstance(structure, Mapping):
        by_key = dict(zip(_keys(structure), parts))
        made = {key: by_key[key] for key in structure}
        return made if type(structure) is dict else type(structure)(made)
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    if isinstance(structure, MappingView):
        return list(parts)  # a view can not be made of its parts
    if isinstance(structure, tuple):
        return tuple(parts) if type(structure) is tuple else type(structure)(parts)
    return list(parts) if type(structure) is list else type(structure)(parts)


def flatten(structure, expand_composites=False):
    """All leaves of a structure in one list; of a leaf a list of itself.

    >>> tf.nest.flatten({"b": [2, 3], "a": 1})
    [1, 2, 3]
    """
    if isinstance(structure, _LEAVES) or type(structure) in _PARTLESS:
        return [structure]
    is_dict = type(structure) is dict
    if is_dict and not structure:
        return []
    if is_dict or type(structure) in _PLAIN:
        flat = []
        for part in _parts(structure) if is_dict else structure:
            if isinstance(part, _LEAVES):
                flat.append(part)
            else:
                flat += flatten(part, expand_composites)
        return flat
    if not _has_parts(structure, expand_composites):
        return [structure]
    parts = _parts(structure)
    return [leaf for part in parts for leaf in flatten(part, expand_composites)]


def paths(structure):
    """The keys and positions that lead to each leaf, composite tensors' parts too."""
    if not _has_parts(structure, True):
        return [()]
    parts = _parts(structure)
    keys = _keys(structure) if isinstance(structure, Mapping) else range(len(parts))
    return [(key, *rest) for key, part in zip(keys, parts) for rest in paths(part)]


def flatten_up_to(shallow_tree, input_tree, check_types=True):
    """The parts of `input_tree` where `shallow_tree` has leaves, in one list."""
    if not is_nested(shallow_tree):
        return [input_tree]
    _check_parts(shallow_tree, input_tree, check_types)
    return [
        leaf
        for shallow, deep in zip(_parts(shallow_tree), _parts(input_tree))
        for leaf in flatten_up_to(shallow, deep, check_types)
    ]


def _kind(structure):
    return dict if isinstance(structure, Mapping) else type(structure)


def _are_alike(one, other):
    """Whether two are named tuples with one name and the same fields."""
    fields = getattr(one, "_fields", None)
    return (
        fields is not None
        and isinstance(one, tuple)
        and getattr(other, "_fields", None) == fields
        and type(one).__name__ == type(other).__name__
    )


def _check_parts(one, other, check_types):
    if not is_nested(other):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(other)}."
        )
    if check_types and _kind(one) is not _kind(other) and not _are_alike(one, other):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(other)}, while shallow structure has type {type(one)}."
        )
    counts = _count(one), _count(other)
    if counts[0] != counts[1]:
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{counts[1]}, while shallow structure has length {counts[0]}."
        )
    if isinstance(one, Mapping) and set(one) != set(other):
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys "
            f"{list(other)}, while shallow structure has keys {list(one)}."
        )


def _check_composites(one, other):
    if type(one) is not type(other):
        raise TypeError(
            "The two structures don't have the same nested structure: one has "
            f"{type(one).__name__}, the other {type(other).__name__}."
        )
    if len(one._parts) != len(other._parts):
        raise ValueError(
            f"The two structures don't have the same nested structure: {one} is made of "
            f"{len(one._parts)} tensors, {other} of {len(other._parts)}."
        )


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """ValueError unless two structures differ in their leaves only, TypeError if in their types.

    check_types: whether a list and a tuple count as different.
    """
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(nest1).__name__} str={nest1}\n\n"
            f"Second structure: type={type(nest2).__name__} str={nest2}"
        )
    if expand_composites and (is_composite(nest1) or is_composite(nest2)):
        _check_composites(nest1, nest2)
    if not is_nested(nest1):
        return
    counts = _count(nest1), _count(nest2)
    if counts[0] != counts[1]:
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {nest1}\n\nSecond structure: {nest2}\n\nMore specifically: The two "
            f"structures don't have the same number of elements. First: {counts[0]}, second: "
            f"{counts[1]}"
        )
    try:
        _check_parts(nest1, nest2, check_types)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {nest1}\n\nSecond structure: {nest2}\n\n"
            f"More specifically: {error}"
        ) from None
    for one, other in zip(_parts(nest1), _parts(nest2)):
        assert_same_structure(one, other, check_types, expand_composites)


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure like `structure`, with the leaves of a list; ValueError for a wrong number."""
    if not is_nested(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    if not _has_parts(structure, expand_composites):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1"
            )
        return flat_sequence[0]
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
            f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: "
            f"{flat_sequence}."
        )
    leaves = iter(flat_sequence)
    return map_leaves(lambda _: next(leaves), structure, expand_composites)


def map_leaves(function, structure, expand_composites=False):
    """The structure with each leaf replaced by what the function gives for it."""
    kind = type(structure)
    if kind in _PLAIN:
        return kind([map_leaves(function, part, expand_composites) for part in structure])
    if not _has_parts(structure, expand_composites):
        return function(structure)
    parts = _parts(structure)
    return _like(structure, [map_leaves(function, part, expand_composites) for part in parts])


def map_structure(func, *structure, **kwargs):
    """A structure like the first, each leaf what `func` gives for the leaves of all there.

    check_types: whether the structures must be of the same types too (the default).

    >>> tf.nest.map_structure(lambda x: x + 1, {"a": 1, "b": (2, 3)})
    {'a': 2, 'b': (3, 4)}
    """
    if not callable(func):
        raise TypeError("func must be callable, got: %s" % func)
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(f"Only valid keyword arguments are `check_types` and "
                         f"`expand_composites`, not: `{'`, `'.join(kwargs)}`")  # fmt: skip
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    flat = zip(*[flatten(s, expand) for s in structure])
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in flat], expand)


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """Like map_structure(), only down to where `shallow_tree` has leaves."""
    check_types = kwargs.pop("check_types", True)
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    flat = [flatten_up_to(shallow_tree, tree, check_types) for tree in inputs]
    return pack_sequence_as(shallow_tree, [func(*parts) for parts in zip(*flat)])
