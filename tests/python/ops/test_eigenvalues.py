"""Eigenvalues and vectors of matrices that need not be self-adjoint, and their gradients."""

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_eigenvalues_of_any_matrix(dtype):
    random = np.random.RandomState(1)
    a = random.randn(2, 4, 4) + (1j * random.randn(2, 4, 4) if "complex" in dtype else 0)
    a = tf.constant(a.astype(dtype))
    e, v = tf.linalg.eig(a)
    wide = "complex64" if dtype in ("float32", "complex64") else "complex128"
    assert e.dtype == v.dtype == wide and e.shape == [2, 4]
    near = 1e-4 if wide == "complex64" else 1e-10
    np.testing.assert_allclose(
        tf.matmul(tf.cast(a, wide), v), v * e[:, None, :], rtol=near, atol=near
    )
    np.testing.assert_allclose(np.linalg.norm(v, axis=1), 1, rtol=1e-5)
    assert (np.diff(np.abs(e.numpy())) > -near).all()
    values = tf.linalg.eigvals(a)
    np.testing.assert_allclose(values, e, rtol=10 * near, atol=10 * near)
    np.testing.assert_allclose(
        sorted(np.abs(values[0].numpy())), sorted(np.abs(np.linalg.eigvals(a[0]))), rtol=near
    )


@pytest.mark.parametrize("of_vectors", [False, True])
def test_gradients_of_eigenvalues(of_vectors):
    x = np.random.RandomState(1).randn(3, 3)
    weights = tf.constant([[1.0], [2.0], [3.0]], tf.float64)

    def loss(a):
        if of_vectors:
            return tf.reduce_sum(tf.abs(tf.linalg.eig(a)[1]) ** 4 * weights)
        return tf.reduce_sum(tf.abs(tf.linalg.eigvals(a)) ** 3)

    a = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = loss(a)
    found = tape.gradient(y, a).numpy()
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = 1e-6
            slope = (float(loss(x + step)) - float(loss(x - step))) / 2e-6
            np.testing.assert_allclose(found[i, j], slope, rtol=1e-4, atol=1e-6)


def test_eigenvalues_refuse():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not successful"):
        tf.linalg.eig([[float("nan"), 1.0], [1.0, 1.0]])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.linalg.eigvals([[1.0, 2.0]])
