"""Cells of tf.contrib.rnn over time and frequency: the inputs are cut into overlapping bands."""

import collections

from rheos.contrib.gated_cells import input_size_of
from rheos.contrib.lstm_cells import sharded_variable
from rheos.framework import dtypes
from rheos.layers.rnn_cells import RNNCell
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops
from rheos.ops.state.variable_scope import get_variable, variable_scope


def _clipped(x, limit):
    return x if limit is None else clip_ops.clip_by_value(x, -limit, limit)


def _zero_bias(name, size, dtype):
    zeros = init_ops.zeros_initializer()
    return get_variable(name, shape=[size], initializer=zeros, dtype=dtype)


def _band_count(size, band, skip):
    return int((size - band) / skip) + 1


def _bands(x, first, count, band, skip):
    return [array_ops.slice(x, [0, first + n * skip], [-1, band]) for n in range(count)]


class TimeFreqLSTMCell(RNNCell):
    """An LSTM cell that goes over the bands of its inputs too (Li and others, 2015).

    feature_size: of a band; frequency_skip: from one to the next. The state holds c and m of each
    band, joined.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_unit_shards=1,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=1,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip

    @property
    def state_size(self):
        return 2 * self._num_units

    @property
    def output_size(self):
        return self._num_units

    def _bands_of(self, inputs):
        size, band, skip = input_size_of(inputs), self._feature_size, self._frequency_skip
        return _bands(inputs, 0, _band_count(size, band, skip), band, skip)

    def _step(self, band, c, m, below, kernel, bias, peepholes):
        """The new c and m of a band, from its own and the m of the band below."""
        sigmoid, tanh = math_ops.sigmoid, math_ops.tanh
        made = math_ops.matmul(array_ops.concat([band, m, below], 1), kernel)
        made = nn_ops.bias_add(made, bias)
        i, j, f, o = array_ops.split(value=made, num_or_size_splits=4, axis=1)
        if peepholes:
            w_f, w_i, w_o = peepholes
            kept = sigmoid(f + self._forget_bias + w_f * c) * c
            new_c = kept + sigmoid(i + w_i * c) * tanh(j)
        else:
            new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        new_c = _clipped(new_c, self._cell_clip)
        return new_c, sigmoid(o + w_o * new_c if peepholes else o) * tanh(new_c)

    def call(self, inputs, state):
        units, dtype = self._num_units, inputs.dtype
        bands = self._bands_of(inputs)
        rows = bands[0].shape.as_list()[1] + 2 * units
        kernel = sharded_variable("W", [rows, 4 * units], dtype, self._num_unit_shards)
        bias = _zero_bias("B", 4 * units, dtype)
        peepholes = self._use_peepholes and [
            get_variable(f"W_{gate}_diag", shape=[units], dtype=dtype) for gate in "FIO"
        ]
        m = array_ops.zeros([inputs.shape.size_at(0) or array_ops.shape(inputs)[0], units], dtype)
        state_out = output = None
        for n, band in enumerate(bands):
            old_c = array_ops.slice(state, [0, 2 * n * units], [-1, units])
            old_m = array_ops.slice(state, [0, (2 * n + 1) * units], [-1, units])
            c, m = self._step(band, old_c, old_m, m, kernel, bias, peepholes)
            state_out = array_ops.concat([c, m] if n == 0 else [state_out, c, m], 1)
            output = m if n == 0 else array_ops.concat([output, m], 1)
        return output, state_out


class GridLSTMCell(RNNCell):
    """An LSTM cell with two dimensions, time and frequency (Kalchbrenner and others, 2015).

    feature_size, frequency_skip: as of TimeFreqLSTMCell. num_frequency_blocks: the number of bands
    of each block; start_freqindex_list and end_freqindex_list tell where the blocks start and end,
    if there are several. share_time_frequency_weights: one kernel for both dimensions.
    couple_input_forget_gates: takes in as much as it forgets. ValueError for numbers of bands that
    do not fit the inputs.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        share_time_frequency_weights=False,
        cell_clip=None,
        initializer=None,
        num_unit_shards=1,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=None,
        num_frequency_blocks=None,
        start_freqindex_list=None,
        end_freqindex_list=None,
        couple_input_forget_gates=False,
        state_is_tuple=True,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share = share_time_frequency_weights
        self._couple = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        self._block_sizes = num_frequency_blocks
        self._total = sum(int(size) for size in num_frequency_blocks)
        self._tuple_type = None
        if state_is_tuple:
            self._tuple_type = self._named_state("GridLSTMStateTuple", ["state"])

    def _named_state(self, name, prefixes):
        """A named tuple of the c and m of all bands."""
        fields = [
            f"{prefix}_f{band:02}_b{block:02}_{part}"
            for prefix in prefixes
            for block, size in enumerate(self._block_sizes)
            for band in range(size)
            for part in "cm"
        ]
        return collections.namedtuple(name, fields)

    @property
    def state_size(self):
        if self._state_is_tuple:
            return self._tuple_type(*[self._num_units] * len(self._tuple_type._fields))
        return self._num_units * self._total * 2

    @property
    def output_size(self):
        return self._num_units * self._total * 2

    @property
    def state_tuple_type(self):
        """The named tuple that states are, or None."""
        return self._tuple_type

    def call(self, inputs, state):
        batch_size = inputs.shape.size_at(0) or array_ops.shape(inputs)[0]
        outputs, states = [], []
        for block, bands in enumerate(self._blocks_of(inputs)):
            made = self._compute(bands, block, state, batch_size, "state")
            outputs += made[0]
            states += made[1]
        after = self._tuple_type(*states) if self._state_is_tuple else array_ops.concat(states, 1)
        return array_ops.concat(outputs, 1), after

    # -- The bands

    def _blocks_of(self, inputs, offset=0):
        """The bands of each block."""
        size = input_size_of(inputs)
        if offset:
            sides = [0, 0, 0, offset] if offset > 0 else [0, 0, -offset, 0]
            paddings = constant(sides, shape=[2, 2], dtype=dtypes.int32)
            inputs = array_ops.pad(inputs, paddings, "CONSTANT")
        offset = max(offset, 0)
        if not self._starts:
            if len(self._block_sizes) != 1:
                raise ValueError(
                    "Length of num_frequency_blocks is not 1, but instead is "
                    f"{len(self._block_sizes)}"
                )
            ranges = [(0, size)]
        else:
            counts = len(self._starts), len(self._ends), len(self._block_sizes)
            if len(set(counts)) != 1:
                raise ValueError(
                    "Lengths of start_freqindex_list, end_freqindex_list and num_frequency_blocks "
                    "do not match: %d, %d, %d" % counts
                )
            ranges = list(zip(self._starts, self._ends))
        return [
            self._bands_of_block(inputs, block, start, end - start, offset)
            for block, (start, end) in enumerate(ranges)
        ]

    def _bands_of_block(self, inputs, block, start, size, offset):
        band, skip = self._feature_size, self._frequency_skip
        count, expected = _band_count(size, band, skip), self._block_sizes[block]
        if count != expected:
            raise ValueError(
                f"Invalid num_frequency_blocks, requires {expected} but gets {count}, please "
                "check the input size and filter config are correct."
            )
        return _bands(inputs, start + offset, count, band, skip)

    # -- The step

    def _weights(self, side, block, rows, dtype):
        """The kernel and the bias of one side, f or t."""
        width = (3 if self._couple else 4) * self._num_units
        shards = self._num_unit_shards
        kernel = sharded_variable(f"W_{side}_{block}", [rows, width], dtype, shards)
        return kernel, _zero_bias(f"B_{side}_{block}", width, dtype)

    def _peepholes(self, side, block, dtype):
        """By gate, the weights of the c over frequency and of that over time."""
        return {
            gate: [
                get_variable(
                    f"W_{gate.upper()}_diag_{side}{end}_{block}",
                    shape=[self._num_units],
                    dtype=dtype,
                )
                for end in "ft"
            ]
            for gate in ("io" if self._couple else "fio")
        }

    def _split(self, joint, weights):
        """The gates by their names, from the kernel of one side."""
        names = "ijo" if self._couple else "ijfo"
        made = nn_ops.bias_add(math_ops.matmul(joint, weights[0]), weights[1])
        parts = array_ops.split(value=made, num_or_size_splits=len(names), axis=1)
        return dict(zip(names, parts))

    def _memory(self, gates, peepholes, kept, c_freq, c_time):
        """The new c of one side; `kept` is its old one."""
        i = gates["i"]
        if peepholes:
            i = i + peepholes["i"][0] * c_freq + peepholes["i"][1] * c_time
        i = math_ops.sigmoid(i)
        if self._couple:
            f = 1.0 - i
        else:
            f = gates["f"] + self._forget_bias
            if peepholes:
                f = f + peepholes["f"][0] * c_freq + peepholes["f"][1] * c_time
            f = math_ops.sigmoid(f)
        return _clipped(f * kept + i * math_ops.tanh(gates["j"]), self._cell_clip)

    @staticmethod
    def _seen(gates, peepholes, c, c_freq, c_time):
        """The output of one side."""
        o = gates["o"]
        if peepholes:
            o = o + peepholes["o"][0] * c_freq + peepholes["o"][1] * c_time
        return math_ops.sigmoid(o) * math_ops.tanh(c)

    def _old(self, state, prefix, band, block):
        if self._state_is_tuple:
            name = f"{prefix}_f{band:02}_b{block:02}"
            return getattr(state, name + "_c"), getattr(state, name + "_m")
        units = self._num_units
        c = array_ops.slice(state, [0, 2 * band * units], [-1, units])
        return c, array_ops.slice(state, [0, (2 * band + 1) * units], [-1, units])

    def _compute(self, bands, block, state, batch_size, prefix):
        """The outputs and the new states of the bands of a block, as lists."""
        units, dtype = self._num_units, bands[0].dtype
        rows = bands[0].shape.as_list()[1] + 2 * units
        weights_f = self._weights("f", block, rows, dtype)
        weights_t = None if self._share else self._weights("t", block, rows, dtype)
        over_f = over_t = None
        if self._use_peepholes:
            over_f = over_t = self._peepholes("freq", block, dtype)
            if not self._share:
                over_t = self._peepholes("time", block, dtype)
        m_freq = array_ops.zeros([batch_size, units], dtype)
        c_freq = array_ops.zeros([batch_size, units], dtype)
        outputs, states = [], []
        for n, band in enumerate(bands):
            c_old, m_old = self._old(state, prefix, n, block)
            joint = array_ops.concat([band, m_old, m_freq], 1)
            gates_f = self._split(joint, weights_f)
            gates_t = gates_f if self._share else self._split(joint, weights_t)
            c_below = c_freq
            c_freq = self._memory(gates_f, over_f, c_below, c_below, c_old)
            c_time = self._memory(gates_t, over_t, c_old, c_below, c_old)
            m_freq = self._seen(gates_f, over_f, c_freq, c_freq, c_time)
            m_time = self._seen(gates_t, over_t, c_time, c_freq, c_time)
            outputs += [m_time, m_freq]
            states += [c_time, m_time]
        return outputs, states


