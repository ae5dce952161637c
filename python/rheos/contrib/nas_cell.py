"""The cell that a search for architectures found: tf.contrib.rnn.NASCell."""

from rheos.layers.rnn_cells import LayerRNNCell, LSTMStateTuple
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops

_PARTS = 8


class NASCell(LayerRNNCell):
    """The recurrent cell of Zoph and Le, "Neural Architecture Search with Reinforcement Learning".

    num_proj: the size of the output, if it is not num_units. use_bias: adds biases within the cell.
    The state is a pair of (batch, num_units) and (batch, num_proj or num_units).
    """

    def __init__(self, num_units, num_proj=None, use_bias=False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias
        self._reuse = reuse

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self):
        return self._num_units if self._num_proj is None else self._num_proj

    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        width = _PARTS * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, width])
        self.kernel = self.add_variable("kernel", [depth, width])
        if self._use_bias:
            self.bias = self.add_variable(
                "bias", shape=[width], initializer=init_ops.zeros_initializer
            )
        if self._num_proj is not None:
            self.projection_weights = self.add_variable(
                "projection_weights", [self._num_units, self._num_proj]
            )
        self.built = True

    def call(self, inputs, state):
        sigmoid, tanh, relu = math_ops.sigmoid, math_ops.tanh, nn_ops.relu
        c, m = state
        recurrent = math_ops.matmul(m, self.recurrent_kernel)
        fed = math_ops.matmul(inputs, self.kernel)
        if self._use_bias:
            recurrent = nn_ops.bias_add(recurrent, self.bias)
        r = array_ops.split(axis=1, num_or_size_splits=_PARTS, value=recurrent)
        x = array_ops.split(axis=1, num_or_size_splits=_PARTS, value=fed)

        # The leaves of the tree that was found: each joins one part of the inputs and of the state.
        leaves = [
            sigmoid(x[0] + r[0]),
            relu(x[1] + r[1]),
            sigmoid(x[2] + r[2]),
            relu(x[3] * r[3]),
            tanh(x[4] + r[4]),
            sigmoid(x[5] + r[5]),
            tanh(x[6] + r[6]),
            sigmoid(x[7] + r[7]),
        ]
        first = tanh(leaves[0] * leaves[1])
        second = tanh(leaves[2] + leaves[3])
        third = tanh(leaves[4] * leaves[5])
        fourth = sigmoid(leaves[6] + leaves[7])
        new_c = tanh(first + c) * second
        new_m = tanh(new_c * tanh(third + fourth))
        if self._num_proj is not None:
            new_m = math_ops.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)
