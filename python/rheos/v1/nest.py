"""Nested structures of lists, tuples, named tuples and dicts."""

from rheos.v1._names import fill as _fill

_fill(__name__)
