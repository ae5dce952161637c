"""Linear algebra gives what NumPy gives."""

import numpy as np
import pytest
import rheos.v1 as tf

RANDOM = np.random.RandomState(1)
A = RANDOM.randn(3, 4).astype(np.float32)
B = RANDOM.randn(4, 5).astype(np.float32)
BATCH = RANDOM.randn(2, 3, 4).astype(np.float32)

EINSUMS = {
    "ij,jk->ik": (A, B),
    "ij->j": (A,),
    "ij,ij->i": (A, A),
    "ij->ji": (A,),
    "ij,kl->ikjl": (A, B),
    "bij,jk->bik": (BATCH, B),
    "bij,bkj->bik": (BATCH, BATCH),
    "...ij,jk->...ik": (BATCH, B),
    "ij,jk": (A, B),
    "ij,jk,kl->il": (A, B, B.T),
    "ij,ij->": (A, A),
    "ij,ij,jk->ik": (A, A, B),
    "ba,ac,da->bcd": (A, B, A),
    "eb,cb,fb->cef": (B.T, A, A),
    "ij,kj,il,jm->ml": (A, A, A, B),
}


@pytest.mark.parametrize("equation", EINSUMS)
def test_einsum(equation, sess):
    operands = EINSUMS[equation]
    expected = np.einsum(equation, *operands)
    got = tf.einsum(equation, *operands)
    assert got.shape.as_list() == list(expected.shape)
    np.testing.assert_allclose(sess.run(got), expected, rtol=1e-5, atol=1e-5)
    fed = [tf.placeholder(tf.float32, [None] * x.ndim) for x in operands]
    late = sess.run(tf.einsum(equation, *fed), dict(zip(fed, operands)))
    np.testing.assert_allclose(late, expected, rtol=1e-5, atol=1e-5)


def test_einsum_refuses_what_does_not_fit():
    for equation in ("ij,jk->il", "ijk->i", "ij"):
        with pytest.raises(ValueError):
            tf.einsum(equation, A, B)
    with pytest.raises(TypeError, match="invalid keyword"):
        tf.einsum("ij->ji", A, nonsense=1)


@pytest.mark.parametrize("axes", [1, [[1], [0]], [1, 0], 0])
def test_tensordot_of_known_and_unknown_shapes(axes, sess):
    expected = np.tensordot(A, B, axes)
    np.testing.assert_allclose(sess.run(tf.tensordot(A, B, axes)), expected, rtol=1e-5, atol=1e-5)
    a, b = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [4, None])
    late = sess.run(tf.tensordot(a, b, axes), {a: A, b: B})
    np.testing.assert_allclose(late, expected, rtol=1e-5, atol=1e-5)


