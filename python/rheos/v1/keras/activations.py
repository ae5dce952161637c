"""Activation functions (tf.keras.activations)."""

from rheos.v1._names import fill as _fill

_fill(__name__)
