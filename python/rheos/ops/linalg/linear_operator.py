"""What linear operators have in common: matrices (..., M, N) that know how to multiply and solve.

A kind of operator gives its shape and how it multiplies; what it does not know better is done on
the dense matrix. Batch dimensions of operators and arguments are broadcast. What a program says of
an operator (`is_non_singular`, `is_self_adjoint`, `is_positive_definite`, `is_square`) is believed;
None means that nothing is known.
"""

import types

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.ragged import OperatorBase, handles
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.rearrange_ops import (
    broadcast_dynamic_shape,
    dimension_at_index,
    matrix_diag_part,
)
from rheos.ops.linalg import linalg_ops
from rheos.ops.math import check_ops, math_ops


def broadcast_batches(matrices):
    """The matrices with their batch dimensions broadcast against each other."""
    known = [m.shape[:-2] for m in matrices]
    if all(k == known[0] and k.is_fully_defined() for k in known):
        return matrices
    if all(k.is_fully_defined() for k in known):
        batch = known[0]
        for other in known[1:]:
            batch = array_ops.broadcast_static_shape(batch, other)
        batch = batch.as_list()
    else:
        batch = array_ops.shape(matrices[0])[:-2]
        for other in matrices[1:]:
            batch = broadcast_dynamic_shape(batch, array_ops.shape(other)[:-2])
    return [
        array_ops.broadcast_to(m, array_ops.concat([batch, array_ops.shape(m)[-2:]], 0))
        for m in matrices
    ]


def _consistent(non_singular, self_adjoint, positive_definite, square):
    """The hints with what follows from them; ValueError if they contradict each other."""
    if positive_definite and non_singular is False:
        raise ValueError("A positive definite matrix is always non-singular.")
    if positive_definite:
        non_singular = True
    if (non_singular or self_adjoint) and square is False:
        what = "non-singular" if non_singular else "self-adjoint"
        raise ValueError(f"A {what} matrix is always square.")
    if non_singular or self_adjoint:
        square = True
    return non_singular, self_adjoint, positive_definite, square


_results = types.SimpleNamespace()


def result_of_methods(kind):
    """A decorator of classes: methods of LinearOperator, which lies below, make such operators."""
    setattr(_results, kind.__name__, kind)
    return kind


