"""Regularizers (tf.keras.regularizers)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.regularizers import (
    L1L2,
    Regularizer,
    deserialize,
    get,
    l1,
    l1_l2,
    l2,
    serialize,
)

__getattr__ = _attribute_of("tensorflow.keras.regularizers")
