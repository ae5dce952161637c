#!/usr/bin/env python3
"""Records the nodes that TensorFlow 1.15 makes for tf.contrib.seq2seq, and what they compute.

Usage: python make_seq2seq.py      (a Python that has TensorFlow 1.15.5)

Writes seq2seq.json, as make_control_flow.py does for its programs.
"""

import sys

from make_control_flow import write
from make_recurrent import flat, sequence, spread, weights

PROGRAMS, MISTAKES = {}, {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mistake(function):
    MISTAKES[function.__name__] = function
    return function


def decoded(tf, made):
    """What dynamic_decode() gives, but for arrays."""
    return [x for x in flat(tf, made) if isinstance(x, tf.Tensor)]


def trained(tf, cell, state, helper=None, output_layer=None, **options):
    """What a decoder gives that is fed the right answers."""
    seq2seq = tf.contrib.seq2seq
    if helper is None:
        helper = seq2seq.TrainingHelper(sequence(tf, 2, 4, 3), [4, 2])
    decoder = seq2seq.BasicDecoder(cell, helper, state, output_layer)
    return decoded(tf, seq2seq.dynamic_decode(decoder, **options))


def memory(tf):
    return tf.constant(spread(2, 5, 4))


# ---- Helpers

# Random operations of several trips run in any order.
ONE_BY_ONE = {"parallel_iterations": 1}


@program
def training(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        return trained(tf, cell, cell.zero_state(2, tf.float32))


@program
def training_logits(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.LSTMCell(3)
        layer = tf.layers.Dense(5, use_bias=False)
        state = cell.zero_state(2, tf.float32)
        return trained(
            tf,
            cell,
            state,
            output_layer=layer,
            output_time_major=True,
            impute_finished=True,
            maximum_iterations=3,
            swap_memory=True,
        )


@program
def training_time_major(tf):
    helper = tf.contrib.seq2seq.TrainingHelper(tf.constant(spread(4, 2, 3)), [1, 3], True)
    with weights(tf):
        cell = tf.nn.rnn_cell.BasicRNNCell(2)
        return trained(tf, cell, cell.zero_state(2, tf.float32), helper, scope="mine")


@program
def scheduled_embedding(tf):
    tf.set_random_seed(3)
    helper = tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
        tf.constant(spread(2, 4, 3)), [4, 3], tf.constant(spread(5, 3)), 0.5, seed=1
    )
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(5)
        return trained(tf, cell, cell.zero_state(2, tf.float32), helper, **ONE_BY_ONE)


@program
def scheduled_outputs(tf):
    tf.set_random_seed(3)
    helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(
        tf.constant(spread(2, 4, 3)),
        [4, 3],
        tf.placeholder_with_default(0.5, []),
        next_inputs_fn=lambda x: x * 2.0,
        auxiliary_inputs=tf.constant(spread(2, 4, 2)),
    )
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        return trained(tf, cell, cell.zero_state(2, tf.float32), helper, **ONE_BY_ONE)


@program
def scheduled_plain(tf):
    tf.set_random_seed(3)
    helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(
        tf.constant(spread(2, 4, 3)), [4, 3], 1.0
    )
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        return trained(tf, cell, cell.zero_state(2, tf.float32), helper, **ONE_BY_ONE)


@program
def greedy(tf):
    with weights(tf):
        table = tf.get_variable("table", [5, 3])
        helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(table, tf.fill([2], 1), 0)
        cell = tf.nn.rnn_cell.GRUCell(4)
        layer = tf.layers.Dense(5)
        state = tf.constant(spread(2, 4))
        return trained(tf, cell, state, helper, layer, maximum_iterations=6)


@program
def sampled(tf):
    tf.set_random_seed(3)
    with weights(tf):
        table = tf.constant(spread(5, 3))
        helper = tf.contrib.seq2seq.SampleEmbeddingHelper(
            lambda ids: tf.nn.embedding_lookup(table, ids), [1, 2], 0, softmax_temperature=0.5
        )
        cell = tf.nn.rnn_cell.GRUCell(5)
        state = cell.zero_state(2, tf.float32)
        return trained(tf, cell, state, helper, maximum_iterations=tf.constant(5), **ONE_BY_ONE)


@program
def inferred(tf):
    helper = tf.contrib.seq2seq.InferenceHelper(
        sample_fn=lambda outputs: outputs[:, :2],
        sample_shape=[2],
        sample_dtype=tf.float32,
        start_inputs=tf.constant(spread(2, 2)),
        end_fn=lambda ids: tf.reduce_sum(ids, -1) > 0.9,
        next_inputs_fn=lambda ids: ids + 0.1,
    )
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        state = cell.zero_state(2, tf.float32)
        return trained(tf, cell, state, helper, maximum_iterations=5)


@program
def custom(tf):
    helper = tf.contrib.seq2seq.CustomHelper(
        initialize_fn=lambda: (tf.tile([False], [2]), tf.ones([2, 3])),
        sample_fn=lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
        next_inputs_fn=lambda time, outputs, state, sample_ids: (
            tf.tile([time > 2], [2]),
            outputs,
            state,
        ),
    )
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(3)
        return trained(tf, cell, cell.zero_state(2, tf.float32), helper)


# ---- Attention

MECHANISMS = {
    "luong": lambda s, m: s.LuongAttention(4, m),
    "luong_scaled": lambda s, m: s.LuongAttention(4, m, [2, 5], scale=True),
    "luong_hard": lambda s, m: s.LuongAttention(4, m, probability_fn=s.hardmax),
    "bahdanau": lambda s, m: s.BahdanauAttention(3, m, [2, 5]),
    "bahdanau_normed": lambda s, m: s.BahdanauAttention(3, m, normalize=True),
    "bahdanau_monotonic": lambda s, m: s.BahdanauMonotonicAttention(
        3, m, normalize=True, score_bias_init=0.5
    ),
    "bahdanau_recursive": lambda s, m: s.BahdanauMonotonicAttention(3, m, mode="recursive"),
    "luong_monotonic": lambda s, m: s.LuongMonotonicAttention(4, m, [2, 5], scale=True),
    "luong_monotonic_hard": lambda s, m: s.LuongMonotonicAttention(4, m, mode="hard"),
}


def of_mechanism(make):
    def made(tf):
        with weights(tf):
            mechanism = make(tf.contrib.seq2seq, memory(tf))
            state = mechanism.initial_state(2, tf.float32)
            query = tf.constant(spread(2, 4))
            return flat(tf, state, mechanism(query, state), mechanism.keys, mechanism.values)

    return made


for _name, _make in MECHANISMS.items():
    PROGRAMS["attention_" + _name] = of_mechanism(_make)


@program
def attention_noise(tf):
    tf.set_random_seed(3)
    with weights(tf):
        mechanism = tf.contrib.seq2seq.LuongMonotonicAttention(
            4, memory(tf), sigmoid_noise=0.5, sigmoid_noise_seed=2
        )
        return flat(
            tf, mechanism(tf.constant(spread(2, 4)), mechanism.initial_state(2, tf.float32))
        )


@program
def wrapper_history(tf):
    seq2seq = tf.contrib.seq2seq
    with weights(tf):
        mechanism = seq2seq.BahdanauAttention(3, memory(tf), [5, 3])
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.LSTMCell(4), mechanism, attention_layer_size=2, alignment_history=True
        )
        helper = seq2seq.TrainingHelper(sequence(tf, 2, 4, 3), [4, 2])
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        outputs, state, lengths = seq2seq.dynamic_decode(decoder)
        history = state.alignment_history.stack()
        return [*outputs, lengths, history, *state.cell_state, state.time, state.alignments]


@program
def wrapper_of_two(tf):
    seq2seq = tf.contrib.seq2seq
    with weights(tf):
        keep = tf.placeholder_with_default(spread(2, 5, 4), [None, None, 4])
        mechanisms = [seq2seq.LuongAttention(4, keep), seq2seq.BahdanauAttention(3, memory(tf))]
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(4),
            mechanisms,
            attention_layer_size=[2, 3],
            cell_input_fn=lambda inputs, attention: tf.concat([attention, inputs], -1),
            output_attention=False,
            initial_cell_state=tf.constant(spread(2, 4)),
            name="looks",
        )
        return trained(tf, cell, cell.zero_state(2, tf.float32))


