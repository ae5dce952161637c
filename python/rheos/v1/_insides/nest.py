"""Nested structures: tensorflow.python.util.nest."""

from rheos.framework.nest import (
    assert_same_structure,
    flatten,
    flatten_up_to,
    is_composite,
    is_nested,
    is_sequence,
    map_structure,
    map_structure_up_to,
    pack_sequence_as,
    paths,
)


def is_sequence_or_composite(value):
    """Whether it has parts, or is made of several tensors."""
    return is_nested(value) or is_composite(value)


def assert_shallow_structure(shallow_tree, input_tree, check_types=True):
    """TypeError or ValueError unless `input_tree` goes on where `shallow_tree` ends."""
    flatten_up_to(shallow_tree, input_tree, check_types)


def flatten_dict_items(dictionary):
    """A dict whose keys and values may be nested alike, with their leaves: flat keys and values.

    ValueError for a key that comes twice, or a value that is not nested like its key.
    """
    if not isinstance(dictionary, dict):
        raise TypeError("input must be a dictionary")
    flat = {}
    for key, value in dictionary.items():
        keys, values = ([key], [value]) if not is_nested(key) else (flatten(key), flatten(value))
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for one, other in zip(keys, values):
            if one in flat:
                raise ValueError(f"Could not flatten dictionary: key {one} is not unique.")
            flat[one] = other
    return flat


def flatten_with_tuple_paths(structure):
    """(the keys and positions that lead to it, a leaf), for each leaf."""
    return list(zip(paths(structure), flatten(structure, True)))


def flatten_with_joined_string_paths(structure, separator="/"):
    """(the keys and positions that lead to it, joined; a leaf), for each leaf."""
    return [
        (separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure)
    ]


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """Like map_structure(); `func` takes the path of the leaves first, a tuple."""
    for other in structure[1:]:
        assert_same_structure(structure[0], other, **kwargs)
    rows = zip(paths(structure[0]), *map(flatten, structure))
    return pack_sequence_as(structure[0], [func(*row) for row in rows])


def map_structure_with_paths(func, *structure, **kwargs):
    """Like map_structure(); `func` takes the path of the leaves first, joined by "/"."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves: func("/".join(map(str, path)), *leaves), *structure, **kwargs
    )
