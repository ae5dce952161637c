"""Input pipelines."""

from rheos.v1._names import fill as _fill
from rheos.v1.data import experimental

_fill(__name__)
