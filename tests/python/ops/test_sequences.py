"""Sequences of labels and sets: decoded, scored, compared, joined."""

import numpy as np
import pytest
import rheos.v1 as tf

# Two sequences of three steps and three classes, the last of them the blank.
LOGITS = np.log(
    np.array([[[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]],
              [[0.7, 0.1, 0.2], [0.2, 0.7, 0.1]],
              [[0.2, 0.1, 0.7], [0.1, 0.8, 0.1]]], np.float32)
)  # fmt: skip


def labels(rows):
    indices = [[b, k] for b, row in enumerate(rows) for k in range(len(row))]
    values = [x for row in rows for x in row]
    return tf.SparseTensor(indices, tf.constant(values, tf.int32), [len(rows), 3])


def test_the_loss_is_that_of_all_paths(sess):
    loss = sess.run(tf.nn.ctc_loss(labels([[0], [1]]), LOGITS, [3, 3]))
    p = np.exp(LOGITS[:, 0])
    paths = [(0, 0, 0), (0, 0, 2), (0, 2, 2), (2, 0, 0), (2, 0, 2), (2, 2, 0)]
    total = sum(p[0, a] * p[1, b] * p[2, c] for a, b, c in paths)
    assert np.isclose(loss[0], -np.log(total), rtol=1e-5)
    turned = tf.nn.ctc_loss(labels([[0], [1]]), LOGITS.transpose(1, 0, 2), [3, 3], time_major=False)
    assert np.allclose(sess.run(turned), loss)
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.nn.ctc_loss([[0], [1]], LOGITS, [3, 3])


def test_decoders_find_the_labels(sess):
    (greedy,), score = tf.nn.ctc_greedy_decoder(LOGITS, [3, 3])
    found, scores = sess.run([greedy, score])
    assert found.values.tolist() == [0, 1] and found.dense_shape.tolist() == [2, 1]
    assert np.allclose(scores[0], -np.log(0.6 * 0.7 * 0.7), rtol=1e-5)
    beams, chances = tf.nn.ctc_beam_search_decoder(LOGITS, [3, 3], beam_width=9, top_paths=2)
    best, chance = sess.run([beams[0], chances])
    assert len(beams) == 2 and best.values.tolist() == [0, 1]
    assert np.allclose(chance[:, 0], -sess.run(tf.nn.ctc_loss(labels([[0], [1]]), LOGITS, [3, 3])))


def test_edit_distance(sess):
    a, b = labels([[1, 2], [3]]), labels([[1, 3, 2], [3]])
    assert np.allclose(sess.run(tf.edit_distance(a, b)), [1 / 3, 0])
    assert sess.run(tf.edit_distance(a, b, normalize=False)).tolist() == [1, 0]
    with pytest.raises(TypeError, match="Hypothesis must be a SparseTensor"):
        tf.edit_distance([1], b)


def rows_of(value, fill=0):
    rows = [[] for _ in range(value.dense_shape[0])]
    for (row, _), x in zip(value.indices, value.values):
        rows[row].append(int(x))
    return rows


def test_sets(sess):
    a, b = tf.constant([[1, 2, 2], [4, 5, 6]]), tf.constant([[2, 3], [6, 6]])
    sparse = labels([[2, 3], [6]])
    for other in (b, sparse):
        assert rows_of(sess.run(tf.sets.set_union(a, other))) == [[1, 2, 3], [4, 5, 6]]
        assert rows_of(sess.run(tf.sets.set_intersection(a, other))) == [[2], [6]]
        assert rows_of(sess.run(tf.sets.set_difference(a, other))) == [[1], [4, 5]]
        assert rows_of(sess.run(tf.sets.set_difference(other, a))) == [[3], []]
        assert rows_of(sess.run(tf.sets.difference(other, a, aminusb=False))) == [[1], [4, 5]]
    assert sess.run(tf.sets.set_size(labels([[2, 2, 3], []]))).tolist() == [2, 0]
    with pytest.raises(TypeError, match="Expected `SparseTensor`"):
        tf.sets.set_size(a)
    with pytest.raises(TypeError, match="Types don't match"):
        tf.sets.set_union(a, tf.constant([["x"], ["y"]]))


def test_running_logarithms_of_sums(sess):
    x = np.array([0.5, -1.0, 2.0])
    expected = np.log(np.cumsum(np.exp(x)))
    assert np.allclose(sess.run(tf.math.cumulative_logsumexp(x)), expected)
