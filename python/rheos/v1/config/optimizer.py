"""Options of the optimizer of graphs."""

from rheos.v1._names import fill as _fill

_fill(__name__)
