"""Linear operators that need no matrix: zeros, reflections, updates of low rank."""

from rheos.framework import dtypes, errors
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.rearrange_ops import broadcast_dynamic_shape
from rheos.ops.flow import control_flow_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.linalg.linalg_ops import adjoint as adjoint_of
from rheos.ops.linalg.linear_operator import LinearOperator, broadcast_batches
from rheos.ops.linalg.linear_operators import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    _Identities,
    broadcast_shapes,
    decided_hint,
    given_size,
    given_tensor,
)
from rheos.ops.math import math_ops
from rheos.ops.math.special_math_ops import real as real_part


class LinearOperatorZeros(_Identities):
    """Zeros of `num_rows` rows and `num_columns` (as many) columns, a batch of `batch_shape`."""

    def __init__(
        self,
        num_rows,
        num_columns=None,
        batch_shape=None,
        dtype=None,
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorZeros",
    ):
        decided_hint(is_non_singular, False, "A zero operator is always singular.")
        decided_hint(
            is_positive_definite, False, "A zero operator is always not positive-definite."
        )
        self._set_rows(num_rows, assert_proper_shapes)
        if num_columns is None:
            self._num_columns, self._num_columns_known = self._num_rows, self._num_rows_known
        else:
            self._num_columns, self._num_columns_known = given_size(num_columns, "num_columns")
        sizes = (self._num_rows_known, self._num_columns_known)
        for hint, value in (("is_square", is_square), ("is_self_adjoint", is_self_adjoint)):
            if value and None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(
                    f"LinearOperatorZeros initialized as {hint}={value}, but got "
                    f"num_rows({num_rows}) != num_columns({num_columns})"
                )
        self._set_batch(batch_shape)
        super().__init__(
            dtype or dtypes.float32, None, False, is_self_adjoint, False, is_square, name
        )

    def _shape(self):
        known = [self._num_rows_known, self._num_columns_known]
        ends = [None if size is None else int(size) for size in known]
        return self._batch_known.concatenate(TensorShape(ends))

    def _shape_tensor(self):
        ends = array_ops.stack([self._num_rows, self._num_columns])
        return ends if self._batch is None else array_ops.concat([self._batch, ends], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        batch = broadcast_dynamic_shape(self.batch_shape_tensor(), array_ops.shape(x)[:-2])
        rows = self.domain_dimension_tensor() if adjoint else self.range_dimension_tensor()
        ends = array_ops.stack([rows, array_ops.shape(x)[-1]])
        product = array_ops.zeros(array_ops.concat([batch, ends], 0), dtype=self.dtype)
        known = self.domain_dimension if adjoint else self.range_dimension
        product.set_shape(
            broadcast_shapes(self.batch_shape, x.shape[:-2]).concatenate(
                TensorShape([known]).concatenate(x.shape[-1:])
            )
        )
        return product

    def _determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    _trace = _determinant

    def _diag_part(self):
        length = math_ops.minimum(self._num_rows, self._num_columns)
        shape = array_ops.concat([self.batch_shape_tensor(), [length]], 0)
        return array_ops.zeros(shape, dtype=self.dtype)

    def _to_dense(self):
        return array_ops.zeros(self.shape_tensor(), dtype=self.dtype)

    def _assert_non_singular(self):
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(
            None, None, "Zero operators are always non-positive definite."
        )

    def _assert_self_adjoint(self):
        return control_flow_ops.no_op("assert_self_adjoint")


class LinearOperatorHouseholder(LinearOperator):
    """The reflections along `reflection_axis` (..., N): I - 2 v v^H for v the axis of length 1."""

    def __init__(
        self,
        reflection_axis,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorHouseholder",
    ):
        self._axis = given_tensor(reflection_axis, "reflection_axis", 1, name)
        decided_hint(is_self_adjoint, True, "A Householder operator is always self adjoint.")
        decided_hint(
            is_positive_definite, False, "A Householder operator is always non-positive definite."
        )
        decided_hint(is_square, True, "A Householder operator is always square.")
        super().__init__(self._axis.dtype, [self._axis], is_non_singular, True, False, True, name)

    @property
    def reflection_axis(self):
        """The vector that is turned round, [..., n]."""
        return self._axis

    def _shape(self):
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._axis)
        return array_ops.concat([shape, shape[-1:]], 0)

    def _unit(self):
        square = real_part(self._axis * math_ops.conj(self._axis))
        length = math_ops.sqrt(math_ops.reduce_sum(square, axis=-1, keepdims=True))
        return self._axis / math_ops.cast(length, self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        v = array_ops.expand_dims(self._unit(), -1)
        return x - 2 * v * math_ops.matmul(v, x, adjoint_a=True)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return -array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _trace(self):
        rows = math_ops.cast(self.domain_dimension_tensor(), self.dtype)
        return (rows - 2) * array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _diag_part(self):
        v = self._unit()
        return 1 - 2 * v * math_ops.conj(v)

    def _inverse(self):
        return self

    def _assert_non_singular(self):
        return control_flow_ops.no_op("assert_non_singular")

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(
            None, None, "Householder operators are always non-positive definite."
        )


class LinearOperatorLowRankUpdate(LinearOperator):
    """base_operator + U D V^H: U (..., M, K), V (..., N, K), as U by default, D a diagonal
    (..., K), the identity by default. It is solved through a matrix (K, K) and the base operator.
    """

    def __init__(
        self,
        base_operator,
        u,
        diag_update=None,
        v=None,
        is_diag_update_positive=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowRankUpdate",
    ):
        if diag_update is None:
            is_diag_update_positive = decided_hint(
                is_diag_update_positive,
                True,
                "Default diagonal is the identity, which is positive.  However, user set "
                "'is_diag_update_positive' to False.",
            )
        dtype = base_operator.dtype
        self._base = base_operator
        self._u = given_tensor(u, "u", 2, name)
        self._v = self._u if v is None else given_tensor(v, "v", 2, name)
        self._diag = (
            None if diag_update is None else given_tensor(diag_update, "diag_update", 1, name)
        )
        self._diag_positive = is_diag_update_positive
        self._is_symmetric = (
            v is None
            and bool(base_operator.is_self_adjoint)
            and (not dtype.is_complex or bool(is_diag_update_positive))
        )
        if self._is_symmetric:
            is_self_adjoint = True if is_self_adjoint is None else is_self_adjoint
            if base_operator.is_positive_definite and is_diag_update_positive:
                if is_positive_definite is None:
                    is_positive_definite = True
        self._check_sizes()
        parents = base_operator.graph_parents + [self._u]
        parents += [] if v is None else [self._v]
        parents += [] if self._diag is None else [self._diag]
        super().__init__(
            dtype, parents, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    def _check_sizes(self):
        u, v, base = self._u.shape, self._v.shape, self._base.shape
        rank = TensorShape([None])
        for rows, matrix in ((base[-2:-1], u), (base[-1:], v)):
            if matrix.ndims is not None:
                if rows.ndims is not None:
                    rows.assert_is_compatible_with(matrix[-2:-1])
                rank.assert_is_compatible_with(matrix[-1:])
                rank = TensorShape([matrix[-1] if rank.size_at(0) is None else rank.size_at(0)])
        if self._diag is not None and self._diag.shape.ndims is not None:
            rank.assert_is_compatible_with(self._diag.shape[-1:])

    @property
    def u(self):
        """U of L + U D V^H, [..., m, k]."""
        return self._u

    @property
    def v(self):
        """V of L + U D V^H, [..., n, k]; U if it was not given."""
        return self._v

    @property
    def is_diag_update_positive(self):
        """Whether all of D is above 0, as was said."""
        return self._diag_positive

    @property
    def diag_update(self):
        """The diagonal of D, [..., k], or None if it is the identity."""
        return self._diag

    @property
    def diag_operator(self):
        """D, as an operator."""
        if self._diag is not None:
            return LinearOperatorDiag(self._diag, is_positive_definite=self._diag_positive)
        rank = self._u.shape[-1:].as_list() if self._u.shape.ndims is not None else [None]
        rank = array_ops.shape(self._u)[-1] if rank[0] is None else rank[0]
        return LinearOperatorIdentity(rank, dtype=self.dtype)

    @property
    def base_operator(self):
        """L of L + U D V^H."""
        return self._base

    def _shape(self):
        batch = self._base.batch_shape
        for part, ends in ((self._u, 2), (self._v, 2), (self._diag, 1)):
            if part is not None:
                batch = broadcast_shapes(batch, part.shape[:-ends])
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self):
        batch = self._base.batch_shape_tensor()
        for part, ends in ((self._u, 2), (self._v, 2), (self._diag, 1)):
            if part is not None:
                batch = broadcast_dynamic_shape(batch, array_ops.shape(part)[:-ends])
        return array_ops.concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = adjoint_of(x) if adjoint_arg else x
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = math_ops.matmul(right, x, adjoint_a=True)
        inner = self.diag_operator.matmul(inner, adjoint=adjoint)
        return self._base.matmul(x, adjoint=adjoint) + math_ops.matmul(left, inner)

    def _capacitance(self):
        """D^-1 + V^H A^-1 U."""
        solved = math_ops.matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(solved)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        solved = self._base.solve(rhs, adjoint=adjoint)
        inner = math_ops.matmul(right, solved, adjoint_a=True)
        inner = linalg_ops.matrix_solve(
            *broadcast_batches([self._capacitance(), inner]), adjoint=adjoint
        )
        return solved - self._base.solve(math_ops.matmul(left, inner), adjoint=adjoint)

    def _determinant(self):
        inner = linalg_ops.matrix_determinant(self._capacitance())
        return inner * self.diag_operator.determinant() * self._base.determinant()

    def _log_abs_determinant(self):
        inner = linalg_ops.slogdet(self._capacitance())[1]
        parts = [self.diag_operator.log_abs_determinant(), self._base.log_abs_determinant()]
        return math_ops.cast(inner, self.dtype) + parts[0] + parts[1]
