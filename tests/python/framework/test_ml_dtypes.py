"""bfloat16 and integers of 4 bits as NumPy has them where the package ml_dtypes is installed."""

import numpy as np
import pytest
import rheos as tf
import rheos.v1 as tf1

ml_dtypes = pytest.importorskip("ml_dtypes")


def test_values_have_its_type():
    assert tf.bfloat16.as_numpy_dtype is ml_dtypes.bfloat16
    assert tf.as_dtype(ml_dtypes.bfloat16) is tf.bfloat16
    total = tf.reduce_sum(tf.constant([1.5, -2.25], tf.bfloat16))
    assert isinstance(total.numpy(), ml_dtypes.bfloat16) and float(total.numpy()) == -0.75


def test_arrays_of_it_are_taken():
    array = np.arange(6, dtype=np.float32).reshape(2, 3).astype(ml_dtypes.bfloat16)
    tensor = tf.constant(array)
    assert tensor.dtype == tf.bfloat16
    assert tensor.numpy().dtype == array.dtype and (tensor.numpy() == array).all()
    with tf1.Graph().as_default(), tf1.Session() as session:
        fed = tf1.placeholder(tf1.bfloat16, [2, 3])
        doubled = session.run(fed * 2, {fed: array})
    assert doubled.dtype == array.dtype and (doubled == array * 2).all()


def test_protos_keep_it():
    proto = tf1.make_tensor_proto([1.0, 2.5], tf1.bfloat16)
    assert tf1.make_ndarray(proto).tolist() == [1.0, 2.5]


def test_integers_of_four_bits_have_its_types():
    int4, uint4 = tf.dtypes.experimental.int4, tf.dtypes.experimental.uint4
    assert int4.as_numpy_dtype is ml_dtypes.int4 and tf.as_dtype(ml_dtypes.uint4) is uint4
    array = np.array([1, -8, 7], ml_dtypes.int4)
    tensor = tf.constant(array)
    assert tensor.dtype == int4 and tensor.numpy().dtype == array.dtype
    assert tf.cast(tensor, uint4).numpy().tolist() == [1, 8, 7]
