"""Losses of sequences, of tf.contrib.seq2seq."""

from rheos.contrib.seq2seq import sequence_loss
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.seq2seq")
