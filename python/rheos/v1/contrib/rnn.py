"""Recurrent networks of tf.contrib.rnn."""

from rheos.contrib.nas_cell import NASCell
from rheos.contrib.rnn_cells import (
    EmbeddingWrapper,
    GRUBlockCell,
    GRUBlockCellV2,
    InputProjectionWrapper,
    LayerNormBasicLSTMCell,
    LSTMBlockCell,
    OutputProjectionWrapper,
)
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.rnn import (
    best_effort_input_batch_size,
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
    transpose_batch_time,
)
from rheos.layers.rnn_cells import (
    BasicLSTMCell,
    BasicRNNCell,
    GRUCell,
    LayerRNNCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    RNNCell,
)
from rheos.layers.rnn_wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper

__getattr__ = _attribute_of("tensorflow.contrib.rnn")
