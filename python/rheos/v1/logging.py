"""Messages to standard error, by Python's logger "tensorflow"."""

from rheos.v1._names import fill as _fill

_fill(__name__)
