"""Linear operators of other operators: adjoints, inverses, products, blocks."""

from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.rearrange_ops import broadcast_dynamic_shape
from rheos.ops.linalg.linalg_ops import adjoint as adjoint_of
from rheos.ops.linalg.linear_operator import LinearOperator, broadcast_batches, result_of_methods
from rheos.ops.linalg.linear_operators import broadcast_shapes, decided_hint
from rheos.ops.math import math_ops


def _dtype_of(operators):
    if not operators:
        raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
    for operator in operators:
        if operator.dtype != operators[0].dtype:
            found = ", ".join(f"{o.name} {o.dtype}" for o in operators)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {found}")
    return operators[0].dtype


def _parents(operators):
    return [parent for operator in operators for parent in operator.graph_parents]


def _all(operators, hint):
    """True if all operators are known to be so, else None."""
    return True if all(getattr(o, hint) for o in operators) else None


def _batch_of(operators):
    batch = operators[0].batch_shape
    for operator in operators[1:]:
        batch = broadcast_shapes(batch, operator.batch_shape)
    return batch


def _batch_tensor_of(operators):
    batch = operators[0].batch_shape_tensor()
    for operator in operators[1:]:
        batch = broadcast_dynamic_shape(batch, operator.batch_shape_tensor())
    return batch


class _OfOne(LinearOperator):
    """An operator that another one decides."""

    def __init__(
        self,
        operator,
        is_non_singular,
        is_self_adjoint,
        is_positive_definite,
        is_square,
        name,
        ending,
    ):
        self._operator = operator
        said = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": is_square,
        }
        for hint, value in said.items():
            known = getattr(operator, hint)
            if value is None or known is None:
                said[hint] = known if value is None else value
            elif value != known:
                raise ValueError(f"The operator says {hint}={known}, the hint {value}.")
        name = name or operator.name + ending
        super().__init__(operator.dtype, operator.graph_parents, name=name, **said)

    @property
    def operator(self):
        return self._operator


