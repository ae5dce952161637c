"""Learning rate schedules (tf.keras.optimizers.schedules)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.schedules import (
    CosineDecay,
    CosineDecayRestarts,
    ExponentialDecay,
    InverseTimeDecay,
    LearningRateSchedule,
    PiecewiseConstantDecay,
    PolynomialDecay,
    deserialize,
    serialize,
)

__getattr__ = _attribute_of("tensorflow.keras.optimizers.schedules")
