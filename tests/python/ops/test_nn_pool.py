"""Pooling of lines, images and volumes."""

import numpy as np
import pytest
import rheos.v1 as tf

X = np.random.RandomState(0).rand(2, 4, 6, 3).astype(np.float32)
BLOCKS = X.reshape(2, 2, 2, 3, 2, 3)


def test_images_in_all_spellings(sess):
    top, middle = BLOCKS.max((2, 4)), BLOCKS.mean((2, 4))
    for size in (2, [2, 2], [1, 2, 2, 1]):
        np.testing.assert_allclose(sess.run(tf.nn.max_pool(X, size, size, "VALID")), top)
        np.testing.assert_allclose(
            sess.run(tf.nn.avg_pool(X, size, size, "SAME")), middle, rtol=1e-5
        )
    pooled = tf.nn.pool(X, [2, 2], "MAX", "VALID", strides=[2, 2])
    np.testing.assert_allclose(sess.run(pooled), top)
    assert (pooled.op.name, pooled.op.type) == ("max_pool", "MaxPool")
    with pytest.raises(ValueError, match="length 1, 2 or 4"):
        tf.nn.max_pool(X, [2, 2, 2], 2, "VALID")


def test_lines_and_volumes(sess):
    line = X[:, 0]
    expected = line.reshape(2, 3, 2, 3).max(2)
    np.testing.assert_allclose(sess.run(tf.nn.max_pool1d(line, 2, 2, "VALID")), expected)
    np.testing.assert_allclose(sess.run(tf.layers.max_pooling1d(line, 2, 2)), expected)
    volume = X[:, None]
    for function in (tf.nn.max_pool3d, tf.nn.max_pool_v2):
        got = sess.run(function(volume, [1, 2, 2], [1, 2, 2], "VALID"))
        np.testing.assert_allclose(got[:, 0], BLOCKS.max((2, 4)))
    mean = sess.run(tf.nn.avg_pool3d(volume, [1, 2, 2], [1, 2, 2], "VALID"))
    np.testing.assert_allclose(mean[:, 0], BLOCKS.mean((2, 4)), rtol=1e-5)


def test_where_the_maximum_was(sess):
    top, places = sess.run(tf.nn.max_pool_with_argmax(X, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"))
    rows = X.reshape(2, -1)
    np.testing.assert_array_equal(top, np.stack([r[p] for r, p in zip(rows, places)]))
    with pytest.raises(ValueError, match="NHWC"):
        tf.nn.max_pool_with_argmax(X, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", data_format="NCHW")


def test_layers(sess):
    got = sess.run(
        [tf.layers.max_pooling2d(X, 2, 2), tf.layers.average_pooling2d(X, [2, 2], 2, "same")]
    )
    np.testing.assert_allclose(got[0], BLOCKS.max((2, 4)))
    np.testing.assert_allclose(got[1], BLOCKS.mean((2, 4)), rtol=1e-5)
    assert tf.layers.max_pooling2d(X, 2, 2).op.name == "max_pooling2d_1/MaxPool"
