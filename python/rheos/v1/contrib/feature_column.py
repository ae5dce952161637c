"""Columns of sequences, by the names they had among contributions."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.column_layers import sequence_input_layer
from rheos.layers.dense_columns import sequence_numeric_column
from rheos.layers.feature_columns import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
)

__getattr__ = _attribute_of("tensorflow.contrib.feature_column")
