"""Lookup tables, the mutable ones and whole vocabularies among them."""

from rheos.v1._names import fill as _fill

_fill(__name__)
