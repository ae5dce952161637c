"""Static shapes that follow from constants, whatever op computes them."""

import pytest
import rheos.v1 as tf


def ints(*values):
    return tf.constant(list(values))


COMPUTED = {
    "reverse": lambda: tf.reverse(ints(5, 3), [0]),
    "reshape": lambda: tf.reshape(tf.constant([[3, 5]]), [-1]),
    "squeeze": lambda: tf.squeeze(tf.constant([[3, 5]]), 0),
    "split": lambda: tf.concat(tf.split(ints(3, 5), 2), 0),
    "neg": lambda: -ints(-3, -5),
    "abs": lambda: tf.abs(ints(-3, 5)),
    "truediv": lambda: tf.cast(ints(6, 10) / 2, tf.int32),
    "where": lambda: tf.where(tf.constant([True, False]), ints(3, 5), ints(7, 5)),
    "unstack": lambda: tf.stack(tf.unstack(ints(3, 5))),
    "gather": lambda: tf.gather(ints(3, 9, 5), [0, 2]),
    "gather_nd": lambda: tf.gather_nd(ints(3, 9, 5), [[0], [2]]),
    "ceil": lambda: tf.cast(tf.ceil(tf.constant([2.2, 4.7])), tf.int32),
    "square": lambda: tf.cast(tf.sqrt(tf.square(tf.constant([3.0, 5.0]))), tf.int32),
    "argmax": lambda: tf.stack([tf.argmax([0, 0, 0, 1]), 5]),
    "cumsum": lambda: tf.cumsum(ints(3, 2)),
    "tile": lambda: tf.tile(ints(3, 5), [1]),
    "transpose": lambda: tf.transpose(tf.constant([[3], [5]]))[0],
    "matmul": lambda: tf.reshape(tf.matmul(tf.constant([[3, 5]]), tf.eye(2, dtype=tf.int32)), [2]),
    "of a shape": lambda: tf.reverse(tf.shape(tf.placeholder(tf.float32, [5, 3])), [0]),
    "in parts": lambda: tf.stack([-tf.constant(-3), tf.abs(-5)]),
}


@pytest.mark.parametrize("name", list(COMPUTED))
def test_computed_constant__gives_a_shape(name):
    with tf.Graph().as_default():
        assert tf.zeros(COMPUTED[name]()).shape.as_list() == [3, 5]


def test_what_is_fed__stays_unknown():
    with tf.Graph().as_default():
        size = tf.abs(tf.placeholder(tf.int32, []))
        assert tf.zeros(tf.stack([-tf.constant(-3), size])).shape.as_list() == [3, None]
        assert tf.zeros(tf.reverse(tf.stack([size, 3]), [0])).shape.as_list() == [None, None]


@pytest.mark.parametrize(
    "make",
    [
        lambda vector, x: tf.zeros(vector),
        lambda vector, x: tf.fill(vector, 1.0),
        lambda vector, x: tf.reshape(x, vector),
    ],
)
def test_constants_around_a_loop__give_shapes_inside(make):
    with tf.Graph().as_default():
        vector = ints(5, 3)
        x = tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, make(vector, x)), [0, tf.zeros([5, 3])]
        )[1]
        assert x.shape.as_list() == [5, 3]
