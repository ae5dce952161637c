"""tf.custom_gradient and tf.recompute_grad in traced functions and with structures."""

import pytest
import rheos.v2 as tf


def gradients(f, *xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, list(xs))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
def test_a_gradient_may_read_the_variables(wrap):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def square(x):
        def gradient(dy, variables=None):
            return dy * 2.0 * x * v, [dy * 7.0]

        return x * x * v, gradient

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = wrap(square)(x)
    assert [float(y), *map(float, tape.gradient(y, [x, v]))] == [12.0, 12.0, 7.0]


def test_what_reads_variables_is_computed_again_in_a_function():
    v = tf.Variable(2.0)

    @tf.function
    @tf.recompute_grad
    def power(x):
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, x])[1]

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x)
    assert list(map(float, tape.gradient(y, [x, v]))) == [8.0, 12.0]
