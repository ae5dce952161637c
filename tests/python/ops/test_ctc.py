"""The functions around CTC answer what TensorFlow 1.15 answered."""

import numpy as np
import pytest
import rheos.v1 as tf

LOGITS = np.random.RandomState(0).randn(5, 2, 4).astype(np.float32)
DENSE = [[1, 2, 0], [3, 1, 1]]


def sparse(values):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], values, [2, 2])


def test_any_class_may_be_the_blank(sess):
    loss = tf.nn.ctc_loss_v2
    time_last = LOGITS.transpose(1, 0, 2)
    cases = [
        (loss(DENSE, LOGITS, [2, 2], [5, 4]), [3.803867, 2.557657]),
        (loss(sparse([1, 0, 3]), LOGITS, None, [5, 4], blank_index=2), [3.7940059, 4.4512424]),
        (loss(sparse([1, 0, 2]), LOGITS, None, [5, 4], blank_index=-1), [2.4572077, 4.321776]),
        (loss(DENSE, time_last, [2, 3], [5, 5], False, blank_index=-4), [3.803867, 4.324743]),
    ]
    for got, expected in cases:
        np.testing.assert_allclose(sess.run(got), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="blank_index must be given"):
        loss(sparse([1, 0, 2]), LOGITS, None, [5, 4])


def test_the_number_of_classes_may_be_unknown(sess):
    logits = tf.placeholder(tf.float32, [None, None, None])
    got = tf.nn.ctc_loss_v2(sparse([1, 0, 2]), logits, None, [5, 4], blank_index=-1)
    np.testing.assert_allclose(sess.run(got, {logits: LOGITS}), [2.4572077, 4.321776], rtol=1e-5)


def test_repeated_labels_collapse(sess):
    labels, lengths = sess.run(tf.nn.collapse_repeated([[1, 1, 2, 2, 3], [4, 4, 4, 4, 4]], [5, 3]))
    assert labels.tolist() == [[1, 2, 3], [4, 0, 0]] and lengths.tolist() == [3, 1]


def test_unique_labels(sess):
    unique, places = sess.run(tf.nn.ctc_unique_labels([[3, 4, 4, 3], [1, 1, 1, 2]]))
    assert unique.tolist() == [[3, 4, 0, 0], [1, 2, 0, 0]]
    assert places.tolist() == [[0, 1, 1, 0], [0, 0, 0, 1]] and places.dtype == np.int32


def test_an_empty_batch_is_refused(sess):
    labels = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.int32), [5, 5])
    loss = tf.nn.ctc_loss(labels, np.zeros([1, 0, 2], np.float32), np.zeros([0], np.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch_size must not be 0"):
        sess.run(loss)
