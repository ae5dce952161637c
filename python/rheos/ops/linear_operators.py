"""Matrices by what is known of them: tf.linalg.LinearOperator and some kinds of it."""

from rheos.framework import dtypes
from rheos.framework.graph import convert_to_tensor, name_scope
from rheos.framework.tensor_shape import Dimension
from rheos.ops import array_ops, linalg_ops, math_ops, rearrange_ops

_ALLOWED = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


class LinearOperator:
    """A matrix, or a batch of them, [..., M, N], that need not be written out.

    The hints say what the program knows, for each matrix; they are not checked. ValueError if they
    contradict each other. A kind defines _shape, _shape_tensor and _matmul, and what it does
    better than by the dense matrix.
    """

    def __init__(
        self,
        dtype,
        graph_parents=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        for hint, kind in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if hint and is_square is False:
                raise ValueError(f"A {kind} matrix is always square.")
            is_square = True if hint else is_square
        self._is_square = is_square
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = list(graph_parents or ())
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    def _scope(self, name):
        return name_scope(f"{self._name}/{name}")

    def _argument(self, x, name, of_self, of_x):
        """x as a tensor of the operator's dtype, whose dimension `of_x` fits the operator's."""
        x = convert_to_tensor(x, name=name)
        if x.dtype.base_dtype != self._dtype:
            raise TypeError(
                f"Expected argument to have dtype {self._dtype}.  Found: {x.dtype} in tensor {x}"
            )
        if self.shape.ndims is not None and x.shape.ndims is not None:
            self.shape[of_self].assert_is_compatible_with(x.shape[of_x])
        return x

    @property
    def dtype(self):
        return self._dtype

    @property
    def name(self):
        return self._name

    @property
    def graph_parents(self):
        """The tensors it is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self):
        return self._is_non_singular

    @property
    def is_self_adjoint(self):
        return self._is_self_adjoint

    @property
    def is_positive_definite(self):
        return self._is_positive_definite

    @property
    def is_square(self):
        """Whether it is, None if neither hints nor the shape tell; ValueError if they disagree."""
        found = self.domain_dimension == self.range_dimension
        if self._is_square is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if self._is_square is None else self._is_square

    @property
    def shape(self):
        """[..., M, N] as far as it is known."""
        return self._shape()

    @property
    def batch_shape(self):
        return self.shape[:-2]

    @property
    def tensor_rank(self):
        return self.shape.ndims

    @property
    def domain_dimension(self):
        """N."""
        return Dimension(None) if self.shape.ndims is None else self.shape.dims[-1]

    @property
    def range_dimension(self):
        """M."""
        return Dimension(None) if self.shape.ndims is None else self.shape.dims[-2]

    def shape_tensor(self, name="shape_tensor"):
        """The shape of this step, an int32 vector."""
        with self._scope(name):
            if self.shape.is_fully_defined():
                return convert_to_tensor(self.shape.as_list(), dtype=dtypes.int32)
            return self._shape_tensor()

    def to_dense(self, name="to_dense"):
        """The matrix, [..., M, N]."""
        with self._scope(name):
            return self._to_dense()

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Its product with x, [..., N, R], or with adjoint(x); `adjoint`: that of its adjoint."""
        with self._scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint, adjoint_arg)

    def matvec(self, x, adjoint=False, name="matvec"):
        """Its product with vectors x, [..., N]."""
        with self._scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1)
            return self._matvec(x, adjoint)

    def _check_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def _check_solvable(self):
        if self._is_non_singular is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to be singular."
            )
        self._check_square("Exact solve")

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """x, [..., N, R], so that its product with x is rhs (or adjoint(rhs))."""
        self._check_solvable()
        with self._scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(linalg_ops.adjoint(rhs) if adjoint_arg else rhs, adjoint)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """x, [..., N], so that its product with x is the vector rhs."""
        with self._scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1)
            columns = self.solve(array_ops.expand_dims(rhs, -1), adjoint=adjoint)
            return array_ops.squeeze(columns, axis=-1)

    def determinant(self, name="det"):
        """The determinants, [...]."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithms of the determinants' absolute values, [...]."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def diag_part(self, name="diag_part"):
        """The diagonals, [..., min(M, N)]."""
        with self._scope(name):
            return self._diag_part()

    def trace(self, name="trace"):
        """The sums of the diagonals, [...]."""
        with self._scope(name):
            return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The matrix plus x."""
        with self._scope(name):
            return self._add_to_tensor(self._argument(x, "x", -1, -1))

    def _matvec(self, x, adjoint):
        columns = self.matmul(array_ops.expand_dims(x, -1), adjoint=adjoint)
        return array_ops.squeeze(columns, axis=-1)

    def _by_cholesky(self):
        return self._is_self_adjoint and self._is_positive_definite

    def _determinant(self):
        if self._by_cholesky():
            return math_ops.exp(self.log_abs_determinant())
        return linalg_ops.matrix_determinant(self.to_dense())

    def _log_abs_determinant(self):
        if self._by_cholesky():
            factor = linalg_ops.cholesky(self.to_dense())
            diagonal = rearrange_ops.matrix_diag_part(factor)
            return 2 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])
        return linalg_ops.slogdet(self.to_dense())[1]

    def _solve(self, rhs, adjoint):
        if self._by_cholesky():
            factor = linalg_ops.cholesky(self.to_dense())
            with name_scope("CholeskySolveWithBroadcast"):
                return linalg_ops.cholesky_solve(factor, rhs)
        dense = self.to_dense()
        with name_scope("MatrixSolveWithBroadcast"):
            return linalg_ops.matrix_solve(dense, rhs, adjoint=adjoint)

    def _diag_part(self):
        return rearrange_ops.matrix_diag_part(self.to_dense())

    def _add_to_tensor(self, x):
        return self.to_dense() + x