@program
def wrapper_plain(tf):
    seq2seq = tf.contrib.seq2seq
    with weights(tf):
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(4), seq2seq.LuongAttention(4, memory(tf))
        )
        state = cell.zero_state(2, tf.float32).clone(cell_state=tf.constant(spread(2, 4)))
        return decoded(tf, cell(tf.constant(spread(2, 3)), state))


# ---- Beams


def search(tf, cell, state, width=3, **options):
    table = tf.get_variable("table", [6, 3])
    decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        cell,
        table,
        tf.fill([2], 1),
        0,
        state,
        width,
        output_layer=tf.layers.Dense(6),
        **options,
    )
    made = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    return decoded(tf, made)


@program
def beams(tf):
    with weights(tf):
        cell = tf.nn.rnn_cell.GRUCell(4)
        state = tf.contrib.seq2seq.tile_batch(tf.constant(spread(2, 4)), 3)
        return search(tf, cell, state)


@program
def beams_with_penalties(tf):
    seq2seq = tf.contrib.seq2seq
    with weights(tf):
        tiled = seq2seq.tile_batch(sequence(tf, 2, 5, 4), 3)
        lengths = seq2seq.tile_batch(tf.constant([5, 3]), 3)
        mechanism = seq2seq.BahdanauAttention(3, tiled, lengths)
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])
        cell = seq2seq.AttentionWrapper(cell, mechanism, attention_layer_size=4)
        state = cell.zero_state(6, tf.float32)
        return search(
            tf, cell, state, length_penalty_weight=0.7, coverage_penalty_weight=0.2
        )


