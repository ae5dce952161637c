"""Cells around cells: with dropout, with the inputs added to the outputs, on a device."""

import numbers

from rheos.framework import nest
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import device, name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.rnn_cells import LSTMStateTuple, RNNCell, assert_like_rnncell
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops


class _Wrapper(RNNCell):
    """A cell that calls another one; it has no variables and no scope of its own."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self):
        """The cell inside."""
        return self.cell

    @property
    def state_size(self):
        return self.cell.state_size

    @property
    def output_size(self):
        return self.cell.output_size

    @property
    def trainable_weights(self):
        return self.cell.trainable_weights if self.trainable else []

    @property
    def non_trainable_weights(self):
        if self.trainable:
            return self.cell.non_trainable_weights
        return self.cell.trainable_weights + self.cell.non_trainable_weights

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        return self.call(inputs, state, **({} if scope is None else {"scope": scope}))


def _all_but_memory(state):
    """Which parts of a state are dropped by default: not the c of an LSTM."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return True


def _chosen(visitor, state):
    """(leaf, whether to drop it) of all leaves of a state, as a visitor says."""
    answer = visitor(state)
    if isinstance(answer, bool):
        if answer and nest.is_nested(state):
            parts = state.values() if isinstance(state, dict) else state
            return [pair for part in parts for pair in _chosen(visitor, part)]
        return [(leaf, answer) for leaf in nest.flatten(state)]
    return list(zip(nest.flatten(state), nest.flatten_up_to(state, answer)))


class DropoutWrapper(_Wrapper):
    """Drops elements of the inputs, the outputs and the states of a cell.

    input_keep_prob, output_keep_prob, state_keep_prob: with what probability elements are kept;
    ValueError unless from 0 to 1. variational_recurrent: drops the same elements in each step;
    needs `dtype`, and `input_size` if inputs are dropped. seed: of all.
    dropout_state_filter_visitor: a function of a state that says which of its parts are dropped; by
    default all but the c of LSTMs.
    """

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        input_size=None,
        dtype=None,
        seed=None,
        dropout_state_filter_visitor=None,
        **kwargs,
    ):
        super().__init__(cell, dtype=dtype, **kwargs)
        visitor = dropout_state_filter_visitor
        if visitor is not None and not callable(visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._visitor = visitor or _all_but_memory
        self._seed = seed
        self._variational = variational_recurrent
        self._input_noise = self._state_noise = self._output_noise = None
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = self._probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = self._probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = self._probability("output_keep_prob", output_keep_prob)
        if variational_recurrent:
            self._make_noise(input_keep_prob, input_size, dtype)

    @staticmethod
    def _probability(name, value):
        tensor = convert_to_tensor(value)
        known = constant_value(tensor)
        if known is None:
            return tensor
        if not 0 <= known <= 1:
            raise ValueError("Parameter %s must be between 0 and 1: %d" % (name, known))
        return float(known)

    def _make_noise(self, input_keep_prob, input_size, dtype):
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(sizes, position):
            made = []
            for i, size in enumerate(nest.flatten(sizes)):
                shape = array_ops.concat(([1], TensorShape(size).as_list()), 0)
                made.append(
                    random_ops.random_uniform(shape, seed=self._gen_seed(position, i), dtype=dtype)
                )
            return made

        if not isinstance(input_keep_prob, numbers.Real) or input_keep_prob != 1.0:
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            self._input_noise = noise(input_size, "input")
        self._state_noise = noise(self.cell.state_size, "state")
        self._output_noise = noise(self.cell.output_size, "output")

    def _gen_seed(self, salt_prefix, index):
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}".encode()
        import hashlib

        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropped(self, values, position, noise, keep_prob, chosen=None):
        """The structure of values with elements dropped."""
        if isinstance(keep_prob, float) and keep_prob >= 1:
            return values
        leaves = chosen or [(leaf, True) for leaf in nest.flatten(values)]
        results = []
        for i, (leaf, drop) in enumerate(leaves):
            if not drop:
                results.append(leaf)
            elif self._variational:
                results.append(self._by_noise(leaf, noise[i], keep_prob))
            else:
                seed = self._gen_seed(position, i)
                results.append(nn_ops.dropout_v2(leaf, rate=1.0 - keep_prob, seed=seed))
        return nest.pack_sequence_as(values, results)

    @staticmethod
    def _by_noise(value, noise, keep_prob):
        kept = math_ops.floor(keep_prob + noise)
        result = math_ops.div(value, keep_prob) * kept
        result.set_shape(value.shape)
        return result

    def call(self, inputs, state, **kwargs):
        inputs = self._dropped(inputs, "input", self._input_noise, self._input_keep_prob)
        output, new_state = self.cell(inputs, state, **kwargs)
        if not isinstance(self._state_keep_prob, float) or self._state_keep_prob < 1:
            chosen = _chosen(self._visitor, new_state)
            new_state = self._dropped(
                new_state, "state", self._state_noise, self._state_keep_prob, chosen
            )
        output = self._dropped(output, "output", self._output_noise, self._output_keep_prob)
        return output, new_state


class ResidualWrapper(_Wrapper):
    """Adds the inputs of a cell to its outputs, or joins them by residual_fn(inputs, outputs)."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def call(self, inputs, state, **kwargs):
        outputs, new_state = self.cell(inputs, state, **kwargs)
        return (self._residual_fn or self._sum)(inputs, outputs), new_state

    @staticmethod
    def _sum(inputs, outputs):
        nest.assert_same_structure(inputs, outputs)
        for one, other in zip(nest.flatten(inputs), nest.flatten(outputs)):
            one.shape.assert_is_compatible_with(other.shape)
        return nest.map_structure(lambda x, y: x + y, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """Runs a cell on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            with device(self._device):
                return self.cell.zero_state(batch_size, dtype)

    def call(self, inputs, state, **kwargs):
        with device(self._device):
            return self.cell(inputs, state, **kwargs)
