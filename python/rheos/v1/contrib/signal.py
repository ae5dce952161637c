"""Signals of tf.contrib.signal: frames, windows, mel scales."""

from rheos.v1._names import fill as _fill

_fill(__name__)
