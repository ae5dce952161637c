"""Python's numbers beside tensors and as constants in TensorFlow 2's face: what dtype they take,
what is refused, what wraps around; and NaN among what is sorted."""

import operator

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2
OPERATORS = [getattr(operator, name) for name in "eq ne lt ge add sub mul floordiv".split()]


@pytest.mark.parametrize("apply", OPERATORS)
@pytest.mark.parametrize("number", [3.0, 2.5, 3 + 0j])
def test_integers_meet_no_floats(apply, number):
    def refused(left):
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):  # of a sum by the op
            apply(left, number)

    for left in (tf.constant(3), tf.constant([1, 2], tf.int64), tf.Variable(3)):
        refused(left)
    tf.function(refused)(tf.constant(3))


def test_equality_of_what_fits():
    three = tf.constant(3)
    for number in (3, np.int64(3), np.float64(3), np.array([3.0]), True + 2):
        assert bool(three == number) and not bool(three != number)
    assert bool(tf.constant(3.0) == 3) and bool(tf.constant(3 + 0j) == 3.0)
    for other in ("a", object()):
        with pytest.raises((TypeError, ValueError)):
            three == other  # noqa: B015
    for other in (tf.constant(3, tf.int64), tf.constant(3.0)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            three == other  # noqa: B015
    assert (three == None) is False  # noqa: E711
    pair, triple = tf.constant([1, 2]), tf.constant([1, 2, 3])
    assert not bool(pair == triple) and bool(pair != triple)


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        (300, "uint8", 44),
        (-1, "uint8", 255),
        (-300, "int8", -44),
        (70000, "int16", 4464),
        (-1, "uint16", 65535),
        (2**31, "int32", -(2**31)),
        (2**32 + 5, "uint32", 5),
        ([300, 1], "uint8", [44, 1]),
        ([[-1], [70000]], "uint16", [[65535], [4464]]),
        (np.array([300, -1]), "uint8", [44, 255]),
    ],
)
def test_integers_wrap_around(value, dtype, wanted):
    for made in (
        tf.constant(value, dtype),
        tf.convert_to_tensor(value, dtype),
        tf.function(lambda: tf.constant(value, dtype))(),
    ):
        assert made.dtype == dtype and made.numpy().tolist() == wanted
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        assert session.run(tf.constant(value, dtype)).tolist() == wanted


def test_integers_beside_narrow_tensors_wrap_around():
    three = tf.constant(3, tf.uint8)
    assert int(three + 300) == 47 and not bool(tf.constant(3) == 2**40)
    assert tf.maximum(tf.constant([3], tf.uint8), [300]).numpy().tolist() == [44]


NAN, INF = float("nan"), float("inf")
SOME = [[3.0, NAN, 1.0], [NAN, 3.0, NAN, 1.0, 2.0, NAN], [NAN, NAN], [INF, NAN, -INF, -0.0]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("values", SOME)
def test_nan_is_sorted_last(values, dtype):
    x = tf.constant(values, dtype)
    numbers = sorted(v for v in values if v == v)
    rest = [NAN] * (len(values) - len(numbers))
    for direction, wanted in (("ASCENDING", numbers), ("DESCENDING", numbers[::-1])):
        found = tf.cast(tf.sort(x, direction=direction), tf.float32).numpy()
        np.testing.assert_array_equal(found, np.array(wanted + rest, np.float32))
        order = tf.argsort(x, direction=direction).numpy()
        np.testing.assert_array_equal(np.array(values, np.float32)[order], found)
        assert sorted(order[len(wanted) :]) == list(order[len(wanted) :])
    for k in range(1, len(values) + 1):
        found, places = tf.math.top_k(x, k)
        wanted = np.array((numbers[::-1] + rest)[:k], np.float32)
        np.testing.assert_array_equal(tf.cast(found, tf.float32), wanted)
        np.testing.assert_array_equal(np.array(values, np.float32)[places.numpy()], wanted)


def test_nan_among_many():
    x = np.random.RandomState(0).permutation(1000).astype(np.float32)
    x[::7] = NAN
    wanted = np.sort(x[~np.isnan(x)])[::-1]
    for k in (1, 5, 200):
        np.testing.assert_array_equal(tf.math.top_k(x, k)[0], wanted[:k])


def test_complex_numbers_of_python_are_of_double_precision():
    for function in (tf.signal.fft, tf.signal.ifft, tf.signal.fft2d):
        assert function([[1 + 0j, 0]]).dtype == tf.complex128
        assert function([[1.0, 0]]).dtype == tf.complex64
        assert function(np.array([[1 + 0j, 0]], np.complex64)).dtype == tf.complex64
    assert tf.math.conj([1j]).dtype == tf.exp(1j).dtype == tf.complex128


@pytest.mark.parametrize(("name", "wanted"), [("int4", [1, -2, 7, -8]), ("uint4", [1, 14, 7, 8])])
def test_integers_of_four_bits(name, wanted):
    dtype = getattr(tf.experimental, name)
    assert dtype.name == name and dtype.is_integer and tf.as_dtype(name) is dtype
    assert tf.cast(tf.cast([1, -2, 7, 8], dtype), tf.int32).numpy().tolist() == wanted
    assert tf.reshape(tf.constant([1, 2], dtype), [2, 1]).dtype == dtype
