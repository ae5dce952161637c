"""Strategies of tf.contrib.distribute."""

from rheos.v1._names import fill as _fill

_fill(__name__)
