"""Operations that run at once, and tapes."""

import numpy as np
import pytest
from rheos.framework import eager, errors, tensor_shape


@pytest.fixture
def tf():
    """TensorFlow 2's face, for one test."""
    import rheos.v2

    eager.enable_eager_execution()
    tensor_shape.enable_v2_tensorshape()
    yield rheos.v2
    eager.disable_eager_execution()


def test_values_are_there(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    assert tf.executing_eagerly()
    assert (x + 1).numpy().tolist() == [2, 3, 4]
    assert (1 - x).numpy().tolist() == [0, -1, -2]
    assert float(tf.reduce_sum(x)) == 6
    assert [float(v) for v in x] == [1, 2, 3]
    assert x[1:].numpy().tolist() == [2, 3]
    assert np.asarray(x).dtype == np.float32
    assert memoryview(x).tolist() == [1, 2, 3]
    assert isinstance(x, tf.Tensor)


def test_printed_as_tensorflow_prints(tf):
    x = tf.constant([[1, 2], [3, 4]])
    assert str(x) == "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"
    assert repr(tf.constant(2.5)) == "<tf.Tensor: shape=(), dtype=float32, numpy=2.5>"


def test_comparison_is_by_element_and_hashing_by_reference(tf):
    x = tf.constant([1, 2])
    assert (x == tf.constant([1, 3])).numpy().tolist() == [True, False]
    with pytest.raises(TypeError):
        hash(x)
    assert x.ref() == x.ref() and {x.ref(): 1}[x.ref()] == 1


def test_errors_have_the_op(tf):
    with pytest.raises(errors.InvalidArgumentError, match=r"\[Op:AddV2\]"):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(errors.InvalidArgumentError, match="expected to be a float tensor"):
        tf.constant(1.0) + tf.constant(1)


def test_graphs_are_made_as_before(tf):
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        assert not tf.executing_eagerly()
        assert (x + 1).graph is graph
    eager_one = tf.constant(1.0)
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="building a function"):
        eager_one + 1.0


def test_gradients(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.matmul(x, x))
        z = y * y
    assert tape.gradient(y, x).numpy().tolist() == [[7, 11], [9, 13]]
    assert np.allclose(tape.gradient(z, x), 2 * float(y) * np.array([[7, 11], [9, 13]]))
    assert tape.gradient(z, tf.constant(1.0)) is None


def test_gradients_of_gradients(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**4
        first = inner.gradient(y, x)
    assert float(first) == 108
    assert float(outer.gradient(first, x)) == 108


def test_a_tape_gives_gradients_once(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, x)


def test_names_that_are_not_there_name_near_ones(tf):
    with pytest.raises(AttributeError, match="'constnat'.* did you mean tf.constant"):
        tf.constnat(1)
    with pytest.raises(AttributeError, match="tensorflow.math.*'reduce_smu'.*tf.math.reduce_sum"):
        tf.math.reduce_smu([1])
    assert not hasattr(tf, "placeholder")


def test_a_tape_remembers_nothing_behind_a_stopped_gradient(tf):
    def never(gradient):
        raise AssertionError("the gradient is asked for")

    @tf.custom_gradient
    def doubled(x):
        return x * 2.0, never

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x + doubled(tf.stop_gradient(x))
    assert float(tape.gradient(y, x)) == 1.0
