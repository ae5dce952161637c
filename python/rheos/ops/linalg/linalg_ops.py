"""Linear algebra on (batches of) matrices: the last two dimensions."""

import functools

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_list, op_results
from rheos.framework.ragged import operators_too
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops, special_math_ops

# ---- One op each


@operators_too("cholesky_of")
def cholesky(input, name=None):
    """The lower triangular L with L L^H = input.

    input: (..., n, n), positive definite; only the lower triangle is read. InvalidArgumentError
    when it runs and the input is not positive definite.

    >>> print(tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy())
    [[2. 0.]
     [1. 2.]]
    """
    return op1("Cholesky", name, input)


@operators_too("inverse_of")
def matrix_inverse(input, adjoint=False, name=None):
    """The inverse of matrices (..., n, n), or of their adjoints.

    InvalidArgumentError when it runs and a matrix is singular.

    >>> print(tf.linalg.inv([[1.0, 1.0], [0.0, 2.0]]).numpy())
    [[ 1.  -0.5]
     [-0.   0.5]]
    """
    return op1("MatrixInverse", name, input, adjoint=adjoint)


@operators_too("determinant_of")
def matrix_determinant(input, name=None):
    """The determinants (...) of matrices (..., n, n).

    >>> print(tf.linalg.det([[2.0, 1.0], [0.0, 4.0]]).numpy())
    8.0
    """
    return op1("MatrixDeterminant", name, input)


@operators_too("solution_of")
def matrix_solve(matrix, rhs, adjoint=False, name=None):
    """X with matrix X = rhs.

    matrix: (..., n, n). rhs: (..., n, k). adjoint: take the matrices' adjoints.
    InvalidArgumentError when it runs and a matrix is singular.

    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy())
    [[1. ]
     [0.5]]
    """
    return op1("MatrixSolve", name, matrix, rhs, adjoint=adjoint)


def matrix_triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """X with matrix X = rhs for triangular matrices; the other triangle is not read.

    matrix: (..., n, n). rhs: (..., n, k). InvalidArgumentError when a diagonal holds 0.
    """
    return op1("MatrixTriangularSolve", name, matrix, rhs, lower=lower, adjoint=adjoint)


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """X that minimises the norm of matrix X - rhs, plus l2_regularizer times the norm of X.

    matrix: (..., m, n). rhs: (..., m, k). Returns (..., n, k). fast: by Cholesky, which needs full
    rank; else by a complete orthogonal decomposition, without regularizer.
    """
    return op1("MatrixSolveLs", name, matrix, rhs, l2_regularizer, fast=fast)


def matrix_square_root(input, name=None):
    """R with R R = input, of matrices (..., n, n)."""
    return op1("MatrixSquareRoot", name, input)


def matrix_exponential(input, name=None):
    """The exponential of matrices (..., n, n), element by element of the batch."""
    return op1("MatrixExponential", name, input)


def matrix_logarithm(input, name=None):
    """The principal logarithm of complex matrices (..., n, n)."""
    return op1("MatrixLogarithm", name, input)


def qr(input, full_matrices=False, name=None):
    """(q, r) with q r = input, q orthogonal and r upper triangular.

    input: (..., m, n). q: (..., m, p), r: (..., p, n) with p the smaller of m and n, or m if
    `full_matrices`.
    """
    return op_results("Qr", name, input, full_matrices=full_matrices)


def lu(input, output_idx_type=dtypes.int32, name=None):
    """(lu, p): both triangles of the LU decomposition in one matrix, and the permutation."""
    return op_results("Lu", name, input, output_idx_type=output_idx_type)


def cross(a, b, name=None):
    """The cross products of vectors: a and b of one shape (..., 3)."""
    return op1("Cross", name, a, b)


def slogdet(input, name=None):
    """(sign, log_abs_determinant) of matrices (..., n, n)."""
    return op_results("LogMatrixDeterminant", name, input)


# ---- Compositions


def cholesky_solve(chol, rhs, name=None):
    """X with A X = rhs, given chol = cholesky(A).

    chol: (..., n, n). rhs: (..., n, k).
    """
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        half = matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return matrix_triangular_solve(chol, half, adjoint=True, lower=True)


def self_adjoint_eig(tensor, name=None):
    """(e, v): the eigenvalues (..., n), ascending, and the eigenvectors (..., n, n), as columns.

    tensor: (..., n, n), self-adjoint; only the lower triangle is read.
    """
    e, v = op_list("SelfAdjointEigV2", name, tensor, compute_v=True)
    return e, v


def self_adjoint_eigvals(tensor, name=None):
    """The eigenvalues (..., n), ascending, of self-adjoint matrices (..., n, n)."""
    return op_list("SelfAdjointEigV2", name, tensor, compute_v=False)[0]