@program
def beams_sort_arrays(tf):
    seq2seq = tf.contrib.seq2seq
    with weights(tf):
        mechanism = seq2seq.LuongAttention(4, seq2seq.tile_batch(memory(tf), 3))
        cell = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(4), mechanism, attention_layer_size=4, alignment_history=True
        )
        return search(tf, cell, cell.zero_state(6, tf.float32))


@program
def tiled_structure(tf):
    tile = tf.contrib.seq2seq.tile_batch
    x = tf.placeholder_with_default([[1, 2], [3, 4]], [None, 2])
    return flat(tf, tile((x, [tf.constant([1.0, 2.0])]), 2), tile(x, tf.constant(3), name="t"))


@program
def tree(tf):
    ids = tf.constant([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]])
    parents = tf.constant([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]])
    return [tf.contrib.seq2seq.gather_tree(ids, parents, [3], 10)]


@program
def small_functions(tf):
    seq2seq = tf.contrib.seq2seq
    x = tf.constant(abs(spread(2, 4)))
    return [seq2seq.hardmax(x), seq2seq.safe_cumprod(x, axis=1, exclusive=True)]


# ---- Mistakes


@mistake
def no_decoder(tf):
    tf.contrib.seq2seq.dynamic_decode(3)


@mistake
def no_helper(tf):
    tf.contrib.seq2seq.BasicDecoder(tf.nn.rnn_cell.GRUCell(2), 3, None)


@mistake
def no_layer(tf):
    helper = tf.contrib.seq2seq.TrainingHelper(tf.ones([2, 3, 2]), [3, 3])
    tf.contrib.seq2seq.BasicDecoder(tf.nn.rnn_cell.GRUCell(2), helper, None, output_layer=3)


@mistake
def lengths_are_no_vector(tf):
    tf.contrib.seq2seq.TrainingHelper(tf.ones([2, 3, 2]), [[3, 3]])


@mistake
def end_is_no_scalar(tf):
    tf.contrib.seq2seq.GreedyEmbeddingHelper(tf.ones([2, 3]), [1], [0])


@mistake
def starts_are_no_vector(tf):
    tf.contrib.seq2seq.GreedyEmbeddingHelper(tf.ones([2, 3]), 1, 0)


@mistake
def probability_is_a_matrix(tf):
    tf.contrib.seq2seq.ScheduledOutputTrainingHelper(tf.ones([2, 3, 2]), [3, 3], [[0.5]])


@mistake
def no_mechanism(tf):
    tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(2), 3)


@mistake
def too_many_sizes(tf):
    mechanism = tf.contrib.seq2seq.LuongAttention(2, tf.ones([2, 3, 2]))
    tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(2), mechanism, [2, 3])


@mistake
def memory_of_unknown_size(tf):
    tf.contrib.seq2seq.LuongAttention(2, tf.placeholder(tf.float32, [2, 3, None]))


@mistake
def query_of_other_size(tf):
    mechanism = tf.contrib.seq2seq.LuongAttention(2, tf.ones([2, 3, 2]))
    mechanism(tf.ones([2, 3]), tf.ones([2, 3]))


@mistake
def unknown_mode(tf):
    tf.contrib.seq2seq.monotonic_attention(tf.ones([1, 2]), tf.ones([1, 2]), "soft")


if __name__ == "__main__":
    sys.exit(write("seq2seq.json", PROGRAMS, MISTAKES))
