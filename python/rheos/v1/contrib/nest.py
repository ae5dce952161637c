"""Nested structures, known to programs as tf.contrib.framework.nest."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.nest import (
    assert_same_structure,
    flatten,
    flatten_up_to,
    is_nested,
    is_sequence,
    map_structure,
    map_structure_up_to,
    pack_sequence_as,
)

__getattr__ = _attribute_of("tensorflow.contrib.framework.nest")
