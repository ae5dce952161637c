"""What programs with models use beside them (tf.keras.utils)."""

from rheos.v1._names import fill as _fill

_fill(__name__)
