"""Nested structures of elements, whose lists are leaves: tensorflow.python.data.util.nest."""

from rheos.pipelines.nest import (
    assert_same_structure,
    flatten,
    is_nested as is_sequence,
    map_structure,
    pack_sequence_as,
)
