"""Columns of sequences, by the names they had among contributions."""

from rheos.v1._names import fill as _fill

_fill(__name__)