def _matrix(value, name, least=2):
    tensor = convert_to_tensor(value, name=name)
    if tensor.dtype.base_dtype not in _ALLOWED:
        raise TypeError(
            f"Argument {name} must have dtype in {list(_ALLOWED)}.  Found: {tensor.dtype}"
        )
    if tensor.shape.ndims is not None and tensor.shape.ndims < least:
        plural = "s" if least > 1 else ""
        raise ValueError(
            f"Argument {name} must have at least {least} dimension{plural}.  Found: {tensor}"
        )
    return tensor


class _OfTensor(LinearOperator):
    """An operator that is made of one tensor."""

    def _shape(self):
        return self._tensor.shape

    def _shape_tensor(self):
        return array_ops.shape(self._tensor)


class LinearOperatorFullMatrix(_OfTensor):
    """The matrix itself: `matrix`, [..., M, N]."""

    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
    ):
        with name_scope(name, values=[matrix]):
            self._tensor = _matrix(matrix, "matrix")
        super().__init__(
            self._tensor.dtype,
            [self._tensor],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
        )

    def _matmul(self, x, adjoint, adjoint_arg):
        return math_ops.matmul(self._tensor, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        return self._tensor


class LinearOperatorLowerTriangular(_OfTensor):
    """The lower triangle of `tril`, [..., N, N]; what is above the diagonal is ignored."""

    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._tensor = _matrix(tril, "tril")
        super().__init__(
            self._tensor.dtype,
            [self._tensor],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    def _to_dense(self):
        return array_ops.matrix_band_part(self._tensor, -1, 0)

    def _matmul(self, x, adjoint, adjoint_arg):
        return math_ops.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs, adjoint):
        tril = self._to_dense()
        with name_scope("MatrixTriangularSolve"):
            return linalg_ops.matrix_triangular_solve(tril, rhs, adjoint=adjoint)

    def _diagonal(self):
        return rearrange_ops.matrix_diag_part(self._tensor)

    def _determinant(self):
        return math_ops.reduce_prod(self._diagonal(), axis=[-1])

    def _log_abs_determinant(self):
        return math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diagonal())), axis=[-1])


class LinearOperatorDiag(_OfTensor):
    """The matrix with `diag`, [..., N], on its diagonal and zeros elsewhere."""

    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
    ):
        with name_scope(name, values=[diag]):
            self._tensor = _matrix(diag, "diag", least=1)
        if not self._tensor.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            self._tensor.dtype,
            [self._tensor],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def diag(self):
        return self._tensor

    def _shape(self):
        return self._tensor.shape.concatenate(self._tensor.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._tensor)
        return array_ops.concat((shape, [shape[-1]]), 0)

    def _factors(self, adjoint):
        return math_ops.conj(self._tensor) if adjoint else self._tensor

    def _to_dense(self):
        return array_ops.matrix_diag(self._tensor)

    def _diag_part(self):
        return self._tensor

    def _matmul(self, x, adjoint, adjoint_arg):
        factors = self._factors(adjoint)
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        return array_ops.expand_dims(factors, -1) * x

    def _matvec(self, x, adjoint):
        return self._factors(adjoint) * x

    def _solve(self, rhs, adjoint):
        return rhs * array_ops.expand_dims(1.0 / self._factors(adjoint), -1)

    def _determinant(self):
        return math_ops.reduce_prod(self._tensor, axis=[-1])

    def _log_abs_determinant(self):
        found = math_ops.reduce_sum(math_ops.log(math_ops.abs(self._tensor)), axis=[-1])
        return math_ops.cast(found, self._dtype) if self._dtype.is_complex else found

    def _add_to_tensor(self, x):
        diagonal = self._tensor + rearrange_ops.matrix_diag_part(x)
        return rearrange_ops.matrix_set_diag(x, diagonal)
