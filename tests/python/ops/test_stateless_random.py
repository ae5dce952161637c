"""Random tensors that follow from a seed."""

import numpy as np
import rheos.v1 as tf


def test_gamma_samples_move_with_alpha(sess):
    alpha = tf.constant([0.5, 2.0], tf.float64)
    for shape in ([2], [5, 2], [3, 5, 2]):
        sample = tf.raw_ops.StatelessRandomGammaV2(shape=shape, seed=[1, 2], alpha=alpha)
        grad = tf.gradients(sample, alpha)[0]
        each = tf.raw_ops.RandomGammaGrad(alpha=alpha, sample=sample)
        found, expected = sess.run([grad, each])
        assert np.allclose(found, expected.reshape(-1, 2).sum(0))
