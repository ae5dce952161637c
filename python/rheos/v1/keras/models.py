"""Models, and how they are saved (tf.keras.models)."""

from rheos.v1._names import fill as _fill

_fill(__name__)
