"""Lookup tables."""

import types as _types

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.lookup_ops import (
    DenseHashTable as _DenseHashTable,
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)

experimental = _types.SimpleNamespace(DenseHashTable=_DenseHashTable)

__getattr__ = _attribute_of("tensorflow.lookup")
