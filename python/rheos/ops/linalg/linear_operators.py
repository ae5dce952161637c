"""Linear operators of tensors: see linear_operator.py for what all have in common."""

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.rearrange_ops import (
    broadcast_dynamic_shape,
    matrix_diag_part,
    matrix_set_diag,
)
from rheos.ops.flow import control_flow_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.linalg.linalg_ops import adjoint as adjoint_of
from rheos.ops.linalg.linear_operator import LinearOperator, broadcast_batches, result_of_methods
from rheos.ops.math import check_ops, math_ops
from rheos.ops.math.special_math_ops import real as real_part


def decided_hint(said, fact, message):
    """A hint that the kind of operator decides: ValueError if the program says otherwise."""
    if said is not None and bool(said) != fact:
        raise ValueError(message)
    return fact


_FLOATS = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def given_tensor(value, argument, least, scope):
    """What an operator is made of, as a tensor of at least `least` dimensions."""
    with name_scope(scope, values=[value]):
        tensor = convert_to_tensor(value, name=argument)
    if tensor.dtype.base_dtype not in _FLOATS:
        raise TypeError(
            f"Argument {argument} must have dtype in {list(_FLOATS)}.  Found: {tensor.dtype}"
        )
    if tensor.shape.ndims is not None and tensor.shape.ndims < least:
        plural = "s" if least > 1 else ""
        raise ValueError(
            f"Argument {argument} must have at least {least} dimension{plural}.  Found: {tensor}"
        )
    return tensor


def broadcast_shapes(x, y):
    """Static batch shape of two broadcast against each other, unknown if it cannot be told."""
    if x.ndims is None or y.ndims is None:
        return TensorShape(None)
    return array_ops.broadcast_static_shape(x, y)


# ---- Of a matrix


class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a dense matrix (..., M, N)."""

    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
    ):
        self._matrix = given_tensor(matrix, "matrix", 2, name)
        super().__init__(
            self._matrix.dtype,
            [self._matrix],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
        )

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return array_ops.shape(self._matrix)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math_ops.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        return self._matrix


@result_of_methods
class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a matrix (..., N, N); what is above it counts as 0."""

    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ):
        square = decided_hint(
            is_square, True, "Only square lower triangular operators supported at this time."
        )
        # What is above the diagonal is still there.
        self._tril = given_tensor(tril, "tril", 2, name)
        super().__init__(
            self._tril.dtype,
            [self._tril],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            square,
            name,
        )

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return array_ops.shape(self._tril)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math_ops.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        tril = self._to_dense()
        with name_scope("MatrixTriangularSolve"):
            tril, rhs = broadcast_batches([tril, rhs])
            return linalg_ops.matrix_triangular_solve(tril, rhs, adjoint=adjoint)

    def _determinant(self):
        return math_ops.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self):
        logs = math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag_part())), axis=[-1])
        return math_ops.cast(logs, self.dtype)

    def _diag_part(self):
        return matrix_diag_part(self._tril)

    def _to_dense(self):
        return array_ops.matrix_band_part(self._tril, -1, 0)

    def _assert_non_singular(self):
        return _assert_no_zeros(
            self._diag_part(), "Singular operator:  Diagonal contained zero values."
        )


def _assert_no_zeros(x, message):
    size = math_ops.abs(x)
    return check_ops.assert_less(convert_to_tensor(0, size.dtype), size, message=message)


# ---- Diagonals


