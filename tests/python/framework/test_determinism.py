"""Training gives the same bits with any number of threads."""

import numpy as np
import pytest
import rheos.v1 as tf


def _labels(count, classes):
    return np.arange(count) * 7 % classes


def _mlp():
    x = tf.placeholder(tf.float32, [None, 200], name="x")
    h = tf.layers.dense(x, 300, tf.nn.relu)
    h = tf.layers.dense(h, 257, tf.tanh)
    logits = tf.layers.dense(h, 10)
    return x, (160, 200), logits


def _cnn():
    x = tf.placeholder(tf.float32, [None, 20, 20, 3], name="x")
    h = tf.layers.conv2d(x, 16, 3, padding="same")
    h = tf.nn.relu(tf.layers.batch_normalization(h, training=True))
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.nn.relu(tf.layers.conv2d(h, 24, 3))
    logits = tf.layers.dense(tf.layers.flatten(h), 10)
    return x, (24, 20, 20, 3), logits


def _lstm():
    x = tf.placeholder(tf.float32, [None, 12, 40], name="x")
    cell = tf.nn.rnn_cell.BasicLSTMCell(96)
    outputs, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    logits = tf.layers.dense(outputs[-1], 10)
    return x, (48, 12, 40), logits


def _train(model, optimizer, threads):
    """Losses and variables after a few steps."""
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        x, shape, logits = model()
        y = tf.placeholder(tf.int32, [None], name="y")
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
        step = optimizer().minimize(loss)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        config = tf.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
        )
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            random = np.random.RandomState(3)
            feed = {y: _labels(shape[0], 10)}
            results = []
            for _ in range(3):
                feed[x] = random.uniform(-1, 1, shape).astype(np.float32)
                results.append(session.run([loss, step, updates], feed)[0])
            return results + session.run(tf.global_variables())


@pytest.mark.parametrize("model", [_mlp, _cnn, _lstm])
@pytest.mark.parametrize(
    "optimizer",
    [lambda: tf.train.GradientDescentOptimizer(0.1), lambda: tf.train.AdamOptimizer(0.01)],
    ids=["sgd", "adam"],
)
def test_the_same_bits_at_any_number_of_threads(model, optimizer):
    expected = _train(model, optimizer, 1)
    assert all(np.isfinite(v).all() for v in expected)
    assert expected[0] != expected[2]  # it learns
    for threads in (2, 3, 8):
        for one, other in zip(expected, _train(model, optimizer, threads)):
            assert one.tobytes() == other.tobytes()
