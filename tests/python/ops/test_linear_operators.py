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


def identity_rows(n):
    return tf.linalg.LinearOperatorIdentity(n, dtype=tf.float32)


# As operators and as what numpy makes of the matrices.
def reflection(axis):
    unit = np.array(axis) / np.linalg.norm(axis)
    return np.eye(len(axis)) - 2 * np.outer(unit, unit)


def circulant(column):
    return np.stack([np.roll(column, k) for k in range(len(column))], axis=1)


KINDS = {
    "identity": (lambda k: k.LinearOperatorIdentity(3), np.eye(3)),
    "identities": (
        lambda k: k.LinearOperatorIdentity(3, batch_shape=[2]),
        np.tile(np.eye(3), (2, 1, 1)),
    ),
    "scaled": (lambda k: k.LinearOperatorScaledIdentity(3, 2.5), 2.5 * np.eye(3)),
    "scaled batch": (
        lambda k: k.LinearOperatorScaledIdentity(3, [2.0, -3.0]),
        np.array([2.0, -3.0])[:, None, None] * np.eye(3),
    ),
    "one for a batch": (lambda k: k.LinearOperatorFullMatrix(ANY[0]), ANY[0]),
    "unknown": (lambda k: k.LinearOperatorFullMatrix(tf.placeholder_with_default(ANY, None)), ANY),
    "adjoint": (lambda k: k.LinearOperatorAdjoint(k.LinearOperatorFullMatrix(ANY)), adjoint(ANY)),
    "inverse": (
        lambda k: k.LinearOperatorInversion(k.LinearOperatorFullMatrix(POSITIVE)),
        np.linalg.inv(POSITIVE),
    ),
    "composed": (
        lambda k: k.LinearOperatorComposition(
            [k.LinearOperatorFullMatrix(ANY[0]), k.LinearOperatorDiag(DIAGONAL)]
        ),
        ANY[0] @ (DIAGONAL[..., None] * np.eye(3)),
    ),
    "blocks": (
        lambda k: k.LinearOperatorBlockDiag(
            [k.LinearOperatorFullMatrix(ANY[:, :2, :2]), identity_rows(1)]
        ),
        np.stack([np.block([[m[:2, :2], np.zeros((2, 1))], [np.zeros((1, 2)), 1]]) for m in ANY]),
    ),
    "kronecker": (
        lambda k: k.LinearOperatorKronecker(
            [k.LinearOperatorFullMatrix(ANY), k.LinearOperatorDiag([2.0, -1.0])]
        ),
        np.stack([np.kron(m, np.diag([2.0, -1.0])) for m in ANY]),
    ),
    "householder": (
        lambda k: k.LinearOperatorHouseholder([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]]),
        np.stack([reflection([1, 2, 3]), reflection([0.5, -1, 0])]),
    ),
    "update": (
        lambda k: k.LinearOperatorLowRankUpdate(
            k.LinearOperatorDiag([1.0, 2.0, 3.0], is_positive_definite=True), X
        ),
        np.diag([1, 2, 3]) + X @ X.swapaxes(1, 2),
    ),
    "update of two": (
        lambda k: k.LinearOperatorLowRankUpdate(
            k.LinearOperatorFullMatrix(POSITIVE), X[0], diag_update=[2.0, -0.5], v=X[1]
        ),
        POSITIVE + X[0] * [2, -0.5] @ X[1].T,
    ),
    "circulant": (
        lambda k: k.LinearOperatorCirculant([6.0, 1.0, 1.0], tf.float32),
        circulant(np.fft.ifft([6, 1, 1]).real),
    ),
    "circulants": (
        lambda k: k.LinearOperatorCirculant(np.fft.fft(ANY[:, 0]).astype(np.complex64), "float32"),
        np.stack([circulant(m[0]) for m in ANY]),
    ),
    "circulant, two dimensions": (
        lambda k: k.LinearOperatorCirculant2D(
            np.fft.fft2([[3.0, 1, 0.5], [0, 0.25, 1]]).astype(np.complex64), tf.float32
        ),
        np.block(
            [
                [circulant([3, 1, 0.5]), circulant([0, 0.25, 1])],
                [circulant([0, 0.25, 1]), circulant([3, 1, 0.5])],
            ]
        ),
    ),
    "circulant, three dimensions": (
        lambda k: k.LinearOperatorCirculant3D(
            np.fft.fftn([[[3.0, 1, 0.5]]]).astype(np.complex64), tf.float32
        ),
        circulant([3, 1, 0.5]),
    ),
    "toeplitz": (
        lambda k: k.LinearOperatorToeplitz([[3.0, 1, 2], [4.0, 0, 1]], [9.0, 0.5, -1]),
        np.stack([[[3, 0.5, -1], [1, 3, 0.5], [2, 1, 3]], [[4, 0.5, -1], [0, 4, 0.5], [1, 0, 4]]]),
    ),
}


