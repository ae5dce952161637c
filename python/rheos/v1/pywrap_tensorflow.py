"""Names that programs take from TensorFlow's extension module."""

from rheos.v1._names import fill as _fill

_fill(__name__)
