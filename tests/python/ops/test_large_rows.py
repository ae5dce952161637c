"""Rows that are long, or many, take other ways through their kernels: the answers are the same."""

import numpy as np
import pytest
import rheos.v1 as tf


def answer(output, threads=1):
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Session(config=config) as session:
        return session.run(output)


@pytest.fixture
def graph():
    with tf.Graph().as_default():
        yield


def noise(*shape):
    return np.random.RandomState(7).randn(*shape).astype(np.float32)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("columns", [16, 48, 50])
def test_sums_along_many_rows_are_those_of_each(graph, columns, exclusive):
    x = noise(133, columns)
    sums = np.cumsum(x.astype(np.float64), 1)
    if exclusive:
        sums = np.concatenate([np.zeros((133, 1)), sums[:, :-1]], 1)
    for threads in 1, 3:
        result = answer(tf.cumsum(tf.placeholder_with_default(x, x.shape), 1, exclusive), threads)
        np.testing.assert_array_equal(result, sums.astype(np.float32))


def test_large_results_of_rows_are_those_of_small_ones(graph):
    x = noise(4160, 1024)
    whole = tf.placeholder_with_default(x, x.shape)
    part = tf.placeholder_with_default(x[-40:], (40, 1024))
    for op in tf.nn.softmax, tf.nn.log_softmax, lambda t: tf.cumsum(t, 1):
        large, small = answer([op(whole), op(part)], 2)
        np.testing.assert_array_equal(large[-40:], small)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8])
@pytest.mark.parametrize("length", [255, 256, 300, 5000])
def test_the_top_of_long_rows_are_the_first_of_what_is_sorted(graph, dtype, length):
    x = (noise(9, length) * 20).astype(np.int64).astype(dtype)  # many are equal
    x[0] = 3
    x[1] = np.sort(x[1])
    x[2] = np.sort(x[2])[::-1]
    order = np.argsort(-x.astype(np.float64), 1, kind="stable")
    for k in 1, 8, 16, 17:
        values, indices = answer(tf.nn.top_k(tf.placeholder_with_default(x, x.shape), k))
        np.testing.assert_array_equal(indices, order[:, :k])
        np.testing.assert_array_equal(values, np.take_along_axis(x, order[:, :k], 1))


def test_the_top_of_rows_with_infinities(graph):
    x = noise(3, 700)
    x[0, 500:] = np.inf
    x[1, :695] = -np.inf
    x[2] = -np.inf
    order = np.argsort(-x, 1, kind="stable")
    values, indices = answer(tf.nn.top_k(tf.placeholder_with_default(x, x.shape), 8))
    np.testing.assert_array_equal(indices, order[:, :8])
    np.testing.assert_array_equal(values, np.take_along_axis(x, order[:, :8], 1))


@pytest.mark.parametrize("length", [2047, 2048, 2049, 7000])
def test_the_place_of_the_extreme_of_a_long_row_is_the_first(graph, length):
    x = np.round(noise(40, length) * 4)
    x[0] = 5
    x[1, -1] = 1000
    x[2, ::3] = np.nan
    t = tf.placeholder_with_default(x, x.shape)
    largest, smallest = answer([tf.argmax(t, 1), tf.argmin(t, 1)])
    np.testing.assert_array_equal(largest, np.argmax(np.where(np.isnan(x), -np.inf, x), 1))
    np.testing.assert_array_equal(smallest, np.argmin(np.where(np.isnan(x), np.inf, x), 1))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int8, object])
def test_long_rows_are_joined_and_taken_apart_in_slices(graph, dtype, threads):
    sizes = [70_001, 0, 3, 40_000, 65_536]
    parts = [np.arange(n).astype(np.int8).astype(dtype) for n in sizes]
    if dtype is object:
        parts = [np.array([b"%d" % i for i in range(n)], object) for n in sizes]
    whole = np.concatenate(parts)
    two = np.stack([whole, whole[::-1]])
    fed = [tf.placeholder_with_default(part, part.shape) for part in parts]
    matrix = tf.placeholder_with_default(two, two.shape)
    outputs = tf.concat(fed, 0), tf.split(matrix, sizes, axis=1), tf.stack([matrix, matrix])
    joined, apart, stacked = answer(outputs, threads)
    unstacked = answer(tf.unstack(matrix), threads)
    np.testing.assert_array_equal(joined, whole)
    for piece, expected in zip(apart, np.split(two, np.cumsum(sizes)[:-1], axis=1)):
        np.testing.assert_array_equal(piece, expected)
    np.testing.assert_array_equal(stacked, np.stack([two, two]))
    np.testing.assert_array_equal(unstacked, two)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("depth", [7, 1025, 1_300_001])
def test_large_one_hot_rows(graph, depth, threads):
    indices = np.random.RandomState(3).randint(-1, depth + 1, 4_500_000 // depth + 1)
    result = answer(
        tf.one_hot(tf.placeholder_with_default(indices, [len(indices)]), depth, 5, -2), threads
    )
    expected = np.full((len(indices), depth), -2, np.int32)
    inside = (indices >= 0) & (indices < depth)
    expected[np.nonzero(inside)[0], indices[inside]] = 5
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.complex128])
def test_large_fills(graph, dtype):
    shape = 17, (1 << 20) // np.dtype(dtype).itemsize + 3
    value = np.array(3, dtype)
    fed = tf.placeholder_with_default(value, [])
    filled, ones = answer([tf.fill(shape, fed), tf.ones_like(tf.fill(shape, fed))], 2)
    np.testing.assert_array_equal(filled, np.full(shape, value))
    np.testing.assert_array_equal(ones, np.ones(shape, dtype))
