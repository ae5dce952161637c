"""Linear operators of three diagonals, of a permutation, and of blocks below a diagonal."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.linalg.linalg_ops import adjoint as adjoint_of
from rheos.ops.linalg.linear_operator import LinearOperator
from rheos.ops.linalg.linear_operators import given_tensor
from rheos.ops.math import math_ops


class LinearOperatorTridiag(LinearOperator):
    """The operator of matrices with three diagonals.

    diagonals: "compact", (..., 3, n): the upper, main and lower diagonal, the first filled at its
    end and the last at its beginning; "sequence": a list of these three, (..., n) each; "matrix":
    (..., n, n), of which the rest is not looked at.
    """

    def __init__(
        self,
        diagonals,
        diagonals_format="compact",
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorTridiag",
    ):
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence. Found: "
                f"{diagonals_format}"
            )
        if diagonals_format == "sequence":
            self._diagonals = [given_tensor(one, "diagonals", 1, name) for one in diagonals]
            self._compact = array_ops.stack(self._diagonals, axis=-2)
        else:
            self._diagonals = given_tensor(diagonals, "diagonals", 2, name)
            self._compact = self._diagonals
            if diagonals_format == "matrix":
                parts = linalg_ops.three_diagonals(self._diagonals, "matrix")
                self._compact = array_ops.stack(parts, axis=-2)
        self._format = diagonals_format
        if is_square is False:
            raise ValueError("Tridiagonal operators are always square.")
        super().__init__(
            self._compact.dtype,
            [self._compact],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def diagonals(self):
        """What it was made of."""
        return self._diagonals

    @property
    def diagonals_format(self):
        """Which format `diagonals` has."""
        return self._format

    def _shape(self):
        known = self._compact.shape
        return known[:-2].concatenate(known[-1:]).concatenate(known[-1:])

    def _shape_tensor(self):
        sizes = array_ops.shape(self._compact)
        return array_ops.concat([sizes[:-2], sizes[-1:], sizes[-1:]], 0)

    def _adjoint_diagonals(self):
        upper, main, lower = array_ops.unstack(math_ops.conj(self._compact), num=3, axis=-2)
        turned = [rearrange_ops.roll(lower, -1, -1), main, rearrange_ops.roll(upper, 1, -1)]
        return array_ops.stack(turned, axis=-2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        # Terms are added one by one: the batches of x and of the diagonals broadcast so.
        compact = self._adjoint_diagonals() if adjoint else self._compact
        x = adjoint_of(x) if adjoint_arg else x
        upper, main, lower = array_ops.unstack(compact, num=3, axis=-2)
        rank = [[0, 0]] * (x.shape.ndims - 2)
        above = array_ops.pad(x[..., 1:, :], [*rank, [0, 1], [0, 0]])
        below = array_ops.pad(x[..., :-1, :], [*rank, [1, 0], [0, 0]])
        return upper[..., None] * above + main[..., None] * x + lower[..., None] * below

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        compact = self._adjoint_diagonals() if adjoint else self._compact
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        batch = rearrange_ops.broadcast_dynamic_shape(
            array_ops.shape(compact)[:-2], array_ops.shape(rhs)[:-2]
        )
        compact, rhs = [
            array_ops.broadcast_to(one, array_ops.concat([batch, array_ops.shape(one)[-2:]], 0))
            for one in (compact, rhs)
        ]
        return linalg_ops.tridiagonal_solve(compact, rhs)

    def _diag_part(self):
        return self._compact[..., 1, :]

    def _to_dense(self):
        upper, main, lower = array_ops.unstack(self._compact, num=3, axis=-2)
        size = array_ops.shape(main)[-1]
        unit = rearrange_ops.eye(size, dtype=self.dtype)
        right = array_ops.pad(unit[:, :-1], [[0, 0], [1, 0]])
        left = array_ops.pad(unit[:, 1:], [[0, 0], [0, 1]])
        return upper[..., None] * right + main[..., None] * unit + lower[..., None] * left


class LinearOperatorPermutation(LinearOperator):
    """The operator that puts row `perm[i]` of what it acts on in place i.

    perm: integers (..., n).
    """

    def __init__(
        self,
        perm,
        dtype=dtypes.float32,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorPermutation",
    ):
        self._perm = convert_to_tensor(perm, name="perm")
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must have integer dtype, got {self._perm.dtype}")
        if self._perm.shape.ndims == 0:
            raise ValueError("Argument `perm` must have at least 1 dimension")
        if is_non_singular is False:
            raise ValueError(f"A Permutation operator is always non-singular: {name}")
        if is_square is False:
            raise ValueError(f"A Permutation operator is always square: {name}")
        super().__init__(
            dtype, [self._perm], is_non_singular, is_self_adjoint, is_positive_definite, True, name
        )

    @property
    def perm(self):
        """Which row comes to each place."""
        return self._perm

    def _shape(self):
        known = self._perm.shape
        return known.concatenate(known[-1:])

    def _shape_tensor(self):
        sizes = array_ops.shape(self._perm)
        return array_ops.concat([sizes, sizes[-1:]], 0)

    def _to_dense(self):
        places = math_ops.range(array_ops.shape(self._perm)[-1])
        places = math_ops.cast(places, self._perm.dtype)
        return math_ops.cast(math_ops.equal(self._perm[..., None], places), self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math_ops.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _log_abs_determinant(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype.real_dtype)

    def _determinant(self):
        # The sign: how many pairs stand in the wrong order.
        places = math_ops.range(array_ops.shape(self._perm)[-1])
        later = places[:, None] < places[None, :]
        wrong = math_ops.logical_and(later, self._perm[..., :, None] > self._perm[..., None, :])
        pairs = math_ops.reduce_sum(math_ops.cast(wrong, dtypes.int32), axis=[-2, -1])
        return math_ops.cast(1 - 2 * (pairs % 2), self.dtype)


class LinearOperatorBlockLowerTriangular(LinearOperator):
    """The operator of rows of operators: row i has i + 1 of them, the last square.

    It acts on one tensor, of which each block takes its rows.
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorBlockLowerTriangular",
    ):
        self._rows = [list(row) for row in operators]
        if not self._rows:
            raise ValueError("Argument `operators` must be a list of >=1 operators.")
        for i, row in enumerate(self._rows):
            if len(row) != i + 1:
                raise ValueError(
                    f"Row {i} of `operators` must have {i + 1} operators, not {len(row)}"
                )
            if row[-1].is_square is False:
                raise ValueError(f"The last operator of row {i} must be square")
        kinds = {one.dtype for row in self._rows for one in row}
        if len(kinds) > 1:
            raise TypeError(f"Expected all operators to have the same dtype, got {kinds}")
        if is_non_singular is None and all(row[-1].is_non_singular for row in self._rows):
            is_non_singular = True
        if is_square is False:
            raise ValueError("Block lower triangular operators are always square.")
        parents = [p for row in self._rows for one in row for p in one.graph_parents]
        super().__init__(
            kinds.pop(), parents, is_non_singular, is_self_adjoint, is_positive_definite, True, name
        )

    @property
    def operators(self):
        """The operators by rows."""
        return self._rows

    def _shape(self):
        sizes = [row[-1].range_dimension for row in self._rows]
        whole = None if None in [getattr(s, "value", s) for s in sizes] else sum(map(int, sizes))
        batch = self._rows[0][0].batch_shape
        for row in self._rows:
            for one in row:
                batch = array_ops.broadcast_static_shape(batch, one.batch_shape)
        return batch.concatenate(TensorShape([whole, whole]))

    def _batch(self):
        batch = self._rows[0][0].batch_shape_tensor()
        for row in self._rows:
            for one in row:
                batch = rearrange_ops.broadcast_dynamic_shape(batch, one.batch_shape_tensor())
        return batch

    def _shape_tensor(self):
        whole = sum(row[-1].range_dimension_tensor() for row in self._rows)
        return array_ops.concat([self._batch(), array_ops.stack([whole, whole])], 0)

    def _to_dense(self):
        batch = self._batch()
        rows = []
        for i, row in enumerate(self._rows):
            height = row[-1].range_dimension_tensor()
            parts = []
            for j, other in enumerate(self._rows):
                width = other[-1].domain_dimension_tensor()
                size = array_ops.concat([batch, array_ops.stack([height, width])], 0)
                if j <= i:
                    parts.append(array_ops.broadcast_to(row[j].to_dense(), size))
                else:
                    parts.append(array_ops.zeros(size, self.dtype))
            rows.append(array_ops.concat(parts, -1))
        dense = array_ops.concat(rows, -2)
        dense.set_shape(self.shape)
        return dense

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return math_ops.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _diag_part(self):
        batch = self._batch()
        parts = []
        for row in self._rows:
            part = row[-1].diag_part()
            size = array_ops.concat([batch, array_ops.shape(part)[-1:]], 0)
            parts.append(array_ops.broadcast_to(part, size))
        return array_ops.concat(parts, -1)

    def _determinant(self):
        result = self._rows[0][0].determinant()
        for row in self._rows[1:]:
            result *= row[-1].determinant()
        return result

    def _log_abs_determinant(self):
        result = self._rows[0][0].log_abs_determinant()
        for row in self._rows[1:]:
            result += row[-1].log_abs_determinant()
        return result
