"""Gradients against differences, where formulas that divide or overwrite go wrong."""

import itertools

import numpy as np
import pytest
import rheos.v2 as tf

BOTH = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["at_once", "traced"])
ZEROS = [[2, 0, 3], [0, 2, 3], [2, 3, 0], [2, 0, 3, 0, 4], [0, 0, 1], [0, 0, 0], [1, 2, 3]]


def slope_of(f, weights):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x) * weights)
        return tape.gradient(y, x)

    return slope


def differences(f, x, weights, step=1e-4):
    rows = np.eye(x.size).reshape(-1, *x.shape) * step
    rises = [f(tf.constant(x + row)).numpy() - f(tf.constant(x - row)).numpy() for row in rows]
    return np.array([np.sum(weights * rise) for rise in rises]).reshape(x.shape) / (2 * step)


@pytest.mark.parametrize("x", [*ZEROS, [[1, 0, 2], [0, 3, 0]]], ids=str)
@pytest.mark.parametrize(("exclusive", "reverse"), itertools.product([False, True], repeat=2))
def test_cumprod__has_gradients_at_zeros(x, exclusive, reverse):
    x = np.array(x, np.float64)
    weights, more = np.random.RandomState(1).rand(2, *x.shape)
    for axis in range(x.ndim):

        def f(x, axis=axis):
            return tf.math.cumprod(x, axis, exclusive, reverse)

        slope = slope_of(f, weights)
        first = slope(tf.constant(x))
        np.testing.assert_allclose(first, differences(f, x, weights), atol=1e-6)
        second = slope_of(slope, more)(tf.constant(x))
        np.testing.assert_allclose(second, differences(slope, x, more), atol=1e-6)


@pytest.mark.parametrize("x", ZEROS, ids=str)
def test_reduce_prod__has_gradients_at_zeros(x):
    x = np.array(x, np.float64)
    slope = slope_of(tf.reduce_prod, 1.0)
    wanted = differences(tf.reduce_prod, x, 1.0)
    np.testing.assert_allclose(slope(tf.constant(x)), wanted, atol=1e-6)


@BOTH
@pytest.mark.parametrize(
    ("indices", "wanted"), [([0, 0, 1], [3.0, 3.0, 0.0]), ([2, 2, 2], [0.0, 0.0, 6.0])]
)
def test_elements_of_an_array_that_are_taken_twice__have_both_gradients(wrap, indices, wanted):
    def f(x):
        array = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        return array.gather(indices)

    slope = wrap(slope_of(f, [1.0, 2.0, 3.0]))
    assert slope(tf.constant([2.0, 3.0, 4.0])).numpy().tolist() == wanted


@BOTH
def test_jacobian_of_nothing__has_its_shape(wrap):
    v, unused = tf.Variable([1.0, 2.0]), tf.Variable(2.0)

    def jacobians():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v) * tf.zeros([0, 4])
        of_v, of_unused = tape.jacobian(y, [v, unused])
        assert of_unused is None
        return of_v

    assert wrap(jacobians)().shape == [0, 4, 2]


def test_jacobian_of_an_unknown_shape__is_refused():
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x)

    with pytest.raises(ValueError, match="shape"):
        f(tf.constant([1.0]))


FACTORS = {
    "singular_values": lambda x: tf.linalg.svd(x, compute_uv=False),
    "singular_vectors": lambda x: tf.linalg.svd(x)[1][..., :1] * tf.linalg.svd(x)[2][..., :1, :1],
    "qr": lambda x: tf.linalg.qr(x)[1],
    "pinv": tf.linalg.pinv,
    "least_squares": lambda x: tf.linalg.lstsq(x, tf.ones([*x.shape[:-1], 2], x.dtype)),
}


@BOTH
@pytest.mark.parametrize("name", FACTORS)
def test_gradients_of_factors_know_the_shapes_of_what_they_are_given(name, wrap):
    for seed, shape in enumerate([(2, 2), (3, 2), (2, 2), (2, 4, 3)]):
        x = np.random.RandomState(seed).standard_normal(shape)
        weights = np.random.RandomState(7).standard_normal(FACTORS[name](tf.constant(x)).shape)
        found = wrap(slope_of(FACTORS[name], weights))(tf.constant(x)).numpy()
        np.testing.assert_allclose(found, differences(FACTORS[name], x, weights), 1e-5, 1e-6)
