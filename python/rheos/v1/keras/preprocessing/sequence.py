"""Sequences of numbers (tf.keras.preprocessing.sequence)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.sequence_data import (
    TimeseriesGenerator,
    make_sampling_table,
    pad_sequences,
    skipgrams,
)

__getattr__ = _attribute_of("tensorflow.keras.preprocessing.sequence")