class BidirectionalGridLSTMCell(GridLSTMCell):
    """GridLSTMCell that goes over the bands in both directions, with variables in fwd and bwd.

    backward_slice_offset: by how much the bands of the way back are shifted.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        share_time_frequency_weights=False,
        cell_clip=None,
        initializer=None,
        num_unit_shards=1,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=None,
        num_frequency_blocks=None,
        start_freqindex_list=None,
        end_freqindex_list=None,
        couple_input_forget_gates=False,
        backward_slice_offset=0,
        reuse=None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._offset = int(backward_slice_offset)
        prefixes = ["fwd_state", "bwd_state"]
        self._tuple_type = self._named_state("BidirectionalGridLSTMStateTuple", prefixes)

    @property
    def output_size(self):
        return 2 * super().output_size

    def call(self, inputs, state):
        batch_size = inputs.shape.size_at(0) or array_ops.shape(inputs)[0]
        forward = self._blocks_of(inputs)
        backward = self._blocks_of(inputs, self._offset) if self._offset else forward
        outputs, states = [], []
        for way, blocks in (("fwd", forward), ("bwd", [bands[::-1] for bands in backward])):
            with variable_scope(way):
                for block, bands in enumerate(blocks):
                    made = self._compute(bands, block, state, batch_size, f"{way}_state")
                    outputs += made[0]
                    states += made[1]
        return array_ops.concat(outputs, 1), self._tuple_type(*states)
