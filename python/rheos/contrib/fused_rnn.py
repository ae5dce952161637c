"""Networks of tf.contrib.rnn that go over whole sequences, (time, batch, n): in one operation, or
as adaptors of cells; and stacks of bidirectional networks."""

import abc

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op_list
from rheos.layers import base
from rheos.layers.dynamic_rnn import bidirectional_dynamic_rnn, dynamic_rnn
from rheos.layers.rnn import static_bidirectional_rnn, static_rnn
from rheos.layers.rnn_cells import LSTMStateTuple
from rheos.ops.array import array_ops
from rheos.ops.array.rearrange_ops import reverse_sequence, reverse_v2, sequence_mask
from rheos.ops.math import math_ops
from rheos.ops.state import init_ops
from rheos.ops.state.variable_scope import variable_scope


class FusedRNNCell(abc.ABC):
    """What goes over a whole sequence at once, which may be a tensor or a list of its steps."""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """(outputs, state); the outputs are a list if the inputs are."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """An ordinary cell over a whole sequence, in a loop (use_dynamic_rnn) or unrolled."""

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """(outputs, state); see FusedRNNCell."""
        is_list = isinstance(inputs, list)
        options = {
            "sequence_length": sequence_length,
            "initial_state": initial_state,
            "dtype": dtype,
            "scope": scope,
        }
        if self._use_dynamic_rnn:
            joint = array_ops.stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, joint, time_major=True, **options)
            return array_ops.unstack(outputs) if is_list else outputs, state
        steps = inputs if is_list else array_ops.unstack(inputs)
        outputs, state = static_rnn(self._cell, steps, **options)
        return outputs if is_list else array_ops.stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell from the end of the sequence to its start; the outputs are in its order."""

    def __init__(self, cell):
        self._cell = cell

    @staticmethod
    def _reversed(sequence, lengths):
        if isinstance(sequence, list):
            return list(reversed(sequence))
        if lengths is None:
            return reverse_v2(sequence, [0])
        return reverse_sequence(sequence, lengths, 0, 1)

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """(outputs, state); see FusedRNNCell."""
        outputs, state = self._cell(
            self._reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return self._reversed(outputs, sequence_length), state


class LSTMBlockWrapper(base.Layer):
    """An LSTM over a whole sequence: subclasses define `num_units` and `_call_cell`.

    _call_cell(inputs, initial c, initial h, dtype, sequence_length) gives the c and h of all steps,
    (time, batch, num_units).
    """

    @property
    @abc.abstractmethod
    def num_units(self):
        """The number of units."""

    @abc.abstractmethod
    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        """The states c and h of all steps."""

    def _first_state(self, initial_state, batch_size, dtype):
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = array_ops.zeros(array_ops.stack([batch_size, self.num_units]), dtype=dtype)
            return (zeros, zeros), dtype
        if len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        return initial_state, initial_state[0].dtype if dtype is None else dtype

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None):
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = array_ops.stack(inputs)
        time, batch_size, size = inputs.shape.with_rank(3).as_list()
        if not size:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.shape}")
        if batch_size is None:
            batch_size = array_ops.shape(inputs)[1]
        if time is None:
            time = array_ops.shape(inputs)[0]
        (first_c, first_h), dtype = self._first_state(initial_state, batch_size, dtype)
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        c, h = self._call_cell(inputs, first_c, first_h, dtype, sequence_length)
        if sequence_length is None:
            last_c, last_h = c[-1], h[-1]
        else:
            mask = array_ops.transpose(sequence_mask(sequence_length, time, dtype=dtype), [1, 0])
            h *= array_ops.tile(array_ops.expand_dims(mask, [-1]), [1, 1, self.num_units])
            joint = [
                array_ops.concat([array_ops.expand_dims(first, [0]), steps], 0)
                for first, steps in ((first_c, c), (first_h, h))
            ]
            last_c, last_h = [
                array_ops.gather_nd(
                    steps,
                    array_ops.stack([sequence_length, math_ops.range(batch_size)], axis=1),
                )
                for steps in joint
            ]
        return array_ops.unstack(h) if is_list else h, LSTMStateTuple(last_c, last_h)


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """LSTMBlockCell over a whole sequence, in one operation.

    cell_clip: to which c is clipped. use_peephole: whether the gates see c.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        reuse=None,
        dtype=None,
        name="lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = base.InputSpec(ndim=3)

    @property
    def num_units(self):
        return self._num_units

    def build(self, input_shape):
        units = self._num_units
        self._kernel = self.add_variable("kernel", [input_shape.size_at(2) + units, 4 * units])
        self._bias = self.add_variable(
            "bias", [4 * units], initializer=init_ops.constant_initializer(0.0)
        )
        if self._use_peephole:
            self._peepholes = [self.add_variable(f"w_{gate}_diag", [units]) for gate in "ifo"]
        self.built = True

    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        time = inputs.shape.size_at(0)
        if time is None:
            time = array_ops.shape(inputs)[0]
        if self._use_peephole:
            peepholes = self._peepholes
        else:
            peepholes = [array_ops.zeros([self._num_units], dtype=dtype)] * 3
        longest = time if sequence_length is None else math_ops.reduce_max(sequence_length)
        made = op_list(
            "BlockLSTM",
            None,
            math_ops.cast(longest, dtypes.int64),
            inputs,
            initial_cell_state,
            initial_output,
            self._kernel,
            *peepholes,
            self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return made[1], made[6]


# ---- Stacks


def _check_stack(cells_fw, cells_bw, initial_states_fw, initial_states_bw):
    for way, cells, states in (
        ("fw", cells_fw, initial_states_fw),
        ("bw", cells_bw, initial_states_bw),
    ):
        if not cells:
            raise ValueError(f"Must specify at least one {way} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{way} must be a list of RNNCells (one per layer).")
        if states is not None and (not isinstance(states, list) or len(states) != len(cells)):
            raise ValueError(
                f"initial_states_{way} must be a list of state tensors (one per layer)."
            )
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")


def _stacked(layer, cells_fw, cells_bw, inputs, first_fw, first_bw, scope):
    """(outputs, states_fw, states_bw) of a function of two cells, inputs, states and a scope."""
    _check_stack(cells_fw, cells_bw, first_fw, first_bw)
    states = []
    nothing = [None] * len(cells_fw)
    with variable_scope(scope or "stack_bidirectional_rnn"):
        rows = zip(cells_fw, cells_bw, first_fw or nothing, first_bw or nothing)
        for i, row in enumerate(rows):
            with variable_scope("cell_%d" % i) as cell_scope:
                inputs, *after = layer(*row[:2], inputs, *row[2:], cell_scope)
            states.append(after)
    states_fw, states_bw = zip(*states)
    return inputs, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_rnn(
    cells_fw,
    cells_bw,
    inputs,
    initial_states_fw=None,
    initial_states_bw=None,
    dtype=None,
    sequence_length=None,
    scope=None,
):
    """(outputs, states_fw, states_bw) of bidirectional networks, each over the outputs of the last.

    The arguments are lists of those of static_bidirectional_rnn(); ValueError where they have other
    lengths. The variables are in the scopes cell_0, cell_1 and so on.
    """

    def layer(cell_fw, cell_bw, inputs, state_fw, state_bw, scope):
        return static_bidirectional_rnn(
            cell_fw, cell_bw, inputs, state_fw, state_bw, dtype, sequence_length, scope
        )

    return _stacked(layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


def stack_bidirectional_dynamic_rnn(
    cells_fw,
    cells_bw,
    inputs,
    initial_states_fw=None,
    initial_states_bw=None,
    dtype=None,
    sequence_length=None,
    parallel_iterations=None,
    time_major=False,
    scope=None,
    swap_memory=False,
):
    """stack_bidirectional_rnn() of bidirectional_dynamic_rnn(), with inputs (batch, time, n)."""

    def layer(cell_fw, cell_bw, inputs, state_fw, state_bw, scope):
        outputs, states = bidirectional_dynamic_rnn(
            cell_fw,
            cell_bw,
            inputs,
            sequence_length,
            state_fw,
            state_bw,
            dtype,
            parallel_iterations,
            swap_memory,
            time_major,
        )
        return array_ops.concat(outputs, 2), *states

    return _stacked(layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)