def _eig(tensor, compute_v, name):
    tensor = convert_to_tensor(tensor, name="tensor")
    is_double = tensor.dtype in (dtypes.float64, dtypes.complex128)
    wide = dtypes.complex128 if is_double else dtypes.complex64
    return op_list("Eig", name, tensor, compute_v=compute_v, Tout=wide)


def eig(tensor, name=None):
    """(e, v): the complex eigenvalues (..., n), by their size, and vectors (..., n, n), as columns.

    tensor: (..., n, n). The vectors are of length 1.
    """
    e, v = _eig(tensor, True, name)
    return e, v


def eigvals(tensor, name=None):
    """The complex eigenvalues (..., n), by their size, of matrices (..., n, n)."""
    return _eig(tensor, False, name)[0]


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """(s, u, v) with tensor = u diag(s) v^H; only s unless `compute_uv`.

    tensor: (..., m, n). s: (..., p), descending, with p the smaller of m and n. u: (..., m, p),
    v: (..., n, p); (..., m, m) and (..., n, n) if `full_matrices`.
    """
    s, u, v = op_list("Svd", name, tensor, compute_uv=compute_uv, full_matrices=full_matrices)
    return (special_math_ops.real(s), u, v) if compute_uv else special_math_ops.real(s)


@operators_too("logdet_of")
def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices (..., n, n): (...)."""
    with name_scope(name, "logdet", [matrix]):
        chol = cholesky(matrix)
        diagonal = special_math_ops.real(rearrange_ops.matrix_diag_part(chol))
        return 2.0 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])


@operators_too("adjoint_of")
def adjoint(matrix, name=None):
    """The conjugate transpose of matrices (..., n, m)."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return rearrange_ops.matrix_transpose(matrix, conjugate=True)


@operators_too("trace_of")
def trace(x, name=None):
    """The sums of the diagonals of matrices (..., n, m): (...).

    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    with name_scope(name, "Trace", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return math_ops.reduce_sum(rearrange_ops.matrix_diag_part(x), [-1], name=name)


def matvec(
    a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None
):
    """The products of matrices a (..., n, k) and vectors b (..., k): (..., n).

    >>> print(tf.linalg.matvec([[1, 2], [3, 4]], [1, 1]).numpy())
    [3 7]
    """
    with name_scope(name, "MatVec", [a, b]) as name:
        product = math_ops.matmul(
            a,
            array_ops.expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return array_ops.squeeze(product, axis=-1)


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor / norm, norm), the norm along `axis` with its dimensions kept; see norm()."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        length = math_ops.norm(tensor, ord, axis, keepdims=True)
        length = math_ops.cast(length, tensor.dtype)
        return tensor / length, length


def three_diagonals(diagonals, diagonals_format):
    """The diagonals above, on and below the main one, each (..., n)."""
    if diagonals_format == "compact":
        diagonals = convert_to_tensor(diagonals)
        rank = diagonals.shape.ndims
        if rank is not None and rank < 2:
            raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
        if rank is not None and diagonals.shape.as_list()[-2] not in (None, 3):
            raise ValueError(f"Expected 3 diagonals got {diagonals.shape.as_list()[-2]}")
        return [diagonals[..., i, :] for i in range(3)]
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = [convert_to_tensor(d) for d in diagonals]
        size = main.shape.dims[-1].value
        if size is not None and above.shape.dims[-1].value == size - 1:
            above = array_ops.concat([above, array_ops.zeros_like(main[..., :1])], -1)
        if size is not None and below.shape.dims[-1].value == size - 1:
            below = array_ops.concat([array_ops.zeros_like(main[..., :1]), below], -1)
        return [above, main, below]
    if diagonals_format != "matrix":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    matrix = convert_to_tensor(diagonals)
    shape = matrix.shape
    size, width = shape.with_rank_at_least(2)[-2:].as_list() if shape else (None, None)
    if size is None and width is None:
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    if None not in (size, width) and size != width:
        raise ValueError(
            f"Expected last two dimensions of diagonals to be same, got {size} and {width}"
        )
    zero = array_ops.zeros_like(matrix[..., :1, 0])
    above = rearrange_ops.matrix_diag_part(matrix[..., :-1, 1:])
    below = rearrange_ops.matrix_diag_part(matrix[..., 1:, :-1])
    return [
        array_ops.concat([above, zero], -1),
        rearrange_ops.matrix_diag_part(matrix),
        array_ops.concat([zero, below], -1),
    ]


_FORMATS = """

    diagonals: for the format "compact" a tensor (..., 3, n) of the diagonals above, on and below
    the main one (the last number of the first and the first of the last do not count); for
    "sequence" the three of them, each (..., n), or (..., n - 1) beside the main one; for "matrix"
    (..., n, n).
    """


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """The product of tridiagonal matrices and `rhs` (..., n, k)."""
    with name_scope(name, "tridiagonal_matmul"):
        parts = three_diagonals(diagonals, diagonals_format)
        parts = [array_ops.expand_dims(d, -2) for d in parts]
        return op1("TridiagonalMatMul", None, *parts, rhs)


def tridiagonal_solve(
    diagonals,
    rhs,
    diagonals_format="compact",
    transpose_rhs=False,
    conjugate_rhs=False,
    name=None,
    partial_pivoting=True,
):
    """Solves equations whose matrices are tridiagonal. `rhs`: (..., n, k) or (..., n).

    A matrix that is singular gives NaN. transpose_rhs: `rhs` is (..., k, n), and so is the answer.
    conjugate_rhs: take its conjugate. partial_pivoting: exchange rows where that is more exact.
    """
    with name_scope(name, "tridiagonal_solve", [rhs]):
        parts = three_diagonals(diagonals, diagonals_format)
        compact = array_ops.stack(parts, axis=-2)
        rhs = convert_to_tensor(rhs, compact.dtype)
        is_vector = rhs.shape.ndims is not None and rhs.shape.ndims == compact.shape.ndims - 1
        if conjugate_rhs:
            rhs = math_ops.conj(rhs)
        if is_vector:
            rhs = array_ops.expand_dims(rhs, -1)
        elif transpose_rhs:
            rhs = rearrange_ops.matrix_transpose(rhs)
        x = op1("TridiagonalSolve", None, compact, rhs, partial_pivoting=partial_pivoting)
        if is_vector:
            return array_ops.squeeze(x, [-1])
        return rearrange_ops.matrix_transpose(x) if transpose_rhs else x


tridiagonal_matmul.__doc__ += _FORMATS
tridiagonal_solve.__doc__ += _FORMATS


def _tolerance(a, values):
    eps = np.finfo(a.dtype.as_numpy_dtype).eps
    largest = math_ops.reduce_max(values, axis=-1, keepdims=True)
    sizes = a.shape[-2:]
    if sizes.is_fully_defined():
        size = max(sizes.as_list())
    else:
        size = math_ops.cast(math_ops.reduce_max(array_ops.shape(a)[-2:]), a.dtype)
    return eps * size * largest


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The number, int32 (...), of singular values of matrices (..., m, n) above `tol`."""
    with name_scope(name or "matrix_rank"):
        a = convert_to_tensor(a, dtype_hint=dtypes.float32, name="a")
        values = svd(a, compute_uv=False)
        tol = _tolerance(a, values) if tol is None else tol
        above = math_ops.cast(values > tol, dtypes.int32)
        return math_ops.reduce_sum(above, axis=-1)


