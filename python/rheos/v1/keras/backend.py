"""Functions of tensors and of the session (tf.keras.backend)."""

from rheos.v1._names import fill as _fill

_fill(__name__)
