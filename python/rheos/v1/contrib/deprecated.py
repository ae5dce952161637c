"""Summaries under the names that they had before TensorFlow 1.0."""

from rheos.v1._names import fill as _fill

_fill(__name__)
