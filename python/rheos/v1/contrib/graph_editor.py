"""What of a graph hangs together, chosen and copied."""

from rheos.v1._names import fill as _fill

_fill(__name__)
