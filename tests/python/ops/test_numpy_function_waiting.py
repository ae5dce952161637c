"""Functions of the program in one of version 2 that have state: in the order of the program."""

import rheos as tf


def test_one_after_the_other_in_a_function():
    order = []

    @tf.function
    def both(x):
        a = tf.numpy_function(lambda v: order.append("a") or v, [x], tf.float32)
        b = tf.numpy_function(lambda v: order.append("b") or v, [x], tf.float32)
        return b + a

    for _ in range(10):
        assert both(tf.constant(1.0)).numpy() == 2
    assert order == ["a", "b"] * 10
