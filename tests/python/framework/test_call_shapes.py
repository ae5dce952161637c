"""The shapes that calls of functions have: from the bodies, by what is known of the arguments."""

import pytest
import rheos.v2 as tf
from rheos.framework import eager, tensor_shape


@pytest.fixture(autouse=True)
def _eager():
    eager.enable_eager_execution()
    tensor_shape.enable_v2_tensorshape()
    yield
    eager.disable_eager_execution()


def shape_of_call(expression):
    """The shape of a call with x [3, None, 6], y [None, 4], s = 5 and v = [2, 3]."""
    unknown = [tf.TensorSpec([None] * 3), tf.TensorSpec([None, None])]
    ints = [tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)]
    function = tf.function(expression, input_signature=unknown + ints)
    seen = []

    def caller(x, y):
        seen.append(function(x, y, tf.constant(5), tf.constant([2, 3])).shape)

    specs = tf.TensorSpec([3, None, 6]), tf.TensorSpec([None, 4])
    tf.function(caller, autograph=False).get_concrete_function(*specs)
    return seen[0].as_list()


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        (lambda x, y, s, v: tf.ones(tf.stack([tf.shape(x)[0], s])), [3, 5]),
        (lambda x, y, s, v: tf.reshape(x, [-1, tf.shape(x)[2]]), [None, 6]),
        (lambda x, y, s, v: tf.ones(tf.concat([tf.shape(y), v], 0)), [None, 4, 2, 3]),
        (lambda x, y, s, v: tf.tile(y, tf.stack([s, 2])), [None, 8]),
        (lambda x, y, s, v: tf.range(s, s + 3), [3]),
        (lambda x, y, s, v: tf.one_hot([1, 2], s), [2, 5]),
        (lambda x, y, s, v: tf.transpose(x, tf.range(3)[::-1]), [6, None, 3]),
        (lambda x, y, s, v: tf.eye(tf.shape(x)[0], batch_shape=tf.shape(y)[1:]), [4, 3, 3]),
        (lambda x, y, s, v: x[: tf.shape(x)[0] - 1], [2, None, 6]),
        (lambda x, y, s, v: tf.function(lambda n: tf.zeros([n, n]))(s), [5, 5]),
        (lambda x, y, s, v: tf.cond(s > 0, lambda: x, lambda: x + 1), [None, None, None]),
    ],
)  # fmt: skip
def test_a_call_gives_what_the_body_gives_of_such_arguments(expression, shape):
    # As TensorFlow 2.21 says.
    assert shape_of_call(expression) == shape


def test_what_is_wrong_with_such_arguments_the_step_says():
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrong = tf.function(
            lambda s: tf.reshape(tf.zeros([12]), [s, 4]),
            input_signature=[tf.TensorSpec([], tf.int32)],
        )
        tf.function(lambda: wrong(tf.constant(5)))()
