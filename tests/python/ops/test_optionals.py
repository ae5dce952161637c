"""Variants: values that only the ops for their kind look into."""

import numpy as np
import pytest
import rheos.v1 as tf


def holding(*components):
    return tf.raw_ops.OptionalFromValue(components=list(components))


def taken(optional, *shapes):
    return tf.raw_ops.OptionalGetValue(
        optional=optional, output_types=[tf.float32] * len(shapes), output_shapes=list(shapes)
    )


def test_gradients_go_through_an_optional():
    x = tf.constant([1.0, 2.0])
    (y,) = taken(holding(x * 3), [2])
    (gradient,) = tf.gradients(y * y, x)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(gradient), [18, 36])


def test_an_optional_is_read_many_times():
    value = tf.placeholder(tf.float32, [None])
    optional = tf.identity(holding(value, value + 1))
    reads = [taken(optional, [None], [None]) for _ in range(3)]
    with tf.Session() as session:
        for n in (1, 5):
            for first, second in session.run(reads, {value: np.arange(n)}):
                np.testing.assert_array_equal(first, np.arange(n))
                np.testing.assert_array_equal(second, np.arange(n) + 1)


def test_optionals_may_be_nested_deeply():
    optional = holding(tf.constant(1.0))
    for _ in range(50000):
        optional = holding(optional)
    with tf.Session() as session:
        assert session.run(tf.raw_ops.OptionalHasValue(optional=optional))


def test_other_kernels_do_not_copy_variants():
    optional = holding(tf.constant(1.0))
    either = tf.placeholder_with_default(True, [])
    for op in (lambda x: tf.tile(tf.stack([x]), [2]), lambda x: tf.where(either, x, x)):
        with tf.Session() as session:
            with pytest.raises(tf.errors.UnimplementedError, match="variant"):
                session.run(tf.raw_ops.OptionalHasValue(optional=op(optional)))
    with tf.Session() as session:
        zeros = tf.zeros_like(optional)  # of what it holds
        assert session.run(taken(zeros, [])) == [0]
    with tf.Session() as session:
        assert session.run(tf.shape(optional)).tolist() == []


def test_a_variant_is_no_array():
    with tf.Session() as session:
        with pytest.raises(TypeError, match="variant"):
            session.run(holding(tf.constant(1.0)))
        assert session.run(tf.constant(2.0)) == 2
