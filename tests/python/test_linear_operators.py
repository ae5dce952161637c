"""Linear operators do what their dense matrices do."""

import numpy as np
import pytest
import rheos.v1 as tf

RANDOM = np.random.RandomState(0)
ANY = (RANDOM.rand(2, 3, 3) + np.eye(3)).astype(np.float32)
POSITIVE = (ANY @ ANY.transpose(0, 2, 1) + np.eye(3)).astype(np.float32)
DIAGONAL = (RANDOM.rand(2, 3) - 0.5).astype(np.float32)
COMPLEX = (DIAGONAL + 1j * RANDOM.rand(2, 3)).astype(np.complex64)
X = RANDOM.rand(2, 3, 2).astype(np.float32)


def adjoint(x):
    return x.conj().swapaxes(-1, -2)


@pytest.mark.parametrize(
    "make, dense",
    [
        (lambda: tf.linalg.LinearOperatorLowerTriangular(ANY), np.tril(ANY)),
        (
            lambda: tf.linalg.LinearOperatorLowerTriangular(
                tf.placeholder_with_default(ANY, [None, None, 3])
            ),
            np.tril(ANY),
        ),
        (lambda: tf.linalg.LinearOperatorFullMatrix(ANY), ANY),
        (
            lambda: tf.linalg.LinearOperatorFullMatrix(
                POSITIVE, is_self_adjoint=True, is_positive_definite=True
            ),
            POSITIVE,
        ),
        (lambda: tf.linalg.LinearOperatorDiag(DIAGONAL), DIAGONAL[..., None] * np.eye(3)),
        (lambda: tf.linalg.LinearOperatorDiag(COMPLEX), COMPLEX[..., None] * np.eye(3)),
    ],
)
def test_they_do_what_the_dense_matrix_does(sess, make, dense):
    operator = make()
    x = X.astype(operator.dtype.as_numpy_dtype)
    added = np.ones_like(ANY, dtype=x.dtype)
    inverse = np.linalg.inv(dense)
    determinant = np.linalg.det(dense)
    pairs = [
        (operator.to_dense(), dense),
        (operator.shape_tensor(), dense.shape),
        (operator.matmul(x), dense @ x),
        (operator.matmul(x, adjoint=True), adjoint(dense) @ x),
        (operator.matmul(adjoint(x), adjoint_arg=True), dense @ x),
        (operator.matvec(x[..., 0]), (dense @ x)[..., 0]),
        (operator.matvec(x[..., 0], adjoint=True), (adjoint(dense) @ x)[..., 0]),
        (operator.solve(x), inverse @ x),
        (operator.solve(x, adjoint=True), adjoint(inverse) @ x),
        (operator.solve(adjoint(x), adjoint_arg=True), inverse @ x),
        (operator.solvevec(x[..., 1]), (inverse @ x)[..., 1]),
        (operator.determinant(), determinant),
        (operator.log_abs_determinant(), np.log(np.abs(determinant))),
        (operator.diag_part(), dense.diagonal(axis1=1, axis2=2)),
        (operator.trace(), dense.trace(axis1=1, axis2=2)),
        (operator.add_to_tensor(added), dense + added),
    ]
    for found, (_, expected) in zip(sess.run([pair[0] for pair in pairs]), pairs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


def test_a_mask_of_what_came_before_is_made_as_in_tensorflow(sess):
    ones = tf.ones([3, 3])
    operator = tf.linalg.LinearOperatorLowerTriangular(ones)
    mask = operator.to_dense()
    assert mask.op.name == "LinearOperatorLowerTriangular/to_dense/MatrixBandPart"
    assert sess.run(mask).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    weights = tf.constant(ANY)
    operator = tf.linalg.LinearOperatorLowerTriangular(weights, name="tril")
    gradient = tf.gradients(tf.reduce_sum(operator.matmul(X)), weights)[0]
    assert operator.graph_parents == [weights] and operator.name == "tril"
    expected = np.tril(np.broadcast_to(X.sum(2)[:, None, :], (2, 3, 3)))
    np.testing.assert_allclose(sess.run(gradient), expected, rtol=1e-6)


def test_hints_follow_from_each_other():
    full = tf.linalg.LinearOperatorFullMatrix(POSITIVE, is_positive_definite=True)
    assert full.is_non_singular and full.is_square and full.is_self_adjoint is None
    assert tf.linalg.LinearOperatorDiag(DIAGONAL).is_self_adjoint
    wide = tf.linalg.LinearOperatorFullMatrix(ANY[:, :2])
    assert not wide.is_square and (wide.range_dimension, wide.domain_dimension) == (2, 3)
    assert wide.batch_shape == [2] and wide.tensor_rank == 3


@pytest.mark.parametrize(
    "use, error, message",
    [
        (lambda k: k.LinearOperatorDiag(DIAGONAL, is_self_adjoint=False), ValueError, "always"),
        (lambda k: k.LinearOperatorDiag(1.0), ValueError, "at least 1 dimension\\."),
        (lambda k: k.LinearOperatorDiag(DIAGONAL, is_square=False), ValueError, "square"),
        (lambda k: k.LinearOperatorLowerTriangular(DIAGONAL[0]), ValueError, "at least 2 dim"),
        (
            lambda k: k.LinearOperatorLowerTriangular(ANY, is_square=False),
            ValueError,
            "Only square",
        ),
        (
            lambda k: k.LinearOperatorFullMatrix(ANY, is_self_adjoint=True, is_square=False),
            ValueError,
            "self-adjoint matrix is always square",
        ),
        (
            lambda k: k.LinearOperatorFullMatrix(
                ANY, is_positive_definite=True, is_non_singular=False
            ),
            ValueError,
            "always non-singular",
        ),
        (
            lambda k: k.LinearOperatorFullMatrix(ANY, is_square=False).is_square,
            ValueError,
            "hint",
        ),
        (lambda k: k.LinearOperatorFullMatrix(np.ones((2, 2), np.int32)), TypeError, "dtype"),
        (
            lambda k: k.LinearOperatorFullMatrix(ANY, is_non_singular=False).solve(X),
            NotImplementedError,
            "singular",
        ),
        (
            lambda k: k.LinearOperatorFullMatrix(ANY[:, :2]).determinant(),
            NotImplementedError,
            "not be square",
        ),
        (
            lambda k: k.LinearOperatorFullMatrix(ANY).matmul(X.astype(np.float64)),
            TypeError,
            "float64",
        ),
        (lambda k: k.LinearOperatorFullMatrix(ANY).matmul(X[:, :2]), ValueError, "compatible"),
    ],
)
def test_what_does_not_fit_is_refused(use, error, message):
    with pytest.raises(error, match=message):
        use(tf.linalg)