def _larger_side(a):
    """max(m, n) of matrices (..., m, n): a number, or a tensor where the shape is not known."""
    sides = [None] if a.shape.ndims is None else a.shape.as_list()[-2:]
    if None not in sides:
        return float(max(sides))
    return math_ops.cast(math_ops.reduce_max(array_ops.shape(a)[-2:]), a.dtype)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The pseudo-inverse (..., n, m) of matrices (..., m, n).

    rcond: singular values below it times the largest count as 0; 10 max(m, n) eps by default.
    """
    with name_scope(name or "pinv"):
        a = convert_to_tensor(a, name="a")
        if not a.dtype.is_floating:
            raise TypeError(
                "Input `a` must have `float`-like `dtype` (saw {}).".format(a.dtype.name)
            )
        if rcond is None:
            rcond = 10.0 * _larger_side(a) * np.finfo(a.dtype.as_numpy_dtype).eps
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        s, u, v = svd(a, full_matrices=False, compute_uv=True)
        limit = rcond * math_ops.reduce_max(s, axis=-1)
        limit = array_ops.expand_dims(limit, -1)
        infinite = array_ops.fill(array_ops.shape(s), array_ops.constant(np.inf, a.dtype))
        s = array_ops.where(s > limit, s, infinite)
        scaled = v / array_ops.expand_dims(s, -2)
        return math_ops.matmul(scaled, u, adjoint_b=True)


# ---- Sums of products by a formula


_LETTERS = "".join(map(chr, [*range(65, 91), *range(97, 123)]))


@functools.lru_cache(maxsize=512)
def _formula(equation, ranks):
    """The terms and the result of an equation with letters instead of "...", for such ranks."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    unused = [c for c in _LETTERS if c not in equation]
    longest = 0
    batches = []
    for term, rank in zip(terms, ranks):
        if "..." in term:
            if rank is None:
                raise ValueError("einsum: the number of dimensions has to be known for '...'")
            count = rank - len(term.replace("...", ""))
            if count < 0:
                raise ValueError(f"einsum: {term!r} has more axes than the tensor has dimensions")
            batches.append(count)
            longest = max(longest, count)
        else:
            batches.append(0)
    if longest > len(unused):
        raise ValueError("einsum: too many axes")
    letters = "".join(unused[:longest])
    if len(terms) == len(ranks):
        dots = (letters[longest - n :] if n else "" for n in batches)
        terms = [term.replace("...", some) for term, some in zip(terms, dots)]
    if arrow:
        right = right.replace("...", letters)
    else:
        everything = "".join(terms)
        right = letters + "".join(
            sorted(c for c in set(everything) - set(letters) if everything.count(c) == 1)
        )
    return tuple(terms), right