def test_zeros(sess):
    kind = tf.linalg.LinearOperatorZeros
    wide = kind(2, 3, batch_shape=[2], is_square=False, is_self_adjoint=False)
    assert wide.shape.as_list() == [2, 2, 3] and wide.is_non_singular is False
    assert wide.matmul(X).shape.as_list() == [2, 2, 2]
    for found, shape in (
        (wide.to_dense(), (2, 2, 3)),
        (wide.matmul(X), (2, 2, 2)),
        (wide.matvec(X[..., 0]), (2, 2)),
        (wide.matmul(X[:, :2], adjoint=True), (2, 3, 2)),
        (wide.diag_part(), (2, 2)),
        (kind(3).determinant(), ()),
    ):
        found = sess.run(found)
        assert found.shape == shape and not found.any()
    assert sess.run(kind(3).add_to_tensor(ANY)).tolist() == ANY.tolist()
    with pytest.raises(ValueError, match="always singular"):
        kind(3, is_non_singular=True)
    with pytest.raises(ValueError, match=r"num_rows\(3\) != num_columns\(2\)"):
        kind(3, 2)
    with pytest.raises(NotImplementedError, match="expected to be singular"):
        kind(3).solve(X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="always non-invertible"):
        kind(3).assert_non_singular()


def test_hints_of_structures():
    k = tf.linalg
    reflected = k.LinearOperatorHouseholder([1.0, 2.0])
    assert reflected.is_self_adjoint and reflected.inverse() is reflected.adjoint() is reflected
    assert k.LinearOperatorCirculant([1.0, 2.0]).is_self_adjoint
    assert k.LinearOperatorCirculant([1j, 2.0]).is_self_adjoint is None
    base = k.LinearOperatorDiag([1.0, 2.0, 3.0], is_positive_definite=True)
    update = k.LinearOperatorLowRankUpdate(base, X[0])
    assert update.is_positive_definite and update.is_non_singular and update.is_self_adjoint
    assert k.LinearOperatorLowRankUpdate(base, X[0], v=X[1]).is_self_adjoint is None
    for wrong, message in (
        (lambda: k.LinearOperatorHouseholder([1.0], is_self_adjoint=False), "always self adjoint"),
        (lambda: k.LinearOperatorCirculant([1.0], is_self_adjoint=False), "always corresponds"),
        (lambda: k.LinearOperatorCirculant2D([1.0]), "at least 2 dimensions"),
        (lambda: k.LinearOperatorLowRankUpdate(base, ANY[:, :2]), r"Shapes \(3,\) and \(2,\)"),
        (lambda: k.LinearOperatorLowRankUpdate(base, X, [1.0, 2.0, 3.0]), r"\(2,\) and \(3,\)"),
        (
            lambda: k.LinearOperatorLowRankUpdate(base, X, is_diag_update_positive=False),
            "Default diagonal is the identity",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()


def test_spectra_are_checked_in_steps(sess):
    def circulant(*spectrum):
        return tf.linalg.LinearOperatorCirculant(tf.placeholder_with_default(spectrum, [None]))

    good = circulant(4.0, 2.0, 2.0)
    sess.run(
        [
            good.assert_non_singular(),
            good.assert_positive_definite(),
            good.assert_self_adjoint(),
            good.assert_hermitian_spectrum(),
        ]
    )
    for operation, message in (
        (circulant(1.0, 0.0).assert_non_singular, "contained zero"),
        (circulant(1.0, -1.0).assert_positive_definite, "not all positive"),
        (circulant(1j, 1.0).assert_self_adjoint, "non-zero imaginary"),
        (circulant(1.0, 2.0, 3.0).assert_hermitian_spectrum, "not Hermitian"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(operation())
    kernel = tf.linalg.LinearOperatorCirculant([3.0, 0.0, 0.0]).convolution_kernel()
    np.testing.assert_allclose(sess.run(kernel), [1, 1, 1], rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_do_what_the_dense_matrix_does(sess, kind):
    make, dense = KINDS[kind]
    operator, n = make(tf.linalg), dense.shape[-1]
    x = RANDOM.rand(2, n, 2).astype(np.float32)
    one = RANDOM.rand(n, 3).astype(np.float32)
    inverse = np.linalg.inv(dense)
    pairs = [
        (operator.to_dense(), dense),
        (operator.shape_tensor(), dense.shape),
        (operator.batch_shape_tensor(), dense.shape[:-2]),
        (operator.tensor_rank_tensor(), dense.ndim),
        (operator.domain_dimension_tensor(), n),
        (operator.matmul(x), dense @ x),
        (operator.matmul(one), dense @ one),
        (operator.matmul(x, adjoint=True), adjoint(dense) @ x),
        (operator.matmul(adjoint(x), adjoint_arg=True), dense @ x),
        (operator.matvec(x[..., 0]), (dense @ x[..., :1])[..., 0]),
        (operator.matvec(one[:, 0]), dense @ one[:, 0]),
        (operator.solve(x), inverse @ x),
        (operator.solve(one), inverse @ one),
        (operator.solve(x, adjoint=True), adjoint(inverse) @ x),
        (operator.solve(adjoint(x), adjoint_arg=True), inverse @ x),
        (operator.solvevec(x[..., 1]), (inverse @ x[..., 1:])[..., 0]),
        (operator.determinant(), np.linalg.det(dense)),
        (operator.log_abs_determinant(), np.log(np.abs(np.linalg.det(dense)))),
        (operator.diag_part(), dense.diagonal(axis1=-2, axis2=-1)),
        (operator.trace(), dense.trace(axis1=-2, axis2=-1)),
        (operator.adjoint().to_dense(), adjoint(dense)),
        (operator.H.matmul(x), adjoint(dense) @ x),
        (operator.inverse().to_dense(), inverse),
        (operator.inverse().matmul(one), inverse @ one),
        ((operator @ operator).to_dense(), dense @ dense),
        (operator.matmul(operator, adjoint_arg=True).to_dense(), dense @ adjoint(dense)),
        (operator.solve(operator).to_dense(), inverse @ dense),
    ]
    for found, (tensor, expected) in zip(sess.run([p[0] for p in pairs]), pairs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=5e-4, atol=5e-5)
        assert tf.TensorShape(np.shape(found)).is_compatible_with(tensor.shape)


@pytest.mark.parametrize(
    "make, dense",
    [
        (
            lambda k: k.LinearOperatorFullMatrix(
                POSITIVE, is_self_adjoint=True, is_positive_definite=True
            ),
            POSITIVE,
        ),
        (lambda k: k.LinearOperatorDiag([4.0, 9.0], is_positive_definite=True), np.diag([4, 9])),
        (
            lambda k: k.LinearOperatorScaledIdentity(2, 4.0, is_positive_definite=True),
            np.diag([4, 4]),
        ),
        (
            lambda k: k.LinearOperatorBlockDiag(
                [k.LinearOperatorDiag([4.0], is_positive_definite=True), identity_rows(2)]
            ),
            np.diag([4, 1, 1]),
        ),
    ],
)
def test_positive_operators_have_factors(sess, make, dense):
    operator = make(tf.linalg)
    np.testing.assert_allclose(
        sess.run(operator.cholesky().to_dense()), np.linalg.cholesky(dense), rtol=1e-5
    )
    sess.run([operator.assert_positive_definite(), operator.assert_non_singular()])
    sess.run(operator.assert_self_adjoint())


def test_assertions_fail_where_they_must(sess):
    kinds = tf.linalg
    zero = kinds.LinearOperatorDiag([1.0, 0.0])
    for check in (
        zero.assert_non_singular,
        zero.assert_positive_definite,
        kinds.LinearOperatorFullMatrix([[1.0, 2.0], [2.0, 4.0]]).assert_non_singular,
        kinds.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]).assert_self_adjoint,
        kinds.LinearOperatorScaledIdentity(2, 0.0).assert_non_singular,
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(check())


@pytest.mark.parametrize(
    "use, error, message",
    [
        (lambda k: k.LinearOperatorIdentity(3, is_self_adjoint=False), ValueError, "always self"),
        (lambda k: k.LinearOperatorIdentity(-1), ValueError, "non-negative"),
        (lambda k: k.LinearOperatorIdentity(2, batch_shape=3), ValueError, "1-D"),
        (lambda k: k.LinearOperatorScaledIdentity([2], 3.0), ValueError, "0-D"),
        (lambda k: k.LinearOperatorComposition([]), ValueError, "non-empty"),
        (lambda k: k.LinearOperatorFullMatrix(ANY).cholesky(), ValueError, "Cholesky"),
        (lambda k: k.LinearOperatorFullMatrix(ANY[:, :2]).inverse(), ValueError, "non square"),
        (
            lambda k: k.LinearOperatorComposition(
                [k.LinearOperatorIdentity(2), k.LinearOperatorIdentity(2, dtype=tf.float64)]
            ),
            TypeError,
            "same dtype",
        ),
        (
            lambda k: (
                k.LinearOperatorComposition(
                    [k.LinearOperatorIdentity(2), k.LinearOperatorIdentity(3)]
                ).shape
            ),
            ValueError,
            "not compatible",
        ),
        (
            lambda k: k.LinearOperatorFullMatrix(ANY) @ k.LinearOperatorIdentity(4),
            ValueError,
            "incompatible",
        ),
    ],
)
def test_what_operators_cannot_be_made_of(use, error, message):
    with pytest.raises(error, match=message):
        use(tf.linalg)


def test_a_matrix_that_is_not_positive_definite_is_told(sess):
    for matrix in ([[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]):
        operator = tf.linalg.LinearOperatorFullMatrix(matrix, is_self_adjoint=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not positive definite"):
            sess.run(operator.assert_positive_definite())
    good = tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 2.0]], is_self_adjoint=True)
    sess.run(good.assert_positive_definite())


def test_identities_check_shapes_in_steps_if_asked(sess):
    rows, batch = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    x = tf.placeholder(tf.float32)
    plain = tf.linalg.LinearOperatorIdentity(rows, batch, assert_proper_shapes=True)
    scaled = tf.linalg.LinearOperatorScaledIdentity(rows, 2.0, assert_proper_shapes=True)
    for operator, size in ((plain, 1), (scaled, 2)):
        y = operator.matmul(x)
        good = {rows: 2, batch: [1], x: np.ones((1, 2, 3))}
        assert (sess.run(y, good) == size).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimensions are not compatible"):
            sess.run(y, {**good, x: np.ones((1, 3, 3))})
        for bad in (-2, [2]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Argument num_rows must be"):
                sess.run(operator.to_dense(), {**good, rows: bad})
    for bad in ([-1], 3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Argument batch_shape must be"):
            sess.run(plain.to_dense(), {**good, batch: bad})
    with pytest.raises(ValueError, match="is always square"):
        tf.linalg.LinearOperatorFullMatrix(
            tf.placeholder_with_default([[1.0]], None), is_positive_definite=True, is_square=False
        )


def test_functions_of_matrices_take_operators(sess):
    dense = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
    operator = tf.linalg.LinearOperatorFullMatrix(
        dense, is_self_adjoint=True, is_positive_definite=True
    )
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    inverse = np.linalg.inv(dense)
    for found, expected in [
        (tf.matmul(operator, x), dense @ x),
        (tf.matmul(x, operator), x @ dense),
        (tf.matmul(x, operator, adjoint_a=True, adjoint_b=True), x.T @ dense.T),
        (tf.linalg.solve(operator, x), inverse @ x),
        (tf.linalg.det(operator), np.linalg.det(dense)),
        (tf.linalg.logdet(operator), np.log(np.linalg.det(dense))),
        (tf.trace(operator), 7),
        (tf.matrix_diag_part(operator), [4, 3]),
        (tf.linalg.inv(operator, adjoint=True).to_dense(), inverse.T),
        (tf.linalg.adjoint(operator).to_dense(), dense.T),
        (tf.cholesky(operator).to_dense(), np.linalg.cholesky(dense)),
    ]:
        np.testing.assert_allclose(sess.run(found), expected, rtol=1e-5)
    assert tf.matmul(operator, operator).shape == (2, 2)


@pytest.mark.parametrize(
    "use, message",
    [
        (lambda f, x: tf.matmul(f, x, transpose_a=True), "Transposing not supported"),
        (lambda f, x: tf.matmul(f, x, b_is_sparse=True), "Sparse methods not supported"),
        (lambda f, x: tf.linalg.solve(x, f), "as a LinearOperator is not supported"),
        (lambda f, x: tf.linalg.logdet(f), "self-adjoint positive definite"),
    ],
)
def test_functions_of_matrices_refuse_what_operators_cannot(use, message):
    x = np.eye(2, dtype=np.float32)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        use(tf.linalg.LinearOperatorFullMatrix(x), x)
