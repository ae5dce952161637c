"""Constraints of variables (tf.keras.constraints)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.constraints import (
    Constraint,
    MaxNorm,
    MinMaxNorm,
    NonNeg,
    UnitNorm,
    deserialize,
    get,
    max_norm,
    min_max_norm,
    non_neg,
    serialize,
    unit_norm,
)

__getattr__ = _attribute_of("tensorflow.keras.constraints")
