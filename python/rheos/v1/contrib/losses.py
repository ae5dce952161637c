"""Losses of tf.contrib.losses, from before they came to tf.losses."""

from rheos.v1._names import fill as _fill

_fill(__name__)