@result_of_methods
class LinearOperatorAdjoint(_OfOne):
    """The adjoint (conjugate transpose) of an operator."""

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        super().__init__(
            operator,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            "_adjoint",
        )

    def _shape(self):
        shape = self._operator.shape
        return shape if shape.ndims is None else [*shape[:-2], shape[-1], shape[-2]]

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return array_ops.concat([shape[:-2], shape[-1:], shape[-2:-1]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return math_ops.conj(self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _to_dense(self):
        return adjoint_of(self._operator.to_dense())

    def _adjoint(self):
        return self._operator


@result_of_methods
class LinearOperatorInversion(_OfOne):
    """The inverse of an operator."""

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        if operator.is_square is False or is_square is False:
            raise ValueError("operator must be square")
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("operator and its inverse must always be non-singular")
        super().__init__(
            operator,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            "_inv",
        )

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -self._operator.log_abs_determinant()

    def _inverse(self):
        return self._operator


@result_of_methods
class LinearOperatorComposition(LinearOperator):
    """Operators one after the other: the last one acts first."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        operators = list(operators)
        dtype = _dtype_of(operators)
        self._operators = operators
        if is_non_singular is None:
            is_non_singular = _all(operators, "is_non_singular")
        elif is_non_singular is False and _all(operators, "is_non_singular"):
            raise ValueError("The composition of non-singular operators is always non-singular.")
        if is_square is None:
            is_square = _all(operators, "is_square")
        super().__init__(
            dtype,
            _parents(operators),
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name or "_o_".join(operator.name for operator in operators),
        )

    @property
    def operators(self):
        """The operators whose product it is, from left to right."""
        return self._operators

    def _shape(self):
        operators = self._operators
        for left, right in zip(operators, operators[1:]):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        ends = TensorShape([operators[0].range_dimension, operators[-1].domain_dimension])
        return _batch_of(operators).concatenate(ends)

    def _shape_tensor(self):
        operators = self._operators
        ends = array_ops.stack(
            [operators[0].range_dimension_tensor(), operators[-1].domain_dimension_tensor()]
        )
        return array_ops.concat([_batch_tensor_of(operators), ends], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        for operator in self._operators if adjoint else reversed(self._operators):
            x = operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        for operator in reversed(self._operators) if adjoint else self._operators:
            rhs = operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return rhs

    def _determinant(self):
        if not _all(self._operators, "is_square"):
            return super()._determinant()
        result = self._operators[0].determinant()
        for operator in self._operators[1:]:
            result *= operator.determinant()
        return result

    def _log_abs_determinant(self):
        if not _all(self._operators, "is_square"):
            return super()._log_abs_determinant()
        return sum(
            (operator.log_abs_determinant() for operator in self._operators[1:]),
            self._operators[0].log_abs_determinant(),
        )


class LinearOperatorBlockDiag(LinearOperator):
    """Operators along the diagonal, zeros elsewhere."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        operators = list(operators)
        dtype = _dtype_of(operators)
        self._operators = operators
        said = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
        }
        for hint, value in said.items():
            if _all(operators, hint):
                said[hint] = decided_hint(
                    value, True, f"All blocks are known to be so, thus {hint} must be true."
                )
        super().__init__(
            dtype,
            _parents(operators),
            is_square=_all(operators, "is_square"),
            name=name or "_ds_".join(operator.name for operator in operators),
            **said,
        )

    @property
    def operators(self):
        """The operators on the diagonal, from the upper left."""
        return self._operators

    def _shape(self):
        rows = sum(
            (o.range_dimension for o in self._operators[1:]), self._operators[0].range_dimension
        )
        columns = sum(
            (o.domain_dimension for o in self._operators[1:]), self._operators[0].domain_dimension
        )
        return _batch_of(self._operators).concatenate(TensorShape([rows, columns]))

    def _shape_tensor(self):
        rows = math_ops.add_n([o.range_dimension_tensor() for o in self._operators])
        columns = math_ops.add_n([o.domain_dimension_tensor() for o in self._operators])
        ends = array_ops.stack([rows, columns])
        return array_ops.concat([_batch_tensor_of(self._operators), ends], 0)

    def _sizes(self, of_range):
        which = "range" if of_range else "domain"
        known = [getattr(o, which + "_dimension").value for o in self._operators]
        if None not in known:
            return known
        return array_ops.stack([getattr(o, which + "_dimension_tensor")() for o in self._operators])

    def _by_block(self, x, method, adjoint, adjoint_arg, of_range):
        count, axis = len(self._operators), -1 if adjoint_arg else -2
        parts = array_ops.split(x, self._sizes(of_range), axis=axis, num=count)
        done = [
            getattr(operator, method)(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, part in zip(self._operators, parts)
        ]
        return array_ops.concat(broadcast_batches(done), axis=-2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._by_block(x, "matmul", adjoint, adjoint_arg, of_range=adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._by_block(rhs, "solve", adjoint, adjoint_arg, of_range=not adjoint)

    def _determinant(self):
        result = self._operators[0].determinant()
        for operator in self._operators[1:]:
            result *= operator.determinant()
        return result

    def _log_abs_determinant(self):
        return sum(
            (operator.log_abs_determinant() for operator in self._operators[1:]),
            self._operators[0].log_abs_determinant(),
        )

    def _inverse(self):
        return LinearOperatorBlockDiag(
            [operator.inverse() for operator in self._operators], is_non_singular=True
        )

    def _adjoint(self):
        return LinearOperatorBlockDiag(
            [operator.adjoint() for operator in self._operators],
            is_non_singular=self.is_non_singular,
        )

    def _cholesky(self):
        return LinearOperatorBlockDiag(
            [operator.cholesky() for operator in self._operators], is_non_singular=True
        )


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators."""

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        operators = list(operators)
        dtype = _dtype_of(operators)
        self._operators = operators
        said = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": is_square,
        }
        for hint, value in said.items():
            if _all(operators, hint):
                said[hint] = decided_hint(
                    value, True, f"All factors are known to be so, thus {hint} must be true."
                )
        super().__init__(
            dtype,
            _parents(operators),
            name=name or "_x_".join(operator.name for operator in operators),
            **said,
        )

    @property
    def operators(self):
        """The operators whose Kronecker product it is, from left to right."""
        return self._operators

    def _shape(self):
        rows = columns = 1
        for operator in self._operators:
            rows *= operator.range_dimension
            columns *= operator.domain_dimension
        return _batch_of(self._operators).concatenate(TensorShape([rows, columns]))

    def _shape_tensor(self):
        rows = columns = 1
        for operator in self._operators:
            rows *= operator.range_dimension_tensor()
            columns *= operator.domain_dimension_tensor()
        return array_ops.concat(
            [_batch_tensor_of(self._operators), array_ops.stack([rows, columns])], 0
        )

    # The columns of x have one dimension for each factor, (..., R, n1, n2, ...). Each factor acts
    # on the last, and puts what it gives first among them: after all, their order is the old one.
    def _by_factor(self, x, method, adjoint, adjoint_arg):
        x = x if not adjoint_arg else adjoint_of(x)
        x = rearrange_ops.matrix_transpose(x)  # (..., R, n)
        batch, count = array_ops.shape(x)[:-2], array_ops.shape(x)[-2]
        for operator in reversed(self._operators):
            size = array_ops.shape(x)[-1]
            gives = adjoint if method == "matmul" else not adjoint
            taken = (
                operator.range_dimension_tensor() if gives else operator.domain_dimension_tensor()
            )
            rows = array_ops.concat([batch, [count * (size // taken), taken]], 0)
            x = rearrange_ops.matrix_transpose(array_ops.reshape(x, rows))  # (..., taken, R * rest)
            x = getattr(operator, method)(x, adjoint=adjoint)  # (..., given, R * rest)
            batch, given = array_ops.shape(x)[:-2], array_ops.shape(x)[-2]
            rest = size // taken
            x = array_ops.reshape(x, array_ops.concat([batch, [given, count, rest]], 0))
            rank = array_ops.size(batch)
            order = array_ops.concat([math_ops.range(rank), rank + [1, 0, 2]], 0)
            x = array_ops.transpose(x, order)
            x = array_ops.reshape(x, array_ops.concat([batch, [count, given * rest]], 0))
        return rearrange_ops.matrix_transpose(x)

    def _with_shape(self, x, argument, adjoint, adjoint_arg, of_range):
        rows = self.range_dimension if of_range else self.domain_dimension
        columns = argument.shape[-2 if adjoint_arg else -1] if argument.shape.ndims else None
        if self.shape.ndims is not None and argument.shape.ndims is not None:
            batch = broadcast_shapes(self.batch_shape, argument.shape[:-2])
            x.set_shape(batch.concatenate(TensorShape([rows, columns])))
        return x

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        done = self._by_factor(x, "matmul", adjoint, adjoint_arg)
        return self._with_shape(done, x, adjoint, adjoint_arg, of_range=not adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        done = self._by_factor(rhs, "solve", adjoint, adjoint_arg)
        return self._with_shape(done, rhs, adjoint, adjoint_arg, of_range=adjoint)

    def _powers(self):
        """For each square factor, how often its determinant is a factor of the whole's."""
        whole = self.domain_dimension_tensor()
        return [whole // operator.domain_dimension_tensor() for operator in self._operators]

    def _determinant(self):
        result = 1
        for operator, power in zip(self._operators, self._powers()):
            result *= operator.determinant() ** math_ops.cast(power, self.dtype)
        return result

    def _log_abs_determinant(self):
        result = 0
        for operator, power in zip(self._operators, self._powers()):
            logs = operator.log_abs_determinant()
            result += logs * math_ops.cast(power, logs.dtype)
        return result

    def _inverse(self):
        return LinearOperatorKronecker(
            [operator.inverse() for operator in self._operators], is_non_singular=True
        )

    def _adjoint(self):
        return LinearOperatorKronecker(
            [operator.adjoint() for operator in self._operators],
            is_non_singular=self.is_non_singular,
            is_square=self.is_square,
        )

    def _cholesky(self):
        return LinearOperatorKronecker(
            [operator.cholesky() for operator in self._operators], is_non_singular=True
        )
