"""Operations that run at once, and tapes."""

import time

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


def test_nested_lists_by_their_elements(tf):
    for value, dtype in (
        ([[1, 2], [3, 4]], "int32"), ([[1, 2], [3, 2**31]], "int64"), ([-(2**63)], "int64"),
        ([[1, 2], [3.5, 4]], "float32"), ([2**31, 1.5], "float32"),
        (((1.0, 2), [3, 4]), "float32"), ([[True], [False]], "bool"),
        ([2j, 1.5, 1], "complex128"), ([["a", b"b\0"], ["\u00e9", ""]], "string"),
        ([[[[[[[[1]]]]]]]], "int32"),
    ):  # fmt: skip
        made = tf.constant(value)
        assert made.dtype == dtype and tf.convert_to_tensor(value).dtype == dtype, value
        expected = np.array(value, made.numpy().dtype)
        if dtype == "string":
            expected = np.array([[b"a", b"b\0"], ["\u00e9".encode(), b""]], object)
        assert np.array_equal(made.numpy(), expected) and made.shape == expected.shape
    for dtype, values in (("float64", [[0.1, 2]]), ("uint8", [[0, 255]]), ("int8", [[-128, 127]]),
                          ("uint64", [[0, 2**63 - 1]]), ("complex64", [[1, 0.5, 2j]]),
                          ("float16", [[1, 0.5]]), ("bfloat16", [[1, 0.5]]),
                          ("string", [["x"]]), ("bool", [[True, False]])):  # fmt: skip
        made = tf.constant(values, dtype=dtype)
        assert made.dtype == dtype and made.shape == (1, len(values[0]))
        assert made.numpy().tolist() == [[b"x"]] if dtype == "string" else values


def test_numpys_elements_decide_first(tf):
    f64, f32, f16, i8, c64 = np.float64, np.float32, np.float16, np.int8, np.complex64
    for value, dtype in (
        ([f64(1)], "float64"), ([f64(1), 2.0, 3], "float64"), ([[f64(1)], [2.0]], "float64"),
        ([2.0, f64(1)], "float32"), ([2, f64(1)], "float32"), ([f32(1), f64(2)], "float32"),
        ([f16(1), 1.0], "float16"), ([np.int64(1)], "int32"), ([np.int64(2**40)], "int64"),
        ([i8(1)], "int32"), ([np.uint64(1)], "int32"), ([c64(1)], "complex128"),
        ([np.array(1.5)], "float64"), ([np.array([1.5]), [2.0]], "float64"),
    ):  # fmt: skip
        assert tf.constant(value).dtype == dtype, value
        assert tf.convert_to_tensor(value).dtype == dtype, value
    with tf.Graph().as_default():  # where NumPy's arithmetic decides
        assert tf.constant([f64(1)]).dtype == "float32" and tf.constant([i8(1)]).dtype == "int8"


def test_lists_that_make_no_tensor(tf):
    for value in ([True, 2], [1.5, True], [1, 2j], [1.5, 2j], [1, 2**63], [2**63], [[1, 2], [3]],
                  [[1], 2], [1, [2]], ["a", 1], [1, "a"], [None, 1]):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            tf.constant(value)
    for dtype, value in (("int32", [1.5]), ("int64", [2**63]), ("uint64", [2**64]),
                         ("bool", [1]), ("string", [1]), ("float32", ["a"])):  # fmt: skip
        with pytest.raises((TypeError, OverflowError, ValueError)):
            tf.constant(value, dtype=dtype)


def test_nested_lists_take_no_longer_than_numpy(tf):
    value = [[float(i * j) for j in range(200)] for i in range(200)]

    def least(function):
        times = []
        for _ in range(9):
            begin = time.thread_time()
            function()
            times.append(time.thread_time() - begin)
        return min(times)

    by_numpy = least(lambda: np.array(value, np.float32))
    assert least(lambda: tf.constant(value)) < 3 * by_numpy
    assert least(lambda: tf.convert_to_tensor(value)) < 3 * by_numpy
