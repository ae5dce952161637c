"""Summaries with a step of tf.contrib: written by operations, without a Summary to fetch."""

from rheos.v1._names import fill as _fill

_fill(__name__)
