"""Devices, as TensorFlow 1.15 has them."""

from rheos.v1._names import fill as _fill

_fill(__name__)
