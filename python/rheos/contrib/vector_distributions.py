"""Distributions of vectors, which an affine map makes of independent numbers, and of matrices."""

import math

import numpy as np

from rheos.contrib import bijectors
from rheos.contrib.linear_bijectors import (
    AffineLinearOperator,
    diagonal_scale,
    lower_triangular_scale,
)
from rheos.contrib.scalar_distributions import _known
from rheos.contrib.transformed_distributions import TransformedDistribution
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.linalg.linear_operator_structures import LinearOperatorLowRankUpdate
from rheos.ops.linalg.linear_operators import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from rheos.ops.math import check_ops, math_ops, special_math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops
from rheos.ops.random.continuous_distributions import Exponential, Laplace, Normal
from rheos.ops.random.distribution import (
    FULLY_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    new_seed,
)

_DIAGONAL = (LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity)


def _shapes(loc, scale):
    """(batch shape, event shape) of loc + scale @ x."""
    known = scale.range_dimension
    known = getattr(known, "value", known)
    event = [known] if known is not None else scale.range_dimension_tensor()[None]
    static = scale.batch_shape
    if loc is not None:
        static = array_ops.broadcast_static_shape(static, loc.shape[:-1])
    if static.is_fully_defined():
        return static.as_list(), event
    batch = scale.batch_shape_tensor()
    if loc is not None:
        batch = rearrange_ops.broadcast_dynamic_shape(batch, array_ops.shape(loc)[:-1])
    return _known(batch), event


class _Vector(TransformedDistribution):
    """loc + scale @ x of vectors x of independent draws; scale: a LinearOperator."""

    def __init__(self, base, loc, scale, validate_args, allow_nan_stats, name, parameters):
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc]) as name:
            if loc is not None:
                loc = convert_to_tensor(loc, scale.dtype, name="loc")
            batch, event = _shapes(loc, scale)
            distribution = base(scale.dtype, allow_nan_stats)
            super().__init__(
                distribution, AffineLinearOperator(loc, scale, validate_args=validate_args),
                batch_shape=batch, event_shape=event, validate_args=validate_args, name=name,
            )  # fmt: skip
        self._parameters = {
            key: v for key, v in parameters.items() if key not in ("self", "__class__")
        }

    @property
    def loc(self):
        """What is added, or None."""
        return self.bijector.shift

    @property
    def scale(self):
        """The LinearOperator."""
        return self.bijector.scale

    _spread = 1.0  # the standard deviation of one of the numbers
    _center = 0.0  # and its mean

    def _whole(self, x):
        """x with the batch shape."""
        shape = array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        x = array_ops.broadcast_to(x, shape)
        x.set_shape(self.batch_shape.concatenate(self.event_shape))
        return x

    def _mean(self):
        mean = array_ops.zeros([], self.dtype) if self.loc is None else self.loc
        if self._center:
            ones = array_ops.ones(self.event_shape_tensor(), self.dtype) * self._center
            mean = mean + self.scale.matvec(self._scale_shaped(ones))
        return self._whole(array_ops.identity(mean))

    def _scale_shaped(self, x):
        """A vector for each matrix of the scale."""
        shape = array_ops.concat([self.scale.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return array_ops.broadcast_to(x, shape)

    def _covariance(self):
        factor = self._spread**2
        if isinstance(self.scale, _DIAGONAL):
            return array_ops.matrix_diag(factor * math_ops.square(self.scale.diag_part()))
        return factor * self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self):
        if isinstance(self.scale, _DIAGONAL):
            return self._spread**2 * math_ops.square(self.scale.diag_part())
        return rearrange_ops.matrix_diag_part(self._covariance())

    def _stddev(self):
        if isinstance(self.scale, _DIAGONAL):
            return self._spread * math_ops.abs(self.scale.diag_part())
        return math_ops.sqrt(self._variance())

    def _mode(self):
        return self._mean()


def _normal(dtype, allow_nan_stats):
    return Normal(
        array_ops.zeros([], dtype), array_ops.ones([], dtype), allow_nan_stats=allow_nan_stats
    )


def _laplace(dtype, allow_nan_stats):
    return Laplace(
        array_ops.zeros([], dtype), array_ops.ones([], dtype), allow_nan_stats=allow_nan_stats
    )


def _exponential(dtype, allow_nan_stats):
    return Exponential(array_ops.ones([], dtype), allow_nan_stats=allow_nan_stats)


class MultivariateNormalLinearOperator(_Vector):
    """The multivariate normal distribution of mean `loc` and covariance scale @ scale^T."""

    def __init__(
        self,
        loc=None,
        scale=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalLinearOperator",
    ):
        super().__init__(_normal, loc, scale, validate_args, allow_nan_stats, name, dict(locals()))


def _diagonal_arguments(loc, scale_diag, multiplier, validate_args):
    """(loc, the operator) of what is given of them."""
    if loc is not None:
        like = scale_diag if scale_diag is not None else multiplier
        hint = getattr(like, "dtype", None)
        loc = convert_to_tensor(loc, hint if hasattr(hint, "as_numpy_dtype") else None, name="loc")
    return loc, diagonal_scale(loc, scale_diag, multiplier, validate_args, False)


class _OfDiagonal:
    """A distribution of vectors whose scale is a diagonal."""

    _base, _default_name = None, None

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name=None,
    ):
        parameters = dict(locals(), name=name or type(self)._default_name)
        name = name or type(self)._default_name
        with name_scope(name) as name:
            loc, scale = _diagonal_arguments(
                loc, scale_diag, scale_identity_multiplier, validate_args
            )
        base = type(self)._base
        _Vector.__init__(self, base, loc, scale, validate_args, allow_nan_stats, name, parameters)


