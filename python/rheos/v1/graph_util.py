"""GraphDefs for use elsewhere: variables as constants, parts of a graph."""

from rheos.v1._names import fill as _fill

_fill(__name__)
