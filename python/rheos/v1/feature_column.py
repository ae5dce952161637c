"""Feature columns: how entries of a dict of features become numbers for a model."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.column_layers import (
    input_layer,
    linear_model,
    make_parse_example_spec,
)
from rheos.layers.dense_columns import (
    bucketized_column,
    embedding_column,
    indicator_column,
    numeric_column,
    sequence_numeric_column,
    shared_embedding_columns,
)
from rheos.layers.feature_columns import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    crossed_column,
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    weighted_categorical_column,
)

__getattr__ = _attribute_of("tensorflow.feature_column")
