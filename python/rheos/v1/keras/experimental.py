"""Layers that were tried (tf.keras.experimental)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.column_layers import SequenceFeatures

__getattr__ = _attribute_of("tensorflow.keras.experimental")
