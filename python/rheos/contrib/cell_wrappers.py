"""Cells around cells of tf.contrib.rnn: with attention, with a highway, compiled."""

from rheos.contrib.rnn_cells import Linear
from rheos.framework import nest
from rheos.framework.graph import name_scope
from rheos.layers.rnn_cells import RNNCell, assert_like_rnncell
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_conv, nn_ops
from rheos.ops.state import init_ops
from rheos.ops.state.variable_scope import get_variable, variable_scope


class AttentionCellWrapper(RNNCell):
    """A cell that looks back at its last outputs (Bahdanau and others, 2014).

    attn_length: at how many. attn_size: the size of what is seen, and of the output; by default the
    cell's output_size. attn_vec_size: of what is compared. input_size: to which the inputs are
    projected, by default their own. The state is (cell's, seen, last outputs joined), or these
    joined. ValueError for attn_length below 1.
    """

    def __init__(
        self,
        cell,
        attn_length,
        attn_size=None,
        attn_vec_size=None,
        input_size=None,
        state_is_tuple=True,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size "
                f"is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell = cell
        self._state_is_tuple = state_is_tuple
        self._length = attn_length
        self._size = cell.output_size if attn_size is None else attn_size
        self._compared_size = self._size if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._linear = {}

    @property
    def state_size(self):
        sizes = (self._cell.state_size, self._size, self._size * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._size

    def _parts(self, state):
        if self._state_is_tuple:
            return state
        parts, start = [], 0
        for size in (self._cell.state_size, self._size, self._size * self._length):
            parts.append(array_ops.slice(state, [0, start], [-1, size]))
            start += size
        return parts

    def _projected(self, what, args, size):
        if what not in self._linear:
            self._linear[what] = Linear(args, size, True)
        return self._linear[what](args)

    def call(self, inputs, state):
        cell_state, seen, last = self._parts(state)
        last = array_ops.reshape(last, [-1, self._length, self._size])
        size = self._input_size or inputs.shape.as_list()[1]
        inputs = self._projected("inputs", [inputs, seen], size)
        output, new_state = self._cell(inputs, cell_state)
        query = new_state
        if self._state_is_tuple:
            query = array_ops.concat(nest.flatten(new_state), 1)
        seen, rest = self._attention(query, last)
        with variable_scope("attn_output_projection"):
            output = self._projected("output", [output, seen], self._size)
        last = array_ops.concat([rest, array_ops.expand_dims(output, 1)], 1)
        last = array_ops.reshape(last, [-1, self._length * self._size])
        after = (new_state, seen, last)
        return output, after if self._state_is_tuple else array_ops.concat(list(after), 1)

    def _attention(self, query, last):
        """(what is seen, the last outputs but for the oldest)."""
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, self._size, self._compared_size])
            weights = get_variable("attn_v", [self._compared_size])
            hidden = array_ops.reshape(last, [-1, self._length, 1, self._size])
            features = nn_conv.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            y = self._projected("query", query, self._compared_size)
            y = array_ops.reshape(y, [-1, 1, 1, self._compared_size])
            scores = math_ops.reduce_sum(weights * math_ops.tanh(features + y), [2, 3])
            shares = array_ops.reshape(nn_ops.softmax(scores), [-1, self._length, 1, 1])
            seen = math_ops.reduce_sum(shares * hidden, [1, 2])
            seen = array_ops.reshape(seen, [-1, self._size])
            return seen, array_ops.slice(last, [0, 1, 0], [-1, -1, -1])


class _Plain(RNNCell):
    """A cell that calls another one in the scope of the caller."""

    def __init__(self, cell):
        super().__init__()
        self._cell = cell

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class HighwayWrapper(_Plain):
    """Carries the inputs of a cell past it (Srivastava and others, "Highway Networks").

    output = inputs * carry + outputs * transform, where carry = sigmoid(inputs @ carry_w +
    carry_b). couple_carry_transform_gates: transform is 1 - carry instead of a gate of its own.
    carry_bias_init: what carry_b starts with.
    """

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        super().__init__(cell)
        self._couple = couple_carry_transform_gates
        self._carry_bias = carry_bias_init

    @staticmethod
    def _gate(name, inputs, bias):
        size = inputs.shape.with_rank(2).size_at(1)
        weights = get_variable(f"{name}_w", [size, size])
        biases = get_variable(f"{name}_b", [size], initializer=init_ops.constant_initializer(bias))
        return math_ops.sigmoid(nn_ops.xw_plus_b(inputs, weights, biases))

    def _highway(self, inputs, outputs):
        carry = self._gate("carry", inputs, self._carry_bias)
        if self._couple:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inputs, -self._carry_bias)
        return inputs * carry + outputs * transform

    def __call__(self, inputs, state, scope=None):
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for one, other in zip(nest.flatten(inputs), nest.flatten(outputs)):
            one.shape.assert_is_compatible_with(other.shape)
        return nest.map_structure(self._highway, inputs, outputs), new_state


class CompiledWrapper(_Plain):
    """A cell whose operations may be compiled as one.

    Rheos compiles what pays by itself, so the wrapper changes nothing; compile_stateful is
    accepted.
    """

    def __init__(self, cell, compile_stateful=False):
        super().__init__(cell)

    def __call__(self, inputs, state, scope=None):
        return self._cell(inputs, state, scope=scope)