class LinearOperatorDiag(LinearOperator):
    """The operator of the square matrices with the diagonals `diag` (..., N)."""

    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
    ):
        self._diag = given_tensor(diag, "diag", 1, name)
        dtype = self._diag.dtype.base_dtype
        if not dtype.is_complex:
            is_self_adjoint = decided_hint(
                is_self_adjoint, True, "A real diagonal operator is always self adjoint."
            )
        square = decided_hint(
            is_square, True, "Only square diagonal operators currently supported."
        )
        super().__init__(
            dtype,
            [self._diag],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            square,
            name,
        )

    @property
    def diag(self):
        """The diagonal, [..., n]."""
        return self._diag

    def _shape(self):
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._diag)
        return array_ops.concat([shape, shape[-1:]], 0)

    def _factors(self, adjoint):
        return array_ops.expand_dims(math_ops.conj(self._diag) if adjoint else self._diag, -1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._factors(adjoint) * (adjoint_of(x) if adjoint_arg else x)

    def _matvec(self, x, adjoint=False):
        return (math_ops.conj(self._diag) if adjoint else self._diag) * x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return rhs * (1 / self._factors(adjoint))

    def _determinant(self):
        return math_ops.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self):
        logs = math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag)), axis=[-1])
        return math_ops.cast(logs, self.dtype)

    def _to_dense(self):
        return array_ops.matrix_diag(self._diag)

    def _diag_part(self):
        return self._diag

    def _add_to_tensor(self, x):
        shape = broadcast_shapes(x.shape[:-1], self._diag.shape)
        sum_ = self._diag + matrix_diag_part(x)
        sum_.set_shape(shape)
        target = array_ops.broadcast_to(
            x, array_ops.concat([array_ops.shape(sum_), array_ops.shape(x)[-1:]], 0)
        )
        return matrix_set_diag(target, sum_)

    def _inverse(self):
        return LinearOperatorDiag(
            1 / self._diag, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite
        )

    def _adjoint(self):
        return LinearOperatorDiag(
            math_ops.conj(self._diag),
            self.is_non_singular,
            self.is_self_adjoint,
            self.is_positive_definite,
        )

    def _cholesky(self):
        return LinearOperatorDiag(
            math_ops.sqrt(self._diag),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
        )

    def _assert_non_singular(self):
        return _assert_no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        real = real_part(self._diag)
        return check_ops.assert_positive(
            real,
            message="Operator is not positive definite: Some diagonal entries had non-positive "
            "real part.",
        )

    def _assert_self_adjoint(self):
        return check_ops.assert_equal(
            self._diag,
            math_ops.conj(self._diag),
            message="This diagonal operator contained non-zero imaginary values.  Thus it was not "
            "self-adjoint.",
        )


def _checked_sizes(sizes, rank, name):
    """The argument, whose rank and signs are checked in each step."""
    checks = [
        check_ops.assert_rank(sizes, rank, message=f"Argument {name} must be a {rank}-D Tensor."),
        check_ops.assert_non_negative(sizes, message=f"Argument {name} must be non-negative."),
    ]
    return control_flow_ops.with_dependencies(checks, sizes)


def given_size(value, name):
    """`value` as a scalar int32 tensor, and what it is if that is known."""
    size = convert_to_tensor(value, dtypes.int32, name=name)
    known = constant_value(size)
    if size.shape.ndims not in (None, 0):
        raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {value}")
    if known is not None and known < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {value}")
    return size, known


class _Identities(LinearOperator):
    """A number times the identity of `num_rows` rows."""

    def _set_rows(self, num_rows, assert_proper_shapes):
        self._asserts = assert_proper_shapes
        self._num_rows, self._num_rows_known = given_size(num_rows, "num_rows")
        if assert_proper_shapes:
            self._num_rows = _checked_sizes(self._num_rows, 0, "num_rows")

    def _set_batch(self, batch_shape):
        if batch_shape is None:
            self._batch, self._batch_known = None, TensorShape([])
            return
        self._batch = convert_to_tensor(batch_shape, dtypes.int32, name="batch_shape_arg")
        if self._batch.shape.ndims not in (None, 1):
            raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {self._batch}")
        known = constant_value(self._batch)
        length = self._batch.shape.size_at(0) if self._batch.shape.ndims == 1 else None
        unknown = None if length is None else [None] * length
        self._batch_known = TensorShape(unknown if known is None else known.tolist())
        if known is not None and (known < 0).any():
            raise ValueError(f"Argument batch_shape must be non-negative.  Found:{known}")
        if self._asserts:
            self._batch = _checked_sizes(self._batch, 1, "batch_shape")

    def _fitting(self, x, from_end):
        """x, checked in each step to have as many rows, if the program asked for that."""
        if not self._asserts:
            return x
        fits = check_ops.assert_equal(
            array_ops.shape(x)[-from_end], self._num_rows, message="Dimensions are not compatible"
        )
        return control_flow_ops.with_dependencies([fits], x)

    def _rows_shape(self):
        rows = None if self._num_rows_known is None else int(self._num_rows_known)
        return TensorShape([rows, rows])

    def _ones(self):
        return array_ops.ones(self.shape_tensor()[:-1], dtype=self.dtype)


