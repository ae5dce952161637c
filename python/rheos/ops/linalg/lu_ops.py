"""What is made of a matrix's LU decomposition, and equations of narrow matrices."""

from collections import namedtuple

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.math import check_ops, math_ops


def _checked(lower_upper, perm, validate_args):
    lower_upper = convert_to_tensor(lower_upper, name="lower_upper")
    perm = convert_to_tensor(perm, dtypes.int32, name="perm")
    for tensor, least in ((lower_upper, 2), (perm, 1)):
        if tensor.shape.ndims is not None and tensor.shape.ndims < least:
            raise ValueError(f"Input must have at least {least} dimensions, got {tensor.shape}")
    if not validate_args:
        return lower_upper, perm
    rows, columns = array_ops.unstack(array_ops.shape(lower_upper)[-2:])
    checks = [check_ops.assert_equal(rows, columns, message="`lower_upper` must be square.")]
    with control_flow_ops.control_dependencies(checks):
        return array_ops.identity(lower_upper), perm


def _lower_of(lower_upper):
    """The lower triangle, whose diagonal are ones."""
    strict = array_ops.matrix_band_part(lower_upper, -1, 0)
    ones = array_ops.ones(array_ops.shape(lower_upper)[:-1], lower_upper.dtype)
    return rearrange_ops.matrix_set_diag(strict, ones)


def _rows_of(matrix, places):
    """The rows (..., n, k) of matrices at `places` (..., n), whose batches broadcast."""
    batch = rearrange_ops.broadcast_dynamic_shape(
        array_ops.shape(matrix)[:-2], array_ops.shape(places)[:-1]
    )
    size = array_ops.shape(matrix)[-2:]
    matrix = array_ops.broadcast_to(matrix, array_ops.concat([batch, size], 0))
    places = array_ops.broadcast_to(places, array_ops.concat([batch, size[:1]], 0))
    flat = array_ops.reshape(matrix, array_ops.concat([[-1], size], 0))
    rows = array_ops.gather(
        flat, array_ops.reshape(places, array_ops.stack([-1, size[0]])), axis=1, batch_dims=1
    )
    made = array_ops.reshape(rows, array_ops.concat([batch, size], 0))
    made.set_shape(matrix.shape)
    return made


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrices (..., n, n) whose lu() gave `lower_upper` and `perm`."""
    with name_scope(name, "lu_reconstruct", [lower_upper, perm]):
        lower_upper, perm = _checked(lower_upper, perm, validate_args)
        upper = array_ops.matrix_band_part(lower_upper, 0, -1)
        product = math_ops.matmul(_lower_of(lower_upper), upper)
        return _rows_of(product, rearrange_ops.argsort(perm))


def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """X with A X = rhs, given (lower_upper, perm) = lu(A). `rhs`: (..., n, k)."""
    with name_scope(name, "lu_solve", [lower_upper, perm, rhs]):
        lower_upper, perm = _checked(lower_upper, perm, validate_args)
        rhs = _rows_of(convert_to_tensor(rhs, lower_upper.dtype, name="rhs"), perm)
        half = linalg_ops.matrix_triangular_solve(_lower_of(lower_upper), rhs)
        return linalg_ops.matrix_triangular_solve(lower_upper, half, lower=False)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverses of the matrices whose lu() gave `lower_upper` and `perm`."""
    with name_scope(name, "lu_matrix_inverse", [lower_upper, perm]):
        lower_upper = convert_to_tensor(lower_upper, name="lower_upper")
        size = array_ops.shape(lower_upper)[-1]
        unit = rearrange_ops.eye(size, dtype=lower_upper.dtype)
        return lu_solve(lower_upper, perm, unit, validate_args)


def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None):
    """X with A X = rhs, of triangular A with few diagonals.

    bands: (..., k, n), of a lower A the main diagonal first and each below it filled from its left,
    of an upper one the main diagonal last and each above it filled from its right. rhs: (...,
    n, m).
    adjoint: solve with the adjoint of A.
    """
    with name_scope(name, "banded_triangular_solve", [bands, rhs]):
        bands = convert_to_tensor(bands, name="bands")
        rhs = convert_to_tensor(rhs, bands.dtype, name="rhs")
        number = array_ops.shape(bands)[-2]
        size = array_ops.shape(bands)[-1]
        rows = math_ops.range(size)[:, None]
        columns = math_ops.range(size)[None, :]
        below = rows - columns if lower else number - 1 - (columns - rows)
        inside = math_ops.logical_and(below >= 0, below < number)
        # A band of either kind keeps an element at the number of its row.
        places = math_ops.maximum(math_ops.minimum(below, number - 1), 0) * size + rows
        flat = array_ops.reshape(bands, array_ops.concat([array_ops.shape(bands)[:-2], [-1]], 0))
        dense = array_ops.gather(flat, places, axis=-1)
        dense = rearrange_ops.where_v2(inside, dense, array_ops.zeros_like(dense))
        return linalg_ops.matrix_triangular_solve(dense, rhs, lower=lower, adjoint=adjoint)


CGState = namedtuple("CGState", "i x r p gamma")


def _dot(x, y):
    return math_ops.reduce_sum(math_ops.conj(x) * y, axis=-1, keepdims=True)


def conjugate_gradient(
    operator, rhs, preconditioner=None, x=None, tol=1e-5, max_iter=20, name="conjugate_gradient"
):
    """Solves A x = rhs by conjugate gradients, A a positive definite self-adjoint operator.

    operator, preconditioner: linear operators; the latter is applied by its matvec(). rhs: (...,
    n). x: where to start, zeros by default. It ends when no residual is longer than `tol` times
    the right side, or after `max_iter` steps. Returns (i, x, r, p, gamma): steps, answer,
    residual, direction and the squared length of the residual.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    with name_scope(name):
        rhs = convert_to_tensor(rhs, name="rhs")
        shape = array_ops.shape(rhs)

        def applied(one):
            return one if preconditioner is None else preconditioner.matvec(one)

        if x is None:
            x, r = array_ops.zeros_like(rhs), rhs
        else:
            x = convert_to_tensor(x, rhs.dtype)
            r = rhs - operator.matvec(x)
        limit = tol * math_ops.norm(rhs, axis=-1)
        p = applied(r)
        first = CGState(convert_to_tensor(0), x, r, p, _dot(r, p))

        def goes_on(i, x, r, p, gamma):
            longest = math_ops.norm(r, axis=-1)
            return math_ops.logical_and(i < max_iter, math_ops.reduce_any(longest > limit))

        def step(i, x, r, p, gamma):
            z = operator.matvec(p)
            alpha = gamma / _dot(p, z)
            x, r = x + alpha * p, r - alpha * z
            q = applied(r)
            new = _dot(r, q)
            return CGState(i + 1, x, r, q + (new / gamma) * p, new)

        made = control_flow_ops.while_loop(goes_on, step, first)
        return CGState(made.i, array_ops.reshape(made.x, shape), made.r, made.p, made.gamma[..., 0])
