"""Cells with the equations and variables of cuDNN's networks, for what was trained with these."""

from rheos.contrib.rnn_cells import LSTMBlockCell
from rheos.layers.rnn_cells import GRUCell
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM as cuDNN has it: no forget bias, nothing clipped, no peepholes."""

    def __init__(self, num_units, reuse=None):
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """A GRU as cuDNN has it: the reset gate comes after the product with the state.

    candidate = activation(inputs @ W + b + reset * (state @ R + c)); output = new state = update *
    state + (1 - update) * candidate.
    """

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape):
        depth, units = self._depth(inputs_shape), self._num_units

        def kernel(name, rows, columns):
            return self.add_variable(
                f"{name}/kernel", shape=[rows, columns], initializer=self._kernel_initializer
            )

        def bias(name, count, value):
            first = init_ops.constant_initializer(value, dtype=self.dtype)
            return self.add_variable(f"{name}/bias", shape=[count], initializer=first)

        self._gate_kernel = kernel("gates", depth + units, 2 * units)
        self._gate_bias = bias("gates", 2 * units, 1.0)
        parts = (("candidate/input_projection", depth), ("candidate/hidden_projection", units))
        self._kernels = [kernel(name, rows, units) for name, rows in parts]
        self._biases = [bias(name, units, 0.0) for name, _ in parts]
        self.built = True

    def call(self, inputs, state):
        gates = math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel)
        gates = math_ops.sigmoid(nn_ops.bias_add(gates, self._gate_bias))
        reset, update = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        seen, kept = (
            nn_ops.bias_add(math_ops.matmul(value, kernel), bias)
            for value, kernel, bias in zip((inputs, state), self._kernels, self._biases)
        )
        new_state = (1 - update) * self._activation(seen + reset * kept) + update * state
        return new_state, new_state
