"""Lookup tables."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.lookup_ops import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)

__getattr__ = _attribute_of("tensorflow.lookup")
