"""Nested structures of lists, tuples, named tuples and dicts."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)

__getattr__ = _attribute_of("tensorflow.nest")
