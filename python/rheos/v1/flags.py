"""Command-line flags, in the manner of absl.flags."""

from rheos.v1._names import fill as _fill

_fill(__name__)
