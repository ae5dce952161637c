"""Saved models as functions of arrays."""

from rheos.v1._names import fill as _fill

_fill(__name__)
