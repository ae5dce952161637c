#!/usr/bin/env python3
"""Records the losses of 20 steps of recurrent networks in TensorFlow 1.15, and beams after them.

Usage: python make_recurrent_training.py      (a Python that has TensorFlow 1.15.5)

Writes recurrent_training.json; test_recurrent_training.py trains the same.
"""

import json
import os
import sys

import numpy as np

VOCAB, TIME, START, END, BEAMS = 12, 6, 1, 2, 3


def character_model(tf, rng):
    """(loss, training, feeds, results): stacked LSTMs over characters."""
    ids = tf.placeholder(tf.int32, [None, None])
    targets = tf.placeholder(tf.int32, [None, None])
    table = tf.get_variable("table", [VOCAB, 8])
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(12) for _ in range(2)])
    zero = cell.zero_state(tf.shape(ids)[0], tf.float32)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, ids), initial_state=zero)
    logits = tf.layers.dense(outputs, VOCAB)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
    )
    data = rng.randint(0, VOCAB, [4, TIME + 1])
    return loss, clipped(tf, loss), {ids: data[:, :-1], targets: data[:, 1:]}, []


def clipped(tf, loss):
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    return tf.train.AdamOptimizer(0.02).apply_gradients(zip(gradients, variables))


def tagger(tf, rng):
    """The same of a bidirectional LSTM and a conditional random field."""
    words = tf.placeholder(tf.int32, [None, None])
    tags = tf.placeholder(tf.int32, [None, None])
    lengths = tf.placeholder(tf.int32, [None])
    table = tf.get_variable("words", [VOCAB, 6])
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.LSTMCell(8, use_peepholes=True),
        tf.nn.rnn_cell.GRUCell(8),
        tf.nn.embedding_lookup(table, words),
        sequence_length=lengths,
        dtype=tf.float32,
    )
    scores = tf.layers.dense(tf.concat(outputs, -1), 4)
    likelihood, transitions = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)
    best, _ = tf.contrib.crf.crf_decode(scores, transitions, lengths)
    data = rng.randint(0, VOCAB, [5, TIME])
    feeds = {words: data, tags: data % 4, lengths: [6, 2, 5, 3, 1]}
    loss = -tf.reduce_mean(likelihood)
    return loss, tf.train.AdamOptimizer(0.05).minimize(loss), feeds, [best]


def attentive(tf, memory, lengths):
    mechanism = tf.contrib.seq2seq.BahdanauAttention(10, memory, lengths, normalize=True)
    return tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.GRUCell(10), mechanism, attention_layer_size=10
    )


def translator(tf, rng):
    """The same of an encoder and a decoder with attention; the results are beams."""
    seq2seq = tf.contrib.seq2seq
    source = tf.placeholder(tf.int32, [None, None])
    lengths = tf.placeholder(tf.int32, [None])
    given = tf.placeholder(tf.int32, [None, None])
    wanted = tf.placeholder(tf.int32, [None, None])
    batch = tf.shape(source)[0]
    table = tf.get_variable("table", [VOCAB, 8])
    with tf.variable_scope("encoder"):
        encoded, state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.GRUCell(10),
            tf.nn.embedding_lookup(table, source),
            lengths,
            dtype=tf.float32,
        )
    projection = tf.layers.Dense(VOCAB, use_bias=False, name="projection")
    with tf.variable_scope("decode"):
        cell = attentive(tf, encoded, lengths)
        helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, given), lengths + 1)
        first = cell.zero_state(batch, tf.float32).clone(cell_state=state)
        decoder = seq2seq.BasicDecoder(cell, helper, first, projection)
        outputs, _, _ = seq2seq.dynamic_decode(decoder, scope="decoder")
    steps = tf.shape(outputs.rnn_output)[1]
    weights = tf.sequence_mask(lengths + 1, steps, dtype=tf.float32)
    loss = seq2seq.sequence_loss(outputs.rnn_output, wanted[:, :steps], weights)
    train = clipped(tf, loss)
    with tf.variable_scope("decode", reuse=True):
        tiled = [seq2seq.tile_batch(x, BEAMS) for x in (encoded, lengths, state)]
        cell = attentive(tf, *tiled[:2])
        first = cell.zero_state(batch * BEAMS, tf.float32).clone(cell_state=tiled[2])
        search = seq2seq.BeamSearchDecoder(
            cell,
            table,
            tf.fill([batch], START),
            END,
            first,
            BEAMS,
            output_layer=projection,
            length_penalty_weight=0.5,
        )
        found, _, _ = seq2seq.dynamic_decode(search, maximum_iterations=TIME + 2, scope="decoder")
    counts = np.array([6, 3, 4, 5])
    data = rng.randint(3, VOCAB, [4, TIME])
    inputs = np.full([4, TIME + 1], END)
    outputs = np.full([4, TIME + 1], END)
    for row, count in enumerate(counts):
        inputs[row, 0] = START
        inputs[row, 1 : count + 1] = outputs[row, :count] = data[row, :count][::-1]
    feeds = {source: data, lengths: counts, given: inputs, wanted: outputs}
    return loss, train, feeds, [found.predicted_ids]


MODELS = {"character_model": character_model, "tagger": tagger, "translator": translator}


def trained(tf, name):
    """The losses of 20 steps, and the results after them."""
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        loss, train, feeds, results = MODELS[name](tf, np.random.RandomState(0))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses = [float(session.run([loss, train], feeds)[0]) for _ in range(20)]
            return {"losses": losses, "results": [x.tolist() for x in session.run(results, feeds)]}


def main():
    import tensorflow

    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "recurrent_training.json"), "w") as file:
        json.dump({name: trained(tensorflow, name) for name in MODELS}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
