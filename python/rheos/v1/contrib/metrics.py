"""Metrics of tf.contrib.metrics, from before they came to tf.metrics."""

from rheos.v1._names import fill as _fill

_fill(__name__)
