"""Metrics that are kept over many steps."""

from rheos.v1._names import fill as _fill

_fill(__name__)
