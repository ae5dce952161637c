"""Cells of recurrent networks, known to programs as tf.nn.rnn_cell."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.rnn_cells import (
    BasicLSTMCell,
    BasicRNNCell,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    RNNCell,
)
from rheos.layers.rnn_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper

__getattr__ = _attribute_of("tensorflow.nn.rnn_cell")
