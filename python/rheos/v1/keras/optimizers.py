"""Optimizers (tf.keras.optimizers)."""

from rheos.v1._names import fill as _fill
from rheos.v1.keras import optimizer_schedules as schedules

_fill(__name__)