class LinearOperator(OperatorBase):
    """A matrix, or a batch of them, that acts on others. Make one of the kinds below it.

    A kind of the program's own gives `_shape`, `_shape_tensor` and `_matmul`, and whatever else it
    can do better than by the dense matrix: `_solve`, `_determinant`, `_log_abs_determinant`,
    `_diag_part`, `_to_dense`, `_trace`, `_add_to_tensor`.
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
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        self._graph_parents = list(graph_parents or [])
        if any(parent is None for parent in self._graph_parents):
            raise ValueError("Graph parent item is None")
        hints = _consistent(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._hints = hints
        self._name = name or type(self).__name__

    # What it is

    @property
    def name(self):
        """The name, which its operations begin with."""
        return self._name

    @property
    def dtype(self):
        """The dtype of the matrix."""
        return self._dtype

    @property
    def graph_parents(self):
        """The tensors that it is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self):
        """Whether the matrix has an inverse: True, False, or None if nobody said."""
        return self._hints[0]

    @property
    def is_self_adjoint(self):
        """Whether the matrix is its own adjoint: True, False, or None if nobody said."""
        return self._hints[1]

    @property
    def is_positive_definite(self):
        """Whether x^H A x has a real part above 0 for all x but 0: True, False, or None if nobody
        said.
        """
        return self._hints[2]

    @property
    def is_square(self):
        """Whether it is square, by its shape or else by what was said."""
        rows, columns = self.range_dimension, self.domain_dimension
        found = rows == columns
        if self._hints[3] is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if self._hints[3] is None else self._hints[3]

    @property
    def shape(self):
        """What is known about the shape (..., M, N)."""
        return TensorShape(self._shape())

    @property
    def batch_shape(self):
        """The TensorShape without the last two axes."""
        return self.shape[:-2]

    @property
    def tensor_rank(self):
        """The number of axes, with those of the batch; None if it is unknown."""
        return self.shape.ndims

    @property
    def domain_dimension(self):
        """N, the length of the vectors that it takes."""
        return dimension_at_index(self.shape, -1)

    @property
    def range_dimension(self):
        """M, the length of the vectors that it gives."""
        return dimension_at_index(self.shape, -2)

    def _scope(self, name):
        """A name scope within the operator's own, or that."""
        return name_scope(self._name if name is None else f"{self._name}/{name}")

    def shape_tensor(self, name="shape_tensor"):
        """The shape, an int32 vector."""
        with self._scope(name):
            if self.shape.is_fully_defined():
                return convert_to_tensor(self.shape.as_list(), dtypes.int32, name=name)
            return self._shape_tensor()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape without the last two axes, an int32 vector."""
        return self.shape_tensor(name)[:-2]

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """The number of axes, with those of the batch, an int32 scalar."""
        return array_ops.size(self.shape_tensor(name))

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """The number of columns, an int32 scalar."""
        return self.shape_tensor(name)[-1]

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """The number of rows, an int32 scalar."""
        return self.shape_tensor(name)[-2]

    # What it does, unless its kind knows better

    def _to_dense(self):
        columns = self.domain_dimension.value
        columns = self.domain_dimension_tensor() if columns is None else columns
        batch = self.batch_shape
        batch = batch.as_list() if batch.is_fully_defined() else self.batch_shape_tensor()
        return self.matmul(rearrange_ops.eye(columns, batch_shape=batch, dtype=self.dtype))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        if self._uses_cholesky():
            factor = linalg_ops.cholesky(self.to_dense())
            with name_scope("CholeskySolveWithBroadcast"):
                return linalg_ops.cholesky_solve(*broadcast_batches([factor, rhs]))
        dense = self.to_dense()
        with name_scope("MatrixSolveWithBroadcast"):
            return linalg_ops.matrix_solve(*broadcast_batches([dense, rhs]), adjoint=adjoint)

    def _determinant(self):
        if self._uses_cholesky():
            return math_ops.exp(self.log_abs_determinant())
        return linalg_ops.matrix_determinant(self.to_dense())

    def _log_abs_determinant(self):
        if self._uses_cholesky():
            diagonal = matrix_diag_part(linalg_ops.cholesky(self.to_dense()))
            return 2 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])
        return linalg_ops.slogdet(self.to_dense())[1]

    def _diag_part(self):
        return matrix_diag_part(self.to_dense())

    def _trace(self):
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def _add_to_tensor(self, x):
        return self.to_dense() + x

    def _matvec(self, x, adjoint=False):
        return array_ops.squeeze(self.matmul(array_ops.expand_dims(x, -1), adjoint=adjoint), [-1])

    def _solvevec(self, rhs, adjoint=False):
        return array_ops.squeeze(self.solve(array_ops.expand_dims(rhs, -1), adjoint=adjoint), [-1])

    def _cholesky(self):
        return _results.LinearOperatorLowerTriangular(
            linalg_ops.cholesky(self.to_dense()), is_non_singular=True, is_square=True
        )

    def _adjoint(self):
        return _results.LinearOperatorAdjoint(self)

    def _inverse(self):
        return _results.LinearOperatorInversion(self)

    def _uses_cholesky(self):
        return self.is_self_adjoint and self.is_positive_definite

    def _assert_non_singular(self):
        values = linalg_ops.svd(self.to_dense(), compute_uv=False)
        largest = math_ops.reduce_max(values, axis=-1)
        smallest = math_ops.reduce_min(values, axis=-1)
        real = values.dtype
        scale = max(filter(None, (self.domain_dimension.value, self.range_dimension.value, 1)))
        limit = convert_to_tensor(scale * _epsilon(real), real)
        return check_ops.assert_less(
            largest * limit, smallest, message="Singular matrix up to precision epsilon."
        )

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return check_ops.assert_equal(
            dense, linalg_ops.adjoint(dense), message="Matrix was not equal to its adjoint."
        )

    def _assert_positive_definite(self):
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        # A matrix that is not positive definite has NaN in its factor, or 0 in its diagonal.
        return check_ops.assert_positive(
            matrix_diag_part(linalg_ops.cholesky(self.to_dense())),
            message="Matrix was not positive definite.",
        )

    # What programs call

    def _argument(self, x, name="x"):
        x = convert_to_tensor(x, name=name)
        if x.dtype.base_dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype}.  Found: {x.dtype} in tensor {x}"
            )
        return x

    def _check_rows(self, x, adjoint, adjoint_arg, own):
        own = own if not adjoint else -3 - own
        rows = dimension_at_index(x.shape, -1 if adjoint_arg else -2)
        dimension_at_index(self.shape, own).assert_is_compatible_with(rows)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The product with a matrix (..., N, R): (..., M, R); with an operator: an operator.

        adjoint: by the adjoint of this one. adjoint_arg: with the adjoint of x.
        """
        if isinstance(x, LinearOperator):
            return self._matmul_operator(x, adjoint, adjoint_arg)
        with self._scope(name):
            x = self._argument(x)
            self._check_rows(x, adjoint, adjoint_arg, -1)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matmul_operator(self, other, adjoint, adjoint_arg):
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        if left.domain_dimension.value is not None and right.range_dimension.value is not None:
            if left.domain_dimension.value != right.range_dimension.value:
                raise ValueError(
                    "Operators are incompatible. Expected `x` to have dimension "
                    f"{left.domain_dimension} but got {right.range_dimension}."
                )
        if isinstance(left, _results.LinearOperatorIdentity):
            return right
        if isinstance(right, _results.LinearOperatorIdentity):
            return left
        return _results.LinearOperatorComposition([left, right])

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """The product with vectors (..., N): (..., M)."""
        with self._scope(name):
            x = self._argument(x)
            own = -2 if adjoint else -1
            dimension_at_index(self.shape, own).assert_is_compatible_with(
                dimension_at_index(x.shape, -1)
            )
            return self._matvec(x, adjoint=adjoint)

    def _check_solvable(self, what):
        if self.is_non_singular is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to be singular."
            )
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """What gives `rhs` when this acts on it. NotImplementedError if singular or not square."""
        self._check_solvable("Exact solve")
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            return left.inverse().matmul(rhs, adjoint_arg=adjoint_arg)
        with self._scope(name):
            rhs = self._argument(rhs, "rhs")
            self._check_rows(rhs, adjoint, adjoint_arg, -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """The same for vectors (..., M)."""
        self._check_solvable("Exact solve")
        with self._scope(name):
            rhs = self._argument(rhs, "rhs")
            own = -1 if adjoint else -2
            dimension_at_index(self.shape, own).assert_is_compatible_with(
                dimension_at_index(rhs.shape, -1)
            )
            return self._solvevec(rhs, adjoint=adjoint)

    def _check_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def determinant(self, name="det"):
        """The determinants (...)."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithms of the sizes of the determinants (...)."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def to_dense(self, name="to_dense"):
        """The matrices (..., M, N)."""
        with self._scope(name):
            return self._to_dense()

    def diag_part(self, name="diag_part"):
        """The diagonals (..., min(M, N))."""
        with self._scope(name):
            return self._diag_part()

    def trace(self, name="trace"):
        """The sums of the diagonals (...)."""
        with self._scope(name):
            return self._trace()

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The dense matrices plus x."""
        with self._scope(name):
            return self._add_to_tensor(self._argument(x))

    def adjoint(self, name="adjoint"):
        """The operator whose matrix is the conjugate transpose."""
        if self.is_self_adjoint:
            return self
        with self._scope(name):
            return self._adjoint()

    H = property(adjoint, None)

    def inverse(self, name="inverse"):
        """The operator that undoes this one. ValueError if it is not square or singular."""
        if self.is_square is False:
            raise ValueError(
                "Cannot take the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._scope(name):
            return self._inverse()

    def cholesky(self, name="cholesky"):
        """The lower triangular factor. ValueError unless self-adjoint and positive definite."""
        if not self._uses_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint "
                "matrix."
            )
        with self._scope(name):
            return self._cholesky()

    def assert_non_singular(self, name="assert_non_singular"):
        """An operation that fails if it is singular."""
        with self._scope(name):
            return self._assert_non_singular()

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """An operation that fails if it is not self-adjoint."""
        with self._scope(name):
            return self._assert_self_adjoint()

    def assert_positive_definite(self, name="assert_positive_definite"):
        """An operation that fails if it is not positive definite."""
        with self._scope(name):
            return self._assert_positive_definite()


def _epsilon(dtype):
    return float(np.finfo(dtype.as_numpy_dtype).eps)


# ---- Functions of matrices that are given operators


@handles
def adjoint_of(_function, matrix, name=None):
    return matrix.adjoint(name)


@handles
def cholesky_of(_function, input, name=None):
    return input.cholesky(name)


@handles
def diag_part_of(_function, input, name="diag_part", k=0, padding_value=0):
    return input.diag_part(name)


@handles
def determinant_of(_function, input, name=None):
    return input.determinant(name)


@handles
def trace_of(_function, x, name=None):
    return x.trace(name)


@handles
def inverse_of(_function, input, adjoint=False, name=None):
    inverse = input.inverse(name)
    return inverse.adjoint() if adjoint else inverse


@handles
def logdet_of(function, matrix, name=None):
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    return function(matrix, name)


@handles
def product_of(
    _function,
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)
    turned = b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name)
    return linalg_ops.adjoint(turned)


@handles
def solution_of(_function, matrix, rhs, adjoint=False, name=None):
    if not isinstance(matrix, LinearOperator):
        raise ValueError(
            "Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported."
        )
    return matrix.solve(rhs, adjoint=adjoint, name=name)
