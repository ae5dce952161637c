#!/usr/bin/env python3
"""Records the nodes that TensorFlow 1.15 makes for recurrent networks, and what they compute.

Usage: python make_recurrent.py      (a Python that has TensorFlow 1.15.5)

Writes recurrent.json, as make_control_flow.py does for its programs.
"""

import sys

import numpy as np
from make_control_flow import write

PROGRAMS, MISTAKES = {}, {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mistake(function):
    MISTAKES[function.__name__] = function
    return function


def spread(*shape):
    """Small numbers that differ."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7 + count) * 0.5).astype(np.float32).reshape(shape)


def weights(tf):
    """A scope whose variables start with such numbers, unless they have initializers."""

    def initializer(shape, dtype=None, partition_info=None):
        return tf.constant(spread(*shape), dtype)

    return tf.variable_scope("model", initializer=initializer)


def sequence(tf, *shape):
    return tf.placeholder_with_default(spread(*shape), [None] * (len(shape) - 1) + [shape[-1]])


def flat(tf, *values):
    return tf.contrib.framework.nest.flatten(values)


# ---- Loops


@program
def dynamic_basic(tf):
    with weights(tf):
        x = tf.constant(spread(2, 4, 3))
        return flat(tf, tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(5), x, dtype=tf.float32))


@program
def dynamic_lstm_unknown(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.LSTMCell(4)
        return flat(tf, tf.nn.dynamic_rnn(cell, sequence(tf, 2, 4, 3), dtype=tf.float32))


@program
def dynamic_lengths(tf):
    lengths = tf.placeholder_with_default([3, 1, 4], [None])
    with weights(tf):
        cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, num_proj=3)
        x = sequence(tf, 3, 5, 3)
        return flat(tf, tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32))


@program
def dynamic_time_major(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        state = tf.constant(spread(2, 3))
        x = tf.constant(spread(4, 2, 3))
        made = tf.nn.dynamic_rnn(
            cell,
            x,
            tf.constant([4, 2], tf.int64),
            state,
            time_major=True,
            parallel_iterations=7,
            swap_memory=True,
            scope="mine",
        )
        return flat(tf, made)


@program
def dynamic_layers(tf):
    with weights(tf):
        cells = [tf.nn.rnn_cell.BasicLSTMCell(n) for n in (3, 2)]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        x = sequence(tf, 2, 4, 3)
        state = cell.zero_state(tf.shape(x)[0], tf.float32)
        return flat(tf, tf.nn.dynamic_rnn(cell, x, initial_state=state))


@program
def dynamic_wrapped(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(3))
        cell = tf.nn.rnn_cell.DeviceWrapper(cell, "/cpu:0")
        cell = tf.nn.rnn_cell.DropoutWrapper(cell, 0.9, 0.8, 0.7, seed=3)
        made = tf.nn.dynamic_rnn(cell, tf.constant(spread(2, 4, 3)), dtype=tf.float32)
        return [tf.shape(x) for x in flat(tf, made)]


@program
def dynamic_variational(tf):
    with weights(tf):
        tf.set_random_seed(5)
        cell = tf.nn.rnn_cell.DropoutWrapper(
            tf.nn.rnn_cell.BasicLSTMCell(4),
            0.9,
            0.8,
            0.7,
            variational_recurrent=True,
            input_size=3,
            dtype=tf.float32,
            seed=3,
        )
        return flat(tf, tf.nn.dynamic_rnn(cell, sequence(tf, 2, 4, 3), dtype=tf.float32))


@program
def dynamic_twice(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.BasicRNNCell(3)
        once, _ = tf.nn.dynamic_rnn(cell, sequence(tf, 2, 4, 3), dtype=tf.float32)
        with tf.variable_scope("second"):
            other = tf.nn.rnn_cell.BasicRNNCell(2)
            return flat(tf, tf.nn.dynamic_rnn(other, once, dtype=tf.float32))


@program
def dynamic_bidirectional(tf):
    with weights(tf):
        made = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(3),
            tf.nn.rnn_cell.BasicRNNCell(2),
            sequence(tf, 2, 4, 3),
            dtype=tf.float32,
        )
        return flat(tf, made)


@program
def dynamic_bidirectional_lengths(tf):
    with weights(tf):
        made = tf.nn.bidirectional_dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(3),
            tf.nn.rnn_cell.LSTMCell(3),
            sequence(tf, 2, 4, 3),
            tf.constant([2, 3]),
            dtype=tf.float32,
        )
        return flat(tf, made)


@program
def dynamic_in_a_loop(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.BasicRNNCell(3)

        def body(i, x):
            return i + 1, tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]

        return tf.while_loop(lambda i, x: i < 3, body, [0, tf.constant(spread(2, 4, 3))])


@program
def raw_steps(tf):
    inputs = tf.constant(spread(4, 2, 3))
    lengths = tf.constant([4, 2])
    array = tf.TensorArray(tf.float32, 4).unstack(inputs)
    cell = tf.nn.rnn_cell.LSTMCell(3)

    def loop_fn(time, output, state, loop_state):
        state = cell.zero_state(2, tf.float32) if output is None else state
        finished = time >= lengths
        done = tf.reduce_all(finished)
        given = tf.cond(done, lambda: tf.zeros([2, 3]), lambda: array.read(time))
        return finished, given, state, output, None

    with weights(tf):
        arrays, state, loop_state = tf.nn.raw_rnn(cell, loop_fn)
    assert loop_state is None
    return [arrays.stack(), *state]


@program
def raw_emits(tf):
    cell = tf.nn.rnn_cell.GRUCell(3)

    def loop_fn(time, output, state, loop_state):
        if output is None:
            emitted = (tf.zeros([], tf.int32), tf.zeros([3]))
            return tf.tile([False], [2]), tf.ones([2, 2]), tf.ones([2, 3]), emitted, tf.constant(1)
        emitted = (tf.cast(tf.argmax(output, -1), tf.int32), output)
        return tf.fill([2], time >= 3), output[:, :2], state, emitted, loop_state * 2

    with weights(tf):
        arrays, state, loop_state = tf.nn.raw_rnn(cell, loop_fn)
    return [arrays[0].stack(), arrays[1].stack(), state, loop_state]


# ---- Unrolled


def steps(tf, *shape):
    return tf.unstack(tf.constant(spread(*shape)))


@program
def static_lengths(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.LSTMCell(3)
        lengths = tf.placeholder_with_default([2, 1], [2])
        made = tf.nn.static_rnn(cell, steps(tf, 3, 2, 2), dtype=tf.float32, sequence_length=lengths)
        return flat(tf, made)


@program
def static_bidirectional_lengths(tf):
    with weights(tf):
        made = tf.nn.static_bidirectional_rnn(
            tf.nn.rnn_cell.GRUCell(2),
            tf.nn.rnn_cell.GRUCell(2),
            steps(tf, 2, 2, 2),
            dtype=tf.float32,
            sequence_length=tf.constant([2, 1]),
        )
        return flat(tf, made)


@program
def stack_static(tf):
    with weights(tf):
        made = tf.contrib.rnn.stack_bidirectional_rnn(
            [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(3)],
            [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(3)],
            steps(tf, 2, 2, 2),
            dtype=tf.float32,
        )
        return flat(tf, made)


@program
def stack_dynamic(tf):
    with weights(tf):
        made = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
            [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.BasicLSTMCell(3)],
            [tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.BasicLSTMCell(3)],
            sequence(tf, 2, 3, 2),
            dtype=tf.float32,
        )
        return flat(tf, made)


@program
def fused_adaptors(tf):
    rnn = tf.contrib.rnn
    with weights(tf):
        cell = tf.nn.rnn_cell.BasicRNNCell(3)
        x = tf.constant(spread(3, 2, 3))
        dynamic = rnn.FusedRNNCellAdaptor(cell, use_dynamic_rnn=True)
        made = dynamic(x, dtype=tf.float32, scope="dynamic")
        static = rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.BasicRNNCell(2))
        turned = rnn.TimeReversedFusedRNN(static)
        lengths = tf.constant([3, 2])
        other = turned(x, dtype=tf.float32, sequence_length=lengths, scope="static")
        listed = dynamic(tf.unstack(x), dtype=tf.float32, scope="listed")
        return flat(tf, made, other, listed)


@program
def fused_block(tf):
    with weights(tf):
        cell = tf.contrib.rnn.LSTMBlockFusedCell(3, use_peephole=True, cell_clip=2.0)
        made = cell(tf.constant(spread(4, 2, 3)), dtype=tf.float32)
        state = (tf.constant(spread(2, 3)), tf.constant(spread(2, 3)))
        other = tf.contrib.rnn.LSTMBlockFusedCell(3, name="other")
        lengths = tf.constant([3, 2])
        held = other(tf.constant(spread(4, 2, 3)), initial_state=state, sequence_length=lengths)
        return flat(tf, made, held)


# ---- Cells


def apply(tf, cell):
    """The output and state of a step of a cell."""
    return flat(tf, cell(tf.constant(spread(2, 3)), cell.zero_state(2, tf.float32)))


CELLS = {
    "coupled": lambda rnn: rnn.CoupledInputForgetGateLSTMCell(4, use_peepholes=True),
    "coupled_projected": lambda rnn: rnn.CoupledInputForgetGateLSTMCell(
        4, num_proj=3, proj_clip=0.1, num_unit_shards=2, layer_norm=True, state_is_tuple=False
    ),
    "time_freq": lambda rnn: rnn.TimeFreqLSTMCell(
        2, True, 0.5, feature_size=3, frequency_skip=1, num_unit_shards=2
    ),
    "grid": lambda rnn: rnn.GridLSTMCell(
        2, True, feature_size=2, frequency_skip=1, num_frequency_blocks=[2]
    ),
    "grid_shared": lambda rnn: rnn.GridLSTMCell(
        2,
        True,
        share_time_frequency_weights=True,
        couple_input_forget_gates=True,
        cell_clip=0.2,
        feature_size=2,
        frequency_skip=1,
        num_frequency_blocks=[1, 1],
        start_freqindex_list=[0, 1],
        end_freqindex_list=[2, 3],
    ),
    "grid_joined": lambda rnn: rnn.GridLSTMCell(
        2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2], state_is_tuple=False
    ),
    "grid_both_ways": lambda rnn: rnn.BidirectionalGridLSTMCell(
        2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2], backward_slice_offset=1
    ),
    "attention_cell": lambda rnn: rnn.AttentionCellWrapper(rnn.GRUCell(3), 2),
    "attention_cell_joined": lambda rnn: rnn.AttentionCellWrapper(
        rnn.GRUCell(3), 2, attn_size=2, attn_vec_size=4, input_size=5, state_is_tuple=False
    ),
    "highway": lambda rnn: rnn.HighwayWrapper(rnn.GRUCell(3)),
    "highway_gates": lambda rnn: rnn.HighwayWrapper(rnn.GRUCell(3), False, 0.5),
    "compiled": lambda rnn: rnn.CompiledWrapper(rnn.GRUCell(3), compile_stateful=True),
    "ugrnn": lambda rnn: rnn.UGRNNCell(4),
    "intersection": lambda rnn: rnn.IntersectionRNNCell(3),
    "intersection_projected": lambda rnn: rnn.IntersectionRNNCell(4, num_in_proj=4),
    "grouped": lambda rnn: rnn.GLSTMCell(6, number_of_groups=3),
    "grouped_projected": lambda rnn: rnn.GLSTMCell(4, num_proj=3, number_of_groups=1),
    "sru": lambda rnn: rnn.SRUCell(4),
    "ind_rnn": lambda rnn: rnn.IndRNNCell(4),
    "indy_gru": lambda rnn: rnn.IndyGRUCell(4),
    "indy_lstm": lambda rnn: rnn.IndyLSTMCell(4),
    "nas": lambda rnn: rnn.NASCell(4, num_proj=3, use_bias=True),
    "layer_norm": lambda rnn: rnn.LayerNormBasicLSTMCell(4),
    "block": lambda rnn: rnn.LSTMBlockCell(4, use_peephole=True),
    "gru_block": lambda rnn: rnn.GRUBlockCellV2(4),
}


def of_cell(make):
    def made(tf):
        tf.set_random_seed(7)
        with weights(tf):
            return apply(tf, make(tf.contrib.rnn))

    return made


for _name, _make in CELLS.items():
    PROGRAMS["cell_" + _name] = of_cell(_make)


@program
def cell_phased(tf):
    tf.set_random_seed(7)
    with weights(tf):
        cell = tf.contrib.rnn.PhasedLSTMCell(4, use_peepholes=True)
        inputs = (tf.constant([[1.0], [2.5]]), tf.constant(spread(2, 3)))
        return flat(tf, cell(inputs, cell.zero_state(2, tf.float32)))


@program
def cell_convolutional(tf):
    results = []
    for ndims, kind in enumerate(("Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell"), 1):
        shape = [3] * ndims + [2]
        cell = getattr(tf.contrib.rnn, kind)(
            input_shape=shape,
            output_channels=3,
            kernel_shape=[2] * ndims,
            skip_connection=ndims == 3,
        )
        with weights(tf):
            x = tf.constant(spread(2, *shape))
            results.append(cell(x, cell.zero_state(2, tf.float32)))
    return flat(tf, results)


# ---- Mistakes


def dynamic(tf, **options):
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3, 2]), **options)


@mistake
def no_dtype(tf):
    dynamic(tf)


@mistake
def no_cell(tf):
    tf.nn.dynamic_rnn(3, tf.ones([2, 3, 2]), dtype=tf.float32)


@mistake
def lengths_of_rank_two(tf):
    dynamic(tf, dtype=tf.float32, sequence_length=[[1, 2]])


@mistake
def inputs_of_rank_two(tf):
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([2, 3]), dtype=tf.float32)


@mistake
def inputs_of_unknown_depth(tf):
    x = tf.placeholder(tf.float32, [None, None, None])
    tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), x, dtype=tf.float32)


@mistake
def raw_without_function(tf):
    tf.nn.raw_rnn(tf.nn.rnn_cell.GRUCell(2), 3)


@mistake
def stack_of_no_cells(tf):
    tf.contrib.rnn.stack_bidirectional_rnn([], [], [tf.ones([2, 3])], dtype=tf.float32)


@mistake
def stack_of_different_depths(tf):
    cells = [tf.nn.rnn_cell.GRUCell(2) for _ in range(3)]
    inputs = [tf.ones([2, 3])]
    tf.contrib.rnn.stack_bidirectional_rnn(cells[:1], cells[1:], inputs, dtype=tf.float32)


@mistake
def groups_do_not_divide(tf):
    tf.contrib.rnn.GLSTMCell(5, number_of_groups=2)


@mistake
def convolution_of_other_rank(tf):
    tf.contrib.rnn.ConvLSTMCell(2, [3, 2], 3, [2, 2])


@mistake
def attention_of_nothing(tf):
    tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(2), 0)


@mistake
def grid_without_blocks(tf):
    tf.contrib.rnn.GridLSTMCell(2, feature_size=2, frequency_skip=1)


@mistake
def grid_with_wrong_blocks(tf):
    cell = tf.contrib.rnn.GridLSTMCell(
        2, feature_size=2, frequency_skip=1, num_frequency_blocks=[3]
    )
    apply(tf, cell)


@mistake
def intersection_of_other_size(tf):
    apply(tf, tf.contrib.rnn.IntersectionRNNCell(4))


if __name__ == "__main__":
    sys.exit(write("recurrent.json", PROGRAMS, MISTAKES))