class MultivariateNormalDiag(_OfDiagonal, MultivariateNormalLinearOperator):
    """Independent normal numbers: mean `loc`, standard deviations `scale_diag`, (batch) + (k,).

    To these `scale_identity_multiplier` is added; 1 without either.
    """

    _base, _default_name = staticmethod(_normal), "MultivariateNormalDiag"


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag() of the softplus of the standard deviations."""

    def __init__(
        self,
        loc,
        scale_diag,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiagWithSoftplusScale",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            softplus = nn_ops.softplus(convert_to_tensor(scale_diag))
            super().__init__(
                loc, softplus, validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                name=name,
            )  # fmt: skip
        self._parameters = {
            key: v for key, v in parameters.items() if key not in ("self", "__class__")
        }


class VectorLaplaceDiag(_OfDiagonal, _Vector):
    """Independent numbers of Laplace distributions: see MultivariateNormalDiag."""

    _base, _default_name = staticmethod(_laplace), "VectorLaplaceDiag"
    _spread = math.sqrt(2)


class VectorExponentialDiag(_OfDiagonal, _Vector):
    """loc + scale_diag x of independent numbers x of exponential distributions."""

    _base, _default_name = staticmethod(_exponential), "VectorExponentialDiag"
    _center = 1.0

    def _mode(self):
        loc = array_ops.zeros([], self.dtype) if self.loc is None else self.loc
        return self._whole(array_ops.identity(loc))


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The multivariate normal distribution whose covariance is L L^T, L: `scale_tril`."""

    def __init__(
        self,
        loc=None,
        scale_tril=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalTriL",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_tril]) as name:
            if loc is None and scale_tril is None:
                raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            if scale_tril is None:
                size = loc.shape.with_rank_at_least(1).size_at(-1)
                scale = LinearOperatorIdentity(
                    num_rows=array_ops.shape(loc)[-1] if size is None else size, dtype=loc.dtype,
                    is_self_adjoint=True, is_positive_definite=True,
                )  # fmt: skip
            else:
                scale = lower_triangular_scale(scale_tril, None, None, validate_args)
        _Vector.__init__(
            self, _normal, loc, scale, validate_args, allow_nan_stats, name, parameters
        )


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The multivariate normal distribution of this mean and covariance."""

    def __init__(
        self,
        loc=None,
        covariance_matrix=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalFullCovariance",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, covariance_matrix]) as name:
            tril = None
            if covariance_matrix is not None:
                matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    check = check_ops.assert_near(
                        matrix, rearrange_ops.matrix_transpose(matrix),
                        message="Matrix was not symmetric.",
                    )  # fmt: skip
                    matrix = control_flow_ops.with_dependencies([check], matrix)
                tril = linalg_ops.cholesky(matrix)
            super().__init__(loc, tril, validate_args, allow_nan_stats, name)
        self._parameters = {
            key: v for key, v in parameters.items() if key not in ("self", "__class__")
        }


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The multivariate normal distribution whose scale is a diagonal and U diag(v) U^T.

    U: `scale_perturb_factor`, (batch) + (k, r); v: `scale_perturb_diag`, by default of ones.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiagPlusLowRank",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            like = None if loc is None else convert_to_tensor(loc, name="loc")
            factor = None
            if scale_perturb_factor is not None:
                factor = convert_to_tensor(scale_perturb_factor, name="scale_perturb_factor")
            has_factor = factor is not None
            scale = diagonal_scale(
                factor[..., 0] if like is None and has_factor else like, scale_diag,
                scale_identity_multiplier, validate_args, has_factor,
            )  # fmt: skip
            if has_factor:
                if scale_perturb_diag is not None:
                    scale_perturb_diag = convert_to_tensor(scale_perturb_diag)
                scale = LinearOperatorLowRankUpdate(
                    scale, u=factor, diag_update=scale_perturb_diag,
                    is_diag_update_positive=scale_perturb_diag is None, is_non_singular=True,
                    is_self_adjoint=True, is_positive_definite=True, is_square=True,
                )  # fmt: skip
        _Vector.__init__(
            self, _normal, like, scale, validate_args, allow_nan_stats, name, parameters
        )


def _squared_norm(x):
    return math_ops.reduce_sum(math_ops.square(x), [-2, -1])


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _vectors(a, b, name=None):
    """The determinants, the trace of b's inverse covariance with a's, the distance of the means."""
    with name_scope(name, "kl_mvn"):
        if isinstance(a.scale, _DIAGONAL) and isinstance(b.scale, _DIAGONAL):
            ratio = a.stddev() / b.stddev()
            trace = math_ops.reduce_sum(math_ops.square(ratio), -1)
            apart = math_ops.reduce_sum(math_ops.square((b.mean() - a.mean()) / b.stddev()), -1)
        else:
            batch = rearrange_ops.broadcast_dynamic_shape(
                a.scale.batch_shape_tensor(), b.scale.batch_shape_tensor()
            )
            dense = a.scale.to_dense()
            whole = array_ops.concat([batch, array_ops.shape(dense)[-2:]], 0)
            trace = _squared_norm(b.scale.solve(array_ops.broadcast_to(dense, whole)))
            step = (b.mean() - a.mean())[..., None]
            apart = _squared_norm(b.scale.solve(step))
        size = math_ops.cast(a.scale.domain_dimension_tensor(), a.dtype)
        logs = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        return logs + 0.5 * (-size + trace + apart)


class VectorSinhArcsinhDiag(TransformedDistribution):
    """SinhArcsinh() of each element of a vector, with a diagonal scale."""

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalLinearOperator",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale_diag, skewness, tailweight]) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            plain_tails = tailweight is None
            if distribution is None:
                distribution = _normal(
                    (loc if loc is not None else convert_to_tensor(scale_diag)).dtype,
                    allow_nan_stats,
                )
            dtype = distribution.dtype
            tailweight = convert_to_tensor(1.0 if plain_tails else tailweight, dtype)
            skewness_given = skewness is not None
            skewness = convert_to_tensor(skewness if skewness_given else 0.0, dtype)
            scale = diagonal_scale(loc, scale_diag, scale_identity_multiplier, validate_args, False)
            batch, event = _shapes(loc, scale)
            two = convert_to_tensor(2.0, dtype)
            bent = bijectors.SinhArcsinh(skewness=skewness, tailweight=tailweight)
            plain = bijectors.SinhArcsinh(tailweight=tailweight)
            stretch = bijectors.AffineScalar(scale=two / plain.forward(two))
            affine = AffineLinearOperator(loc, scale, validate_args=validate_args)
            self._loc, self._scale = loc, scale
            self._tailweight, self._skewness = tailweight, skewness
            super().__init__(
                distribution, bijectors.Chain([affine, stretch, bent]), batch_shape=batch,
                event_shape=event, validate_args=validate_args, name=name,
            )  # fmt: skip
        self._parameters = {
            key: v for key, v in parameters.items() if key not in ("self", "__class__")
        }

    @property
    def loc(self):
        """What is added, or None."""
        return self._loc

    @property
    def scale(self):
        """The LinearOperator."""
        return self._scale

    @property
    def tailweight(self):
        """How heavy the tails are."""
        return self._tailweight

    @property
    def skewness(self):
        """How much it leans."""
        return self._skewness


class _Wishart(Distribution):
    """The Wishart distribution of `df` degrees of freedom and scale matrix scale @ scale^T.

    Draws are matrices, with cholesky_input_output_matrices their lower triangular factors, and so
    are values.
    """

    def __init__(self, df, scale, is_factored, validate_args, allow_nan_stats, parameters, name):
        self._is_factored = is_factored
        with name_scope(name, values=[df]) as name:
            self._scale = scale
            self._df = convert_to_tensor(df, scale.dtype, name="df")
            check_ops.assert_same_float_dtype([self._df])
            self._size = scale.domain_dimension_tensor()
            known = scale.domain_dimension
            self._known_size = getattr(known, "value", known)
            if validate_args:
                size = math_ops.cast(self._size, scale.dtype)
                check = check_ops.assert_less_equal(
                    size, self._df,
                    message="Degrees of freedom (df) cannot be less than dimension of scale matrix",
                )  # fmt: skip
                self._df = control_flow_ops.with_dependencies([check], self._df)
        super().__init__(
            scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._df], name,
        )  # fmt: skip

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df

    @property
    def cholesky_input_output_matrices(self):
        """Whether draws and values are lower triangular factors."""
        return self._is_factored

    @property
    def scale_operator(self):
        """The factor of the scale matrix."""
        return self._scale

    @property
    def dimension(self):
        """The size of the matrices, a tensor."""
        return self._size

    def scale(self):
        """The scale matrix, or its factor."""
        if self._is_factored:
            return self._scale.to_dense()
        return self._scale.matmul(self._scale.to_dense(), adjoint_arg=True)

    def _event_shape(self):
        return TensorShape([self._known_size, self._known_size])

    def _event_shape_tensor(self):
        return array_ops.stack([self._size, self._size])

    def _batch_shape(self):
        return array_ops.broadcast_static_shape(self._df.shape, self._scale.batch_shape)

    def _batch_shape_tensor(self):
        return rearrange_ops.broadcast_dynamic_shape(
            array_ops.shape(self._df), self._scale.batch_shape_tensor()
        )

    def _spread_df(self):
        """df / 2 less 0, 1/2 and so on, (batch) + (size,)."""
        df = self._df * array_ops.ones(self._scale.batch_shape_tensor(), self.dtype)
        lowest = 0.5 * (df - math_ops.cast(self._size, self.dtype) + 1.0)[..., None]
        steps = math_ops.cast(math_ops.range(self._size - 1, -1, -1), self.dtype)
        return lowest + 0.5 * steps

    def _sample_n(self, n, seed):
        # The factor of a draw (Bartlett): normal numbers below roots of chi-squared ones.
        shape = array_ops.concat([self._batch_with(n), self.event_shape_tensor()], 0)
        below = random_ops.random_normal(shape, dtype=self.dtype, seed=seed)
        squares = random_ops.random_gamma(
            [n], self._spread_df(), beta=0.5, dtype=self.dtype, seed=new_seed(seed, "wishart")
        )
        factor = rearrange_ops.matrix_set_diag(
            array_ops.matrix_band_part(below, -1, 0), math_ops.sqrt(squares)
        )
        scale = array_ops.broadcast_to(self._scale.to_dense(), shape)
        factor = math_ops.matmul(scale, factor)
        if self._is_factored:
            return factor
        return math_ops.matmul(factor, factor, adjoint_b=True)

    def _log_prob(self, x):
        factor = x if self._is_factored else linalg_ops.cholesky(x)
        scale = array_ops.broadcast_to(self._scale.to_dense(), array_ops.shape(factor))
        solved = linalg_ops.matrix_triangular_solve(scale, factor)
        diagonal = math_ops.log(rearrange_ops.matrix_diag_part(factor))
        half_log_det = math_ops.reduce_sum(diagonal, -1)
        size = math_ops.cast(self._size, self.dtype)
        return (
            -0.5 * _squared_norm(solved)
            + (self._df - size - 1.0) * half_log_det
            - self.log_normalization()
        )

    def _prob(self, x):
        return math_ops.exp(self._log_prob(x))

    def _multi_lgamma(self):
        size = math_ops.cast(self._size, self.dtype)
        pairs = 0.25 * size * (size - 1.0) * math.log(math.pi)
        return pairs + math_ops.reduce_sum(special_math_ops.lgamma(self._spread_df()), -1)

    def _multi_digamma(self):
        return math_ops.reduce_sum(special_math_ops.digamma(self._spread_df()), -1)

    def log_normalization(self, name="log_normalization"):
        """The logarithm of what the density is divided by."""
        with name_scope(self._name), name_scope(name):
            size = math_ops.cast(self._size, self.dtype)
            return (
                self._df * self._scale.log_abs_determinant()
                + 0.5 * self._df * size * math.log(2.0)
                + self._multi_lgamma()
            )

    def mean_log_det(self, name="mean_log_det"):
        """The mean of the logarithm of the determinant."""
        with name_scope(self._name), name_scope(name):
            size = math_ops.cast(self._size, self.dtype)
            return (
                self._multi_digamma() + size * math.log(2.0) + 2 * self._scale.log_abs_determinant()
            )

    def _entropy(self):
        size = math_ops.cast(self._size, self.dtype)
        half = 0.5 * self._df
        return (
            (size + 1.0) * self._scale.log_abs_determinant()
            + 0.5 * size * (size + 1.0) * math.log(2.0)
            + self._multi_lgamma()
            - (half - 0.5 * (size + 1.0)) * self._multi_digamma()
            + half * size
        )

    def _square(self):
        return self._scale.matmul(self._scale.to_dense(), adjoint_arg=True)

    def _mean(self):
        if self._is_factored:
            return math_ops.sqrt(self._df)[..., None, None] * self._scale.to_dense()
        return self._df[..., None, None] * self._square()

    def _variance(self):
        square = self._square()
        diagonal = rearrange_ops.matrix_diag_part(square)
        outer = diagonal[..., :, None] * diagonal[..., None, :]
        variance = self._df[..., None, None] * (math_ops.square(square) + outer)
        return linalg_ops.cholesky(variance) if self._is_factored else variance

    def _stddev(self):
        if self._is_factored:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does not make "
                "sense."
            )
        return linalg_ops.cholesky(self._variance())

    def _mode(self):
        s = self._df - math_ops.cast(self._size, self.dtype) - 1.0
        s = array_ops.where(s < 0, np.nan * array_ops.ones_like(s), s)
        if self._is_factored:
            return math_ops.sqrt(s)[..., None, None] * self._scale.to_dense()
        return s[..., None, None] * self._square()


class WishartCholesky(_Wishart):
    """The Wishart distribution of a scale matrix's lower triangular factor."""

    def __init__(
        self,
        df,
        scale,
        cholesky_input_output_matrices=False,
        validate_args=False,
        allow_nan_stats=True,
        name="WishartCholesky",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            scale = convert_to_tensor(scale)
            if validate_args:
                checks = [check_ops.assert_positive(rearrange_ops.matrix_diag_part(scale))]
                scale = control_flow_ops.with_dependencies(checks, scale)
            operator = LinearOperatorLowerTriangular(
                scale, is_non_singular=True, is_positive_definite=True, is_square=True
            )
        super().__init__(
            df, operator, cholesky_input_output_matrices, validate_args, allow_nan_stats,
            parameters, name,
        )  # fmt: skip


class WishartFull(_Wishart):
    """The Wishart distribution of a scale matrix."""

    def __init__(
        self,
        df,
        scale,
        cholesky_input_output_matrices=False,
        validate_args=False,
        allow_nan_stats=True,
        name="WishartFull",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            factor = linalg_ops.cholesky(convert_to_tensor(scale))
            operator = LinearOperatorLowerTriangular(
                factor, is_non_singular=True, is_positive_definite=True, is_square=True
            )
        super().__init__(
            df, operator, cholesky_input_output_matrices, validate_args, allow_nan_stats,
            parameters, name,
        )  # fmt: skip


def normal_conjugates_known_scale_posterior(prior, scale, s, n):
    """What a normal prior of a mean is after `n` draws of standard deviation `scale` sum to `s`.

    TypeError unless the prior is normal and the sum of its dtype.
    """
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(
            f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}"
        )
    n = math_ops.cast(n, prior.dtype)
    before, drawn = math_ops.square(prior.scale), math_ops.square(scale)
    variance = 1 / (1 / before + n / drawn)
    return Normal((prior.loc / before + s / drawn) * variance, math_ops.sqrt(variance))


def normal_conjugates_known_scale_predictive(prior, scale, s, n):
    """What the next draw is then: see normal_conjugates_known_scale_posterior()."""
    posterior = normal_conjugates_known_scale_posterior(prior, scale, s, n)
    variance = math_ops.square(posterior.scale) + math_ops.square(scale)
    return Normal(posterior.loc, math_ops.sqrt(variance))
