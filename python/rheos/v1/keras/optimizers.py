"""Optimizers (tf.keras.optimizers)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.optimizer import (
    Optimizer,
)
from rheos.models.optimizers import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    Ftrl,
    Nadam,
    RMSprop,
    deserialize,
    get,
    serialize,
)
from rheos.v1.keras import optimizer_schedules as schedules

__getattr__ = _attribute_of("tensorflow.keras.optimizers")
