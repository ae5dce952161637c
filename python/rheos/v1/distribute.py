"""Clusters, and strategies for replicas."""

from rheos.v1._names import fill as _fill

_fill(__name__)
