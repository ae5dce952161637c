"""Bijectors that mix elements: affine ones, triangles, permutations, other shapes."""

import math

import numpy as np

from rheos.contrib import distribution_util as util
from rheos.contrib.bijectors import Bijector, Chain, Inline, Softplus
from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.linalg.linear_operator_structures import LinearOperatorLowRankUpdate
from rheos.ops.linalg.linear_operators import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn import nn_ops


def lower_triangular_scale(tril, diag, multiplier, is_checked):
    """The operator of a lower triangle, to whose diagonal `diag` and `multiplier` are added."""
    tril = array_ops.matrix_band_part(convert_to_tensor(tril, name="scale_tril"), -1, 0)
    added = None if diag is None else convert_to_tensor(diag, name="scale_diag")
    if multiplier is not None:
        multiplier = convert_to_tensor(multiplier, name="scale_identity_multiplier")
        # One number for each element of the diagonal.
        added = multiplier[..., None] if added is None else added + multiplier[..., None]
    if added is not None:
        diagonal = rearrange_ops.matrix_diag_part(tril) + added
        tril = rearrange_ops.matrix_set_diag(tril, diagonal)
    if is_checked:
        diagonal = rearrange_ops.matrix_diag_part(tril)
        check = check_ops.assert_none_equal(diagonal, array_ops.zeros([], tril.dtype))
        tril = control_flow_ops.with_dependencies([check], tril)
    return LinearOperatorLowerTriangular(tril, is_non_singular=True)


def diagonal_scale(loc, diag, multiplier, is_checked, is_positive):
    """The operator of a diagonal, or of a multiple of the identity, of the size of `loc`."""

    def checked(x):
        if not is_checked:
            return x
        zero = array_ops.zeros([], x.dtype)
        check = (
            check_ops.assert_positive(x) if is_positive else check_ops.assert_none_equal(x, zero)
        )
        return control_flow_ops.with_dependencies([check], x)

    hints = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": is_positive}
    if diag is not None:
        diag = convert_to_tensor(diag, name="scale_diag")
        if multiplier is not None:
            diag += convert_to_tensor(multiplier, diag.dtype)[..., None]
        return LinearOperatorDiag(checked(diag), **hints)
    if loc is None:
        raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
    size = loc.shape.with_rank_at_least(1).size_at(-1)
    size = array_ops.shape(loc)[-1] if size is None else size
    if multiplier is None:
        return LinearOperatorIdentity(num_rows=size, dtype=loc.dtype)
    multiplier = convert_to_tensor(multiplier, loc.dtype, name="scale_identity_multiplier")
    return LinearOperatorScaledIdentity(num_rows=size, multiplier=checked(multiplier), **hints)


