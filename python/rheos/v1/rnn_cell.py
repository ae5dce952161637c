"""Cells of recurrent networks, known to programs as tf.nn.rnn_cell."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1._names import fill as _fill

_fill(__name__)


__getattr__ = _attribute_of("tensorflow.nn.rnn_cell")
