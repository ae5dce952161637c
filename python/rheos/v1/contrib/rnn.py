"""Recurrent networks of tf.contrib.rnn."""

from rheos.contrib.cell_wrappers import AttentionCellWrapper, CompiledWrapper, HighwayWrapper
from rheos.contrib.fused_rnn import (
    FusedRNNCell,
    FusedRNNCellAdaptor,
    LSTMBlockFusedCell,
    LSTMBlockWrapper,
    TimeReversedFusedRNN,
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
)
from rheos.contrib.gated_cells import (
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    IntersectionRNNCell,
    PhasedLSTMCell,
    SRUCell,
    UGRNNCell,
)
from rheos.contrib.grid_cells import BidirectionalGridLSTMCell, GridLSTMCell, TimeFreqLSTMCell
from rheos.contrib.lstm_cells import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
)
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
