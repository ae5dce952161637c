"""tf.quantization: rounding that training passes through."""

import numpy as np
import rheos.v1 as tf


def test_rounding_lets_the_gradient_pass(sess):
    x = tf.placeholder(tf.float32, [4])
    y = tf.quantization.quantize_and_dequantize(x, -1.0, 1.0, num_bits=3, range_given=True)
    grad = tf.gradients(y, x, grad_ys=tf.constant([1.0, 2.0, 3.0, 4.0]))[0]
    rounded, passed = sess.run([y, grad], {x: [-2.0, -0.1, 0.4, 5.0]})
    assert np.allclose(rounded, [-4 / 3, 0.0, 1 / 3, 1.0])
    assert np.array_equal(passed, [1.0, 2.0, 3.0, 4.0])


def test_the_fourth_version_stops_it_at_the_range(sess):
    x = tf.placeholder(tf.float32, [4])
    y = tf.raw_ops.QuantizeAndDequantizeV4(input=x, input_min=-1.0, input_max=1.0, range_given=True)
    grad = tf.gradients(y, x, grad_ys=tf.constant([1.0, 2.0, 3.0, 4.0]))[0]
    assert np.array_equal(sess.run(grad, {x: [-2.0, -0.1, 0.4, 5.0]}), [0.0, 2.0, 3.0, 0.0])