def einsum(equation, *inputs, **kwargs):
    """Sums of products by an equation such as "ij,jk->ik".

    Each letter names a dimension; letters that are missing at the right are summed over. Without
    "->" the letters that occur once, in alphabetical order, are the result. "..." stands for
    dimensions that broadcast. ValueError if the equation does not fit the shapes.

    >>> print(tf.einsum("ij,j->i", [[1, 2], [3, 4]], [10, 1]).numpy())
    [12 34]
    """
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    equation = equation.replace(" ", "")
    with name_scope(name, "einsum", [equation, inputs]) as name:
        inputs = [convert_to_tensor(x) for x in inputs]
        terms, right = _formula(equation, tuple(x.shape.ndims for x in inputs))
        if len(terms) != len(inputs):
            raise ValueError(
                f'Expected {len(terms)} arguments for equation "{equation}", got {len(inputs)}'
            )
        for term, x in zip(terms, inputs):
            if x.shape.ndims is not None and x.shape.ndims != len(term):
                raise ValueError(
                    f"Input shape {x.shape} of einsum does not fit its subscripts {term!r}"
                )
        if any(len(set(t)) != len(t) for t in [*terms, right]):
            return op1("Einsum", name, inputs, equation=",".join(terms) + "->" + right)
        missing = set(right) - set("".join(terms))
        if missing:
            raise ValueError(f"Unknown output axes: {sorted(missing)}")
        result, axes = inputs[0], terms[0]
        for i, (x, term) in enumerate(zip(inputs[1:], terms[1:]), 2):
            # What a later term has is not summed over yet.
            result, axes = _contract(result, axes, x, term, right + "".join(terms[i:]))
        gone = [i for i, a in enumerate(axes) if a not in right]
        if gone:
            result = math_ops.reduce_sum(result, axis=gone)
            axes = "".join(a for a in axes if a in right)
        return _transposed(result, [axes.index(a) for a in right])


def _transposed(x, perm):
    return x if perm == list(range(len(perm))) else array_ops.transpose(x, perm=perm)


def _sizes(x):
    """The sizes of the dimensions: numbers where they are known, else scalars."""
    known = x.shape.as_list()
    if None not in known:
        return known
    shape = array_ops.shape(x)
    return [shape[i] if d is None else d for i, d in enumerate(known)]


def _product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def _reshaped(x, sizes):
    known = x.shape.as_list()
    same = len(known) == len(sizes) and all(
        isinstance(s, int) and s == d for s, d in zip(sizes, known)
    )
    return x if same else array_ops.reshape(x, sizes)


@functools.lru_cache(maxsize=512)
def _contraction(a_axes, b_axes, kept):
    """How _contract() goes about it: orders of the axes, how many of each kind, what results."""
    both = set(a_axes) & set(b_axes)
    batch, summed = sorted(both & set(kept)), sorted(both - set(kept))
    a_free, b_free = sorted(set(a_axes) - both), sorted(set(b_axes) - both)
    a_perm = [a_axes.index(x) for x in batch + a_free + summed]
    b_perm = [b_axes.index(x) for x in batch + summed + b_free]
    counts = len(batch), len(a_free), len(b_free), len(summed)
    return a_perm, b_perm, counts, "".join(batch + a_free + b_free)


def _contract(a, a_axes, b, b_axes, kept):
    """One step: the product of a and b, summed over the axes both have that are not kept."""
    a_perm, b_perm, (n, a_free, b_free, k), axes = _contraction(a_axes, b_axes, kept)
    a, b = _transposed(a, a_perm), _transposed(b, b_perm)
    if not k:
        for _ in range(b_free):
            a = array_ops.expand_dims(a, -1)
        for _ in range(a_free):
            b = array_ops.expand_dims(b, n)
        return math_ops.multiply(a, b), axes
    if a_free == b_free == k == 1:
        return math_ops.matmul(a, b), axes
    a_sizes, b_sizes = _sizes(a), _sizes(b)
    count = _product(a_sizes[n + a_free :])
    a = _reshaped(a, [*a_sizes[:n], _product(a_sizes[n : n + a_free]), count])
    b = _reshaped(b, [*b_sizes[:n], count, _product(b_sizes[n + k :])])
    product = math_ops.matmul(a, b)
    return _reshaped(product, a_sizes[: n + a_free] + b_sizes[n + k :]), axes