class AffineLinearOperator(Bijector):
    """y = scale @ x + shift of vectors x; scale: a LinearOperator, each may be None.

    TypeError if `scale` is no LinearOperator, or not of the dtype of `shift`.
    """

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_linear_operator"):
        parents, dtype = [], None
        self._shift = self._scale = None
        if shift is not None:
            self._shift = convert_to_tensor(shift, name="shift")
            parents.append(self._shift)
            dtype = self._shift.dtype.base_dtype
        if scale is not None:
            if not hasattr(scale, "matvec"):
                raise TypeError("scale is not an instance of tf.LinearOperator")
            if self._shift is not None and dtype != scale.dtype.base_dtype:
                raise TypeError(
                    f"shift.dtype({dtype}) is incompatible with scale.dtype({scale.dtype})."
                )
            if scale.tensor_rank is not None and scale.tensor_rank < 2:
                raise ValueError("scale must have rank at least 2")
            dtype = scale.dtype.base_dtype
            self._scale = scale
        super().__init__(
            graph_parents=parents, forward_min_event_ndims=1, is_constant_jacobian=True,
            dtype=dtype, validate_args=validate_args, name=name,
        )  # fmt: skip

    @property
    def shift(self):
        """What is added."""
        return self._shift

    @property
    def scale(self):
        """The LinearOperator."""
        return self._scale

    def _forward(self, x):
        y = x if self._scale is None else _per_row(self._scale.matvec, self._scale, x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else _per_row(self._scale.solvevec, self._scale, x)

    def _forward_log_det_jacobian(self, x):
        if self._scale is None:
            return constant(0.0, x.dtype.base_dtype)
        return self._scale.log_abs_determinant()


def _per_row(function, operator, x):
    """matvec() or solvevec() of vectors, whose batch may be deeper than the operator's."""
    rank, own = x.shape.ndims, operator.batch_shape.ndims
    if isinstance(operator, (LinearOperatorDiag, LinearOperatorScaledIdentity)):
        return _elementwise(function, operator, x)
    if isinstance(operator, LinearOperatorIdentity) or rank is None or own is None or own:
        return function(x)
    if rank == 1:
        return function(x)
    # One matrix for all: the vectors are the columns of one product.
    shape = array_ops.shape(x)
    columns = array_ops.transpose(array_ops.reshape(x, array_ops.stack([-1, shape[-1]])))
    whole = operator.matmul if function == operator.matvec else operator.solve
    result = array_ops.reshape(array_ops.transpose(whole(columns)), shape)
    result.set_shape(x.shape)
    return result


def _elementwise(function, operator, x):
    diagonal = operator.diag_part()
    return x * diagonal if function == operator.matvec else x / diagonal


class Affine(AffineLinearOperator):
    """y = scale @ x + shift of vectors; scale is the sum of the parts that are given.

    A multiple of the identity, a diagonal, a lower triangle, and V diag(scale_perturb_diag) V^T of
    V, `scale_perturb_factor` (k, r). Nothing: the identity.
    """

    def __init__(
        self,
        shift=None,
        scale_identity_multiplier=None,
        scale_diag=None,
        scale_tril=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        name="affine",
    ):
        self._name = name
        parts = (scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor)
        self._is_only_identity_multiplier = all(part is None for part in parts[1:])
        with name_scope(name, values=[shift, *parts, scale_perturb_diag]):
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
            like = self._size_like(shift, scale_perturb_factor)
            if self._is_only_identity_multiplier:
                scale = None
                self._multiplier = None
                if scale_identity_multiplier is not None:
                    self._multiplier = convert_to_tensor(
                        scale_identity_multiplier,
                        None if shift is None else shift.dtype,
                        name="scale_identity_multiplier",
                    )
            elif scale_tril is not None:
                scale = lower_triangular_scale(
                    scale_tril, scale_diag, scale_identity_multiplier, validate_args
                )
            else:
                if scale_identity_multiplier is None and scale_diag is None:
                    scale_identity_multiplier = 1.0
                scale = diagonal_scale(
                    like, scale_diag, scale_identity_multiplier, validate_args,
                    scale_perturb_factor is not None,
                )  # fmt: skip
            if scale_perturb_factor is not None:
                factor = convert_to_tensor(scale_perturb_factor, name="scale_perturb_factor")
                if scale_perturb_diag is not None:
                    scale_perturb_diag = convert_to_tensor(scale_perturb_diag)
                scale = LinearOperatorLowRankUpdate(
                    scale, u=factor, diag_update=scale_perturb_diag,
                    is_diag_update_positive=scale_perturb_diag is None,
                    is_non_singular=True,
                    is_self_adjoint=True if scale_tril is None else None,
                    is_positive_definite=True if scale_tril is None else None, is_square=True,
                )  # fmt: skip
        super().__init__(shift=shift, scale=scale, validate_args=validate_args, name=name)
        if self._is_only_identity_multiplier:
            # Each element by itself: of scalars too.
            self._forward_min_event_ndims = self._inverse_min_event_ndims = 0
            if self._multiplier is not None:
                self._dtype = self._multiplier.dtype.base_dtype

    @staticmethod
    def _size_like(shift, factor):
        """A tensor whose last size is that of the vectors."""
        if factor is None:
            return shift
        factor = convert_to_tensor(factor)
        return factor[..., 0]

    @property
    def scale(self):
        """The LinearOperator; the number for nothing but a multiple of the identity."""
        return self._multiplier if self._is_only_identity_multiplier else self._scale

    def _forward(self, x):
        if not self._is_only_identity_multiplier:
            return super()._forward(x)
        y = x if self._multiplier is None else x * self._spread(x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        if not self._is_only_identity_multiplier:
            return super()._inverse(y)
        x = y if self._shift is None else y - self._shift
        return x if self._multiplier is None else x / self._spread(x)

    def _spread(self, x):
        multiplier = self._multiplier
        return multiplier if not multiplier.shape.ndims else multiplier[..., None]

    def _forward_log_det_jacobian(self, x):
        if not self._is_only_identity_multiplier:
            return super()._forward_log_det_jacobian(x)
        if self._multiplier is None:
            return constant(0.0, x.dtype.base_dtype)
        return math_ops.log(math_ops.abs(self._multiplier))


class CholeskyOuterProduct(Bijector):
    """Y = X X^T of lower triangles X with positive diagonals."""

    def __init__(self, validate_args=False, name="cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        if self._validate_args:
            zero = array_ops.zeros([], x.dtype)
            above = x - array_ops.matrix_band_part(x, -1, 0)
            checks = [
                check_ops.assert_equal(above, zero, message="must be lower triangular"),
                check_ops.assert_positive(rearrange_ops.matrix_diag_part(x)),
            ]
            x = control_flow_ops.with_dependencies(checks, x)
        return math_ops.matmul(x, x, adjoint_b=True)

    def _inverse(self, y):
        return linalg_ops.cholesky(y)

    def _forward_log_det_jacobian(self, x):
        # log det = sum over j of (p - j) log(x[j, j]) + p log 2.
        diagonal = rearrange_ops.matrix_diag_part(x)
        size = array_ops.shape(diagonal)[-1]
        p = math_ops.cast(size, x.dtype)
        weights = math_ops.cast(math_ops.range(size, 0, -1), x.dtype)
        return math_ops.reduce_sum(weights * math_ops.log(diagonal), -1) + p * math.log(2.0)


class FillTriangular(Bijector):
    """The triangle of a vector: see fill_triangular()."""

    def __init__(self, upper=False, validate_args=False, name="fill_triangular"):
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1, inverse_min_event_ndims=2, is_constant_jacobian=True,
            validate_args=validate_args, name=name,
        )  # fmt: skip

    def _forward(self, x):
        return util.fill_triangular(x, upper=self._upper)

    def _inverse(self, y):
        return util.fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x):
        return array_ops.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return array_ops.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape):
        count = input_shape.with_rank_at_least(1).size_at(-1)
        n = None if count is None else util._triangle_size(count)
        return input_shape[:-1].concatenate([n, n])

    def _inverse_event_shape(self, output_shape):
        n = output_shape.with_rank_at_least(2).size_at(-1)
        return output_shape[:-2].concatenate([None if n is None else n * (n + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape):
        count = math_ops.cast(input_shape[-1], dtypes.float32)
        n = math_ops.cast(math_ops.sqrt(0.25 + 2 * count) - 0.5, dtypes.int32)
        return array_ops.concat([input_shape[:-1], [n, n]], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        n = output_shape[-1]
        return array_ops.concat([output_shape[:-2], [n * (n + 1) // 2]], 0)


class TransformDiagonal(Bijector):
    """Matrices whose diagonals go through another bijector."""

    def __init__(self, diag_bijector, validate_args=False, name="transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(
            forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args,
            name=name,
        )  # fmt: skip

    def _forward(self, x):
        return util.matrix_diag_transform(x, self._diag_bijector.forward)

    def _inverse(self, y):
        return util.matrix_diag_transform(y, self._diag_bijector.inverse)

    def _forward_log_det_jacobian(self, x):
        diagonal = rearrange_ops.matrix_diag_part(x)
        return self._diag_bijector.forward_log_det_jacobian(diagonal, event_ndims=1)

    def _inverse_log_det_jacobian(self, y):
        diagonal = rearrange_ops.matrix_diag_part(y)
        return self._diag_bijector.inverse_log_det_jacobian(diagonal, event_ndims=1)


class ScaleTriL(Chain):
    """Lower triangles with positive diagonals, of vectors.

    diag_bijector: what makes the diagonal positive, softplus by default. diag_shift: added to it.
    """

    def __init__(self, diag_bijector=None, diag_shift=1e-5, validate_args=False, name="scale_tril"):
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            move = Inline(
                forward_fn=lambda x: x + diag_shift,
                inverse_fn=lambda y: y - diag_shift,
                inverse_log_det_jacobian_fn=lambda y: constant(0.0, y.dtype),
                forward_log_det_jacobian_fn=lambda x: constant(0.0, x.dtype),
                is_constant_jacobian=True,
                forward_min_event_ndims=0,
                name="shift",
            )
            diag_bijector = Chain([move, diag_bijector])
        super().__init__(
            [TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()],
            validate_args=validate_args,
            name=name,
        )


class MatrixInverseTriL(Bijector):
    """The inverse of lower triangular matrices."""

    def __init__(self, validate_args=False, name="matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _inverted(self, x):
        if self._validate_args:
            zero = array_ops.zeros([], x.dtype)
            above = x - array_ops.matrix_band_part(x, -1, 0)
            checks = [
                check_ops.assert_equal(above, zero, message="must be lower triangular"),
                check_ops.assert_none_equal(rearrange_ops.matrix_diag_part(x), zero),
            ]
            x = control_flow_ops.with_dependencies(checks, x)
        shape = array_ops.shape(x)
        one = rearrange_ops.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype)
        inverse = linalg_ops.matrix_triangular_solve(x, one)
        inverse.set_shape(x.shape)
        return inverse

    def _forward(self, x):
        return self._inverted(x)

    def _inverse(self, y):
        return self._inverted(y)

    def _forward_log_det_jacobian(self, x):
        # As TensorFlow has it, for all matrices; on lower triangles 2n would be n + 1.
        n = math_ops.cast(array_ops.shape(x)[-1], x.dtype)
        diagonal = rearrange_ops.matrix_diag_part(x)
        return -2.0 * n * math_ops.reduce_sum(math_ops.log(math_ops.abs(diagonal)), -1)


class Ordered(Bijector):
    """Vectors whose elements grow, to any vectors: y[0] = x[0], y[i] = log(x[i] - x[i - 1])."""

    def __init__(self, validate_args=False, name="ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _checked(self, x):
        if not self._validate_args:
            return x
        check = check_ops.assert_positive(
            x[..., 1:] - x[..., :-1], message="Forward transformation input must be strictly "
            "increasing."
        )  # fmt: skip
        return control_flow_ops.with_dependencies([check], x)

    def _forward(self, x):
        x = self._checked(x)
        steps = math_ops.log(x[..., 1:] - x[..., :-1])
        return array_ops.concat([x[..., :1], steps], axis=-1)

    def _inverse(self, y):
        steps = array_ops.concat([y[..., :1], math_ops.exp(y[..., 1:])], axis=-1)
        return math_ops.cumsum(steps, axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return math_ops.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x):
        x = self._checked(x)
        return -math_ops.reduce_sum(math_ops.log(x[..., 1:] - x[..., :-1]), axis=-1)


class Permute(Bijector):
    """The elements of vectors in another order: y[i] = x[permutation[i]].

    TypeError for numbers that are not whole, ValueError unless each of 0 to n - 1 comes once.
    """

    def __init__(self, permutation, validate_args=False, name=None):
        with name_scope(name, "permute", [permutation]):
            permutation = convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError("permutation.dtype ({}) should be `int`-like.".format(
                    permutation.dtype.name))  # fmt: skip
            known = constant_value(permutation)
            message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            if known is not None:
                if not np.all(np.sort(known) == np.arange(known.size)):
                    raise ValueError(message)
            elif validate_args:
                count = array_ops.shape(permutation)[-1]
                check = check_ops.assert_equal(
                    rearrange_ops.sort(permutation), math_ops.range(count), message=message
                )
                permutation = control_flow_ops.with_dependencies([check], permutation)
        self._permutation = permutation
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=True, validate_args=validate_args,
            name=name or "permute",
        )  # fmt: skip

    @property
    def permutation(self):
        """The numbers."""
        return self._permutation

    def _forward(self, x):
        return array_ops.gather(x, self._permutation, axis=-1)

    def _inverse(self, y):
        order = array_ops.invert_permutation(self._permutation)
        return array_ops.gather(y, order, axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return constant(0.0, y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x):
        return constant(0.0, x.dtype.base_dtype)


def _static_of(shape):
    """(the shape as a vector, what is known of it, a TensorShape with None for -1)."""
    vector = convert_to_tensor(shape, dtypes.int32, name="event_shape")
    known = constant_value(vector)
    if known is None:
        return vector, TensorShape([None] * (vector.shape.as_list() or [0])[0])
    if known.ndim != 1:
        raise ValueError("`event_shape` must be a vector (rank is %s)." % known.ndim)
    if np.sum(known == -1) > 1 or np.any(known < -1):
        raise ValueError("`event_shape` elements must be either positive integers or `-1`.")
    return vector, TensorShape([None if d == -1 else int(d) for d in known])


class Reshape(Bijector):
    """Events of another shape; one size of each of the two may be -1. ValueError for others."""

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        with name_scope(name, "reshape", [event_shape_out, event_shape_in]):
            self._out, self._static_out = _static_of(event_shape_out)
            self._in, self._static_in = _static_of(event_shape_in)
        sizes = [
            None if shape.num_elements() is None else shape.num_elements()
            for shape in (self._static_in, self._static_out)
        ]
        if None not in sizes and sizes[0] != sizes[1]:
            raise ValueError("Input/output `event_size`s do not match.")
        super().__init__(
            forward_min_event_ndims=self._static_in.ndims,
            inverse_min_event_ndims=self._static_out.ndims,
            is_constant_jacobian=True, validate_args=validate_args, name=name or "reshape",
        )  # fmt: skip

    def _reshaped(self, x, static_in, static_out, shape_in, shape_out):
        rank = static_in.ndims
        if x.shape.ndims is not None and not x.shape[x.shape.ndims - rank :].is_compatible_with(
            static_in
        ):
            raise ValueError(f"Input `event_shape` {x.shape} does not match {static_in}.")
        batch = array_ops.shape(x)[: array_ops.rank(x) - rank]
        y = array_ops.reshape(x, array_ops.concat([batch, shape_out], axis=0))
        if x.shape.ndims is not None:
            event = self._event(x.shape[x.shape.ndims - rank :], static_out)
            y.set_shape(x.shape[: x.shape.ndims - rank].concatenate(event))
        return y

    @staticmethod
    def _event(given, static):
        """The static shape, its unknown size from the number of elements where that is known."""
        count, sizes = given.num_elements(), static.as_list()
        if count is None or sizes.count(None) != 1:
            return static
        known = int(np.prod([d for d in sizes if d is not None], dtype=np.int64))
        return TensorShape([count // known if d is None else d for d in sizes])

    def _forward(self, x):
        return self._reshaped(x, self._static_in, self._static_out, self._in, self._out)

    def _inverse(self, y):
        return self._reshaped(y, self._static_out, self._static_in, self._out, self._in)

    def _forward_log_det_jacobian(self, x):
        return constant(0.0, x.dtype)

    def _inverse_log_det_jacobian(self, y):
        return constant(0.0, y.dtype)

    def _changed(self, shape, static_in, static_out):
        ndims = shape.ndims
        rank = static_in.ndims
        if ndims is None or ndims < rank:
            return TensorShape(None) if ndims is None else static_out
        event = shape[ndims - rank :]
        if not event.is_compatible_with(static_in):
            raise ValueError(f"Input `event_shape` {event} does not match {static_in}.")
        return shape[: ndims - rank].concatenate(self._event(event, static_out))

    def _forward_event_shape(self, input_shape):
        return self._changed(input_shape, self._static_in, self._static_out)

    def _inverse_event_shape(self, output_shape):
        return self._changed(output_shape, self._static_out, self._static_in)

    @staticmethod
    def _changed_tensor(shape, rank, wanted):
        event = shape[array_ops.size(shape) - rank :]
        ones = array_ops.ones_like(wanted)
        known = math_ops.reduce_prod(array_ops.where(wanted >= 0, wanted, ones))
        missing = math_ops.reduce_prod(event) // known
        filled = array_ops.where(wanted >= 0, wanted, missing * ones)
        return array_ops.concat([shape[: array_ops.size(shape) - rank], filled], axis=0)

    def _forward_event_shape_tensor(self, input_shape):
        return self._changed_tensor(input_shape, self._static_in.ndims, self._out)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._changed_tensor(output_shape, self._static_out.ndims, self._in)


class SoftmaxCentered(Bijector):
    """y = softmax([x, 0]) of vectors x: a vector one longer that sums to 1."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape):
        shape = input_shape.with_rank_at_least(1)
        size = shape.size_at(-1)
        return shape[:-1].concatenate([None if size is None else size + 1])

    def _inverse_event_shape(self, output_shape):
        shape = output_shape.with_rank_at_least(1)
        size = shape.size_at(-1)
        if size is not None and size <= 1:
            raise ValueError(f"output_shape[-1] = {size} <= 1")
        return shape[:-1].concatenate([None if size is None else size - 1])

    def _forward_event_shape_tensor(self, input_shape):
        return array_ops.concat([input_shape[:-1], input_shape[-1:] + 1], axis=0)

    def _inverse_event_shape_tensor(self, output_shape):
        return array_ops.concat([output_shape[:-1], output_shape[-1:] - 1], axis=0)

    def _forward(self, x):
        return nn_ops.softmax(array_ops.concat([x, array_ops.zeros_like(x[..., :1])], axis=-1))

    def _inverse(self, y):
        logs = math_ops.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y):
        # The last element follows from the others, and so counts with them.
        return -math_ops.reduce_sum(math_ops.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        size = math_ops.cast(array_ops.shape(x)[-1] + 1, x.dtype)
        total = math_ops.reduce_logsumexp(x, axis=-1, keepdims=True)
        return array_ops.squeeze(
            -size * nn_ops.softplus(total) + math_ops.reduce_sum(x, axis=-1, keepdims=True), [-1]
        )