def test_tensordot_takes_constant_axes(sess):
    for axes in (tf.constant([[1], [0]]), [tf.constant([1]), tf.constant([0])]):
        got = sess.run(tf.tensordot(A, A.T, axes))
        np.testing.assert_allclose(got, np.tensordot(A, A.T, [[1], [0]]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "order, axis", [("euclidean", None), (1, None), (np.inf, None), (3, 0), (2, 1), (1, [0, 1]),
                    ("fro", [0, 1]), (np.inf, [-2, -1])]
)  # fmt: skip
def test_norms(order, axis, sess):
    plain = A.ravel() if axis is None else A
    numpy_axis = tuple(axis) if isinstance(axis, list) else axis
    numpy_order = None if order == "euclidean" else order
    expected = np.linalg.norm(plain, numpy_order, numpy_axis)
    got = sess.run(tf.norm(A, order, axis))
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    with pytest.raises(ValueError):
        tf.norm(A, "nonsense", axis)


def test_eye(sess):
    assert sess.run(tf.eye(2)).tolist() == [[1, 0], [0, 1]]
    rows = tf.placeholder(tf.int32, [])
    np.testing.assert_array_equal(sess.run(tf.eye(rows), {rows: 3}), np.eye(3))
    assert tf.eye(3, batch_shape=[2]).shape.as_list() == [2, 3, 3]


def test_products_and_traces(sess):
    m = A @ A.T
    np.testing.assert_allclose(sess.run(tf.trace(m)), np.trace(m), rtol=1e-5)
    np.testing.assert_allclose(sess.run(tf.linalg.matvec(A, B[:, 0])), A @ B[:, 0], rtol=1e-5)
    np.testing.assert_allclose(sess.run(tf.linalg.adjoint(A)), A.T)
    unit, length = sess.run(tf.linalg.normalize(A, axis=1))
    np.testing.assert_allclose(unit * length, A, rtol=1e-5)


@pytest.mark.parametrize("rows,columns", [(4, 2), (2, 3)])
def test_least_squares_have_a_gradient(sess, rows, columns):
    random = np.random.RandomState(0)
    values = random.randn(rows, columns), random.randn(rows, 2)
    a, b = (tf.placeholder(tf.float64, v.shape) for v in values)
    x = tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=0.25)
    loss = tf.reduce_sum(x * x)
    for k, grad in enumerate(tf.gradients(loss, [a, b])):
        found = sess.run(grad, {a: values[0], b: values[1]})
        for place in np.ndindex(*values[k].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [v.copy() for v in values]
                moved[k][place] += step
                ends.append(sess.run(loss, {a: moved[0], b: moved[1]}))
            assert np.isclose(found[place], (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-7)


def test_tridiagonal_matrices_in_every_format(sess):
    above, main, below = [1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 7.0, 8.0]
    matrix = np.diag(main) + np.diag(above[:2], 1) + np.diag(below[1:], -1)
    rhs = np.array([[1.0, -1.0], [2.0, 0.5], [3.0, 2.0]])
    forms = {
        "compact": np.array([above, main, below]),
        "sequence": (
            tf.constant(above[:2], tf.float64),
            tf.constant(main, tf.float64),
            tf.constant(below[1:], tf.float64),
        ),
        "matrix": matrix,
    }
    for name, diagonals in forms.items():
        product = sess.run(tf.linalg.tridiagonal_matmul(diagonals, rhs, diagonals_format=name))
        np.testing.assert_allclose(product, matrix @ rhs)
        x = sess.run(tf.linalg.tridiagonal_solve(diagonals, rhs, diagonals_format=name))
        np.testing.assert_allclose(matrix @ x, rhs)
    vector = sess.run(tf.linalg.tridiagonal_solve(forms["compact"], rhs[:, 0]))
    np.testing.assert_allclose(matrix @ vector, rhs[:, 0])
    turned = sess.run(tf.linalg.tridiagonal_solve(forms["compact"], rhs.T, transpose_rhs=True))
    np.testing.assert_allclose(matrix @ turned.T, rhs)
    with pytest.raises(ValueError, match="diagonals_format"):
        tf.linalg.tridiagonal_solve(matrix, rhs, diagonals_format="dense")
    with pytest.raises(ValueError, match="last two dimensions of diagonals to be same"):
        tf.linalg.tridiagonal_solve(tf.ones([5, 4, 7]), tf.ones([5, 4]), "matrix")
    with pytest.raises(ValueError, match="size of the matrix needs to be known"):
        late = tf.placeholder(tf.float64, [None, None])
        tf.linalg.tridiagonal_solve(late, rhs, "matrix")
    with pytest.raises(ValueError, match="sequence of length 3"):
        tf.linalg.tridiagonal_solve(forms["sequence"][:2], rhs, "sequence")


def test_functions_of_matrices_undo_each_other(sess):
    matrix = np.array([[4.0, 1.0], [0.5, 3.0]])
    root = sess.run(tf.linalg.sqrtm(matrix))
    np.testing.assert_allclose(root @ root, matrix)
    log = tf.linalg.logm(matrix.astype(np.complex128))
    np.testing.assert_allclose(sess.run(tf.linalg.expm(log)), matrix, atol=1e-12)
    x = tf.constant(matrix)
    (slope,) = tf.gradients(tf.linalg.expm(x), x)
    step = 1e-6 * np.array([[0.0, 1.0], [0.0, 0.0]])
    change = sess.run(tf.reduce_sum(tf.linalg.expm(x + step) - tf.linalg.expm(x - step)))
    np.testing.assert_allclose(sess.run(slope)[0, 1], change / 2e-6, rtol=1e-6)


def test_eye__rows_that_are_tensors_leave_the_batch_known():
    rows = tf.placeholder_with_default(2, shape=None)
    assert tf.eye(rows, batch_shape=(2, 3)).shape.as_list() == [2, 3, None, None]
    assert tf.eye(rows, 4).shape.ndims == 2


@pytest.mark.parametrize("axis", [(-2, -1), (0, 2)])
def test_norm__largest_singular_value_of_complex_matrices_and_of_unknown_rank(axis):
    rng = np.random.RandomState(0)
    value = rng.standard_normal((2, 3, 4)) + 1j * rng.standard_normal((2, 3, 4))
    unknown = tf.placeholder(tf.complex128)
    expected = np.linalg.norm(value, 2, axis, keepdims=True)
    for x in tf.constant(value), unknown:
        norm = tf.norm(x, 2, axis, keepdims=True)
        assert norm.dtype == tf.float64
        with tf.Session() as sess:
            np.testing.assert_allclose(sess.run(norm, {unknown: value}), expected)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 3), (3, 5)])
