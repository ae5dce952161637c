"""Feature columns: how entries of a dict of features become numbers for a model."""

from rheos.v1._names import fill as _fill

_fill(__name__)
