"""Lookup tables, the mutable ones and whole vocabularies among them."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.lookup_ops import (
    FastHashSpec,
    HasherSpec,
    HashTable,
    IdTableWithHashBuckets,
    KeyValueTensorInitializer,
    LookupInterface,
    MutableDenseHashTable,
    MutableHashTable,
    StrongHashSpec,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
    index_table_from_file,
    index_table_from_tensor,
    index_to_string_table_from_file,
    index_to_string_table_from_tensor,
    string_to_index,
)

__getattr__ = _attribute_of("tensorflow.contrib.lookup")