def test_svd__gradients_of_gradients(shape):
    x = tf.constant(np.random.RandomState(1).standard_normal(shape))
    s, u, v = tf.linalg.svd(x)
    # The sign of each pair of vectors is free: this is the same for both.
    y = tf.reduce_sum(s) + tf.reduce_sum(u[..., :1, :] * v[..., :1, :])
    grad = tf.gradients(y, x)[0]
    with tf.Session():
        assert tf.test.compute_gradient_error(x, shape, grad, shape, delta=1e-6) < 1e-5


def test_self_adjoint_eig__gradients_of_gradients():
    shape = (4, 4)
    x = tf.constant(np.random.RandomState(2).standard_normal(shape))
    e, v = tf.self_adjoint_eig(x + tf.transpose(x))
    grad = tf.gradients(tf.reduce_sum(e) + tf.reduce_sum(v[0] * v[1]), x)[0]
    with tf.Session():
        assert tf.test.compute_gradient_error(x, shape, grad, shape, delta=1e-6) < 1e-5


def test_tensordot__axes_that_are_fed(sess):
    axes = tf.placeholder(tf.int32, [2, 1])
    product = sess.run(tf.tensordot(A, B, axes), {axes: [[1], [0]]})
    np.testing.assert_allclose(product, A @ B, rtol=1e-6, atol=1e-6)


def test_einsum_of_batches_that_broadcast_and_of_unknown_sizes(sess):
    a, b = np.random.rand(1, 2, 3).astype("f"), np.random.rand(5, 3, 4).astype("f")
    ours = tf.einsum("...ij,...jk->...ik", a, b)
    np.testing.assert_allclose(sess.run(ours), np.einsum("...ij,...jk->...ik", a, b), rtol=1e-5)
    c, d = np.random.rand(2, 3, 4).astype("f"), np.random.rand(4, 3, 5).astype("f")
    x, y = tf.placeholder(tf.float32, [None, 3, None]), tf.placeholder(tf.float32, [4, None, 5])
    for equation in ("abc,cbd->ad", "abc,cbd->bda", "abc,cde->abde", "abc,cbd->abd"):
        found = sess.run(tf.einsum(equation, x, y), {x: c, y: d})
        np.testing.assert_allclose(found, np.einsum(equation, c, d), rtol=1e-5)


@pytest.mark.parametrize("shape", [None, [None, None], [3, None], [None, 3]])
def test_pinv_of_shapes_that_only_the_step_knows(shape, sess):
    full = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]])
    a = tf.placeholder(tf.float64, shape)
    for value in (full, np.outer([1.0, 2, 3], [1.0, 2, 3])):  # and one of rank 1
        found = sess.run(tf.linalg.pinv(a), {a: value})
        np.testing.assert_allclose(found, np.linalg.pinv(value), atol=1e-11)
    if shape is None:
        batch = np.stack([full, full + 1])
        found = sess.run(tf.linalg.pinv(a), {a: batch})
        np.testing.assert_allclose(found, np.linalg.pinv(batch), atol=1e-11)