@result_of_methods
class LinearOperatorIdentity(_Identities):
    """The identity of `num_rows` rows, a batch of `batch_shape` of them."""

    def __init__(
        self,
        num_rows,
        batch_shape=None,
        dtype=None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorIdentity",
    ):
        decided_hint(is_self_adjoint, True, "An identity operator is always self adjoint.")
        decided_hint(is_non_singular, True, "An identity operator is always non-singular.")
        decided_hint(
            is_positive_definite, True, "An identity operator is always positive-definite."
        )
        decided_hint(is_square, True, "An identity operator is always square.")
        self._set_rows(num_rows, assert_proper_shapes)
        self._set_batch(batch_shape)
        super().__init__(dtype or dtypes.float32, None, True, True, True, True, name)

    def _shape(self):
        return self._batch_known.concatenate(self._rows_shape())

    def _shape_tensor(self):
        rows = array_ops.stack([self._num_rows, self._num_rows])
        return rows if self._batch is None else array_ops.concat([self._batch, rows], 0)

    def _broadcast(self, x, from_end):
        if self._batch is None:
            return x
        tail = array_ops.shape(x)[-from_end:]
        batch = broadcast_dynamic_shape(self._batch, array_ops.shape(x)[:-from_end])
        shape = broadcast_shapes(self._batch_known, x.shape[:-from_end])
        x_tail = x.shape[-from_end:]
        x = array_ops.broadcast_to(x, array_ops.concat([batch, tail], 0))
        x.set_shape(shape.concatenate(x_tail))
        return x

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._broadcast(self._fitting(adjoint_of(x) if adjoint_arg else x, 2), 2)

    def _matvec(self, x, adjoint=False):
        return self._broadcast(self._fitting(x, 1), 1)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _diag_part(self):
        return self._ones()

    def _trace(self):
        rows = math_ops.cast(self._num_rows, self.dtype)
        return rows * array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _to_dense(self):
        return array_ops.matrix_diag(self._ones())

    def _add_to_tensor(self, x):
        return matrix_set_diag(x, matrix_diag_part(x) + 1)

    def _inverse(self):
        return self

    def _cholesky(self):
        return self


class LinearOperatorScaledIdentity(_Identities):
    """A number, or a batch of them (...), times the identity of `num_rows` rows."""

    def __init__(
        self,
        num_rows,
        multiplier,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorScaledIdentity",
    ):
        self._multiplier = convert_to_tensor(multiplier, name="multiplier")
        dtype = self._multiplier.dtype.base_dtype
        if not dtype.is_complex:
            is_self_adjoint = decided_hint(
                is_self_adjoint, True, "A real diagonal operator is always self adjoint."
            )
        decided_hint(is_square, True, "A ScaledIdentity operator is always square.")
        self._set_rows(num_rows, assert_proper_shapes)
        super().__init__(
            dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name
        )

    @property
    def multiplier(self):
        """What the identity is multiplied by, [...]."""
        return self._multiplier

    def _shape(self):
        return self._multiplier.shape.concatenate(self._rows_shape())

    def _shape_tensor(self):
        rows = array_ops.stack([self._num_rows, self._num_rows])
        return array_ops.concat([array_ops.shape(self._multiplier), rows], 0)

    def _factors(self, adjoint, dimensions):
        factors = math_ops.conj(self._multiplier) if adjoint else self._multiplier
        for _ in range(dimensions):
            factors = array_ops.expand_dims(factors, -1)
        return factors

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._fitting(adjoint_of(x) if adjoint_arg else x, 2) * self._factors(adjoint, 2)

    def _matvec(self, x, adjoint=False):
        return self._fitting(x, 1) * self._factors(adjoint, 1)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = self._fitting(adjoint_of(rhs) if adjoint_arg else rhs, 2)
        return rhs / self._factors(adjoint, 2)

    def _determinant(self):
        return self._multiplier ** math_ops.cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self):
        size = math_ops.abs(self._multiplier)
        return math_ops.cast(self._num_rows, size.dtype) * math_ops.log(size)

    def _diag_part(self):
        return self._ones() * self._factors(False, 1)

    def _trace(self):
        return self._multiplier * math_ops.cast(self._num_rows, self.dtype)

    def _to_dense(self):
        return array_ops.matrix_diag(self._diag_part())

    def _add_to_tensor(self, x):
        return LinearOperatorDiag(self._diag_part()).add_to_tensor(x)

    def _scaled(self, multiplier, **hints):
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, **hints)

    def _inverse(self):
        return self._scaled(
            1 / self._multiplier,
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _adjoint(self):
        return self._scaled(
            math_ops.conj(self._multiplier),
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _cholesky(self):
        return self._scaled(
            math_ops.sqrt(self._multiplier),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
        )

    def _assert_non_singular(self):
        return _assert_no_zeros(self._multiplier, "LinearOperator was singular")

    def _assert_positive_definite(self):
        real = real_part(self._multiplier)
        return check_ops.assert_positive(real, message="LinearOperator was not positive definite.")
