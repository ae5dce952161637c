"""Transposes, small and so large that they go past the caches, against NumPy."""

import numpy as np
import pytest
import rheos.v1 as tf

SHAPES = [
    ((5, 7), (1, 0)),
    ((300, 3), (1, 0)),
    ((3, 300), (1, 0)),
    ((2, 3, 4), (2, 0, 1)),
    ((6, 4, 4), (0, 2, 1)),
    ((9, 5, 2), (1, 0, 2)),
    ((9, 70, 4, 2), (0, 2, 1, 3)),
    ((40, 30, 16), (1, 0, 2)),
    ((2, 20, 30, 3), (0, 3, 1, 2)),
    ((2, 3, 20, 30), (0, 2, 3, 1)),
    ((3, 4, 5, 6), (3, 2, 1, 0)),
    ((2, 2, 2, 2, 2, 2), (5, 4, 3, 2, 1, 0)),
    ((2051, 2050), (1, 0)),
    ((2048, 2064), (1, 0)),
    ((1 << 20, 5), (1, 0)),
    ((5, 1 << 20), (1, 0)),
    ((7, 7, 8, 1200, 9), (0, 3, 1, 2, 4)),
    ((32, 65, 33, 64), (0, 2, 1, 3)),
    ((30, 60, 40, 60), (0, 2, 3, 1)),
    ((90, 110, 430), (2, 1, 0)),
    ((300000, 4, 4), (0, 2, 1)),
    ((33, 131, 1001), (1, 2, 0)),
    ((1000, 4352), (1, 0)),
]


@pytest.mark.parametrize("shape, perm", SHAPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_transpose(shape, perm, threads):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        fed = tf.placeholder(tf.float32, shape)
        y = session.run(tf.transpose(fed, perm), {fed: x})
    np.testing.assert_array_equal(y, x.transpose(perm))


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64, np.complex128])
def test_transpose_of_dtype(dtype):
    x = (np.arange(1100 * 300) % 100).astype(dtype).reshape(1100, 100, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.as_dtype(dtype), x.shape)
        y, z = session.run([tf.transpose(fed, [1, 0, 2]), tf.transpose(fed, [2, 1, 0])], {fed: x})
    np.testing.assert_array_equal(y, x.transpose(1, 0, 2))
    np.testing.assert_array_equal(z, x.transpose(2, 1, 0))


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64, np.complex128])
def test_large_transpose_whose_rows_begin_amid_a_line(dtype):
    rows = 4099
    columns = (17 << 20) // np.dtype(dtype).itemsize // rows + 1
    x = (np.arange(rows * columns) % 101).astype(dtype).reshape(rows, columns)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.as_dtype(dtype), x.shape)
        y = session.run(tf.transpose(fed), {fed: x})
    np.testing.assert_array_equal(y, x.T)
