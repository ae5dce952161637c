"""tf.contrib.layers: initializers and regularizers."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.mark.parametrize("uniform", [True, False])
def test_xavier(uniform, sess):
    initializer = tf.contrib.layers.xavier_initializer(uniform=uniform, seed=1)
    values = sess.run(initializer([300, 100]))
    np.testing.assert_allclose(values.var(), 2 / 400, rtol=0.05)
    if uniform:
        assert abs(values).max() <= np.sqrt(6 / 400)


def test_regularizers(sess):
    weights = tf.constant([[1.0, -2.0], [3.0, 0.0]])
    l2 = tf.contrib.layers.l2_regularizer(0.1)(weights)
    l1 = tf.contrib.layers.l1_regularizer(0.5)(weights)
    np.testing.assert_allclose(sess.run([l2, l1]), [0.7, 3.0], rtol=1e-6)
    assert tf.contrib.layers.l2_regularizer(0.0)(weights) is None
    for wrong in (1, -0.5, "much"):
        with pytest.raises(ValueError):
            tf.contrib.layers.l2_regularizer(wrong)


def test_regularizers_of_variables():
    tf.get_variable("w", [2], regularizer=tf.contrib.layers.l2_regularizer(0.1))
    names = [t.op.name for t in tf.losses.get_regularization_losses()]
    assert names == ["w/Regularizer/l2_regularizer"]


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="tf.contrib.layers.fully_connected"):
        tf.contrib.layers.fully_connected
