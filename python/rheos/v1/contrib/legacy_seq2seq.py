"""Sequences to sequences of tf.contrib.legacy_seq2seq."""

from rheos.v1._names import fill as _fill

_fill(__name__)
