"""Distributions of real numbers, and of vectors of them."""

import math

import numpy as np

from rheos.framework import dtypes
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import check_ops, math_ops, special_math_ops
from rheos.ops.random import random_ops
from rheos.ops.random.distribution import (
    FULLY_REPARAMETERIZED,
    Distribution,
    OfConcentrations,
    RegisterKL,
    broadcast_shape,
    broadcast_shape_tensor,
    checked,
    float_parameter,
    new_seed,
    positive,
)

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def _ndtr(x):
    """The distribution function of the standard normal distribution."""
    w = x * math.sqrt(0.5)
    z = math_ops.abs(w)
    tail = math_ops.erfc(z)
    outer = array_ops.where(w > 0, 2 - tail, tail)
    return 0.5 * array_ops.where(z < math.sqrt(0.5), 1 + math_ops.erf(w), outer)


def _log_ndtr(x):
    """log(_ndtr(x)), by its asymptotic series far below 0 and by the other tail far above."""
    low, high = (-20.0, 8.0) if x.dtype == dtypes.float64 else (-10.0, 5.0)
    far = math_ops.minimum(x, low)
    squared = math_ops.square(far)
    series = 1 - 1 / squared + 3 / squared**2 - 15 / squared**3
    below = -0.5 * squared - math_ops.log(-far) - _HALF_LOG_2PI + math_ops.log(series)
    middle = math_ops.log(_ndtr(math_ops.maximum(x, low)))
    return array_ops.where(x > high, -_ndtr(-x), array_ops.where(x > low, middle, below))


class _OfTwo(Distribution):
    """A distribution whose batch shape is that of its parameters, broadcast."""

    def _batch_parameters(self):
        raise NotImplementedError

    def _batch_shape(self):
        return broadcast_shape(*self._batch_parameters())

    def _batch_shape_tensor(self):
        return broadcast_shape_tensor(*self._batch_parameters())

    def _ones(self):
        return array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)


class _LocationScale(_OfTwo):
    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"loc": sample_shape, "scale": sample_shape}

    def _set(self, loc, scale, validate_args):
        with control_dependencies([check_ops.assert_positive(scale)] if validate_args else []):
            self._loc = array_ops.identity(loc, name="loc")
            self._scale = array_ops.identity(scale, name="scale")
        check_ops.assert_same_float_dtype([self._loc, self._scale])

    def _batch_parameters(self):
        return self._loc, self._scale

    @property
    def loc(self):
        """The location."""
        return self._loc

    @property
    def scale(self):
        """The scale, above 0."""
        return self._scale

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _mean(self):
        return self._loc * array_ops.ones_like(self._scale)

    def _mode(self):
        return self._mean()


class Normal(_LocationScale):
    """The normal distribution of mean `loc` and standard deviation `scale`.

    ValueError if they are not floating point or differ in dtype.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
        super().__init__(
            self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._loc, self._scale], name,
        )  # fmt: skip

    def _z(self, x):
        with name_scope("standardize", values=[x]):
            return super()._z(x)

    def _sample_n(self, n, seed=None):
        shape = self._batch_with(n)
        drawn = random_ops.random_normal(shape, dtype=self.dtype, seed=seed)
        return drawn * self._scale + self._loc

    def _log_prob(self, x):
        return -0.5 * math_ops.square(self._z(x)) - (_HALF_LOG_2PI + math_ops.log(self._scale))

    def _cdf(self, x):
        return _ndtr(self._z(x))

    def _log_cdf(self, x):
        return _log_ndtr(self._z(x))

    def _survival_function(self, x):
        return _ndtr(-self._z(x))

    def _log_survival_function(self, x):
        return _log_ndtr(-self._z(x))

    def _quantile(self, p):
        # Where the slope is infinite no gradient flows, instead of one that is not finite.
        is_end = math_ops.logical_or(p <= 0, p >= 1)
        inside = op1("Ndtri", None, array_ops.where(is_end, 0.5 * array_ops.ones_like(p), p))
        ends = array_ops.stop_gradient(op1("Ndtri", None, p))
        return array_ops.where(is_end, ends, inside) * self._scale + self._loc

    def _entropy(self):
        scale = self._scale * array_ops.ones_like(self._loc)
        return 0.5 + _HALF_LOG_2PI + math_ops.log(scale)

    def _stddev(self):
        return self._scale * array_ops.ones_like(self._loc)


class Laplace(_LocationScale):
    """The Laplace distribution: the density falls off by exp(-|x - loc| / scale)."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
        super().__init__(
            self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._loc, self._scale], name,
        )  # fmt: skip

    def _sample_n(self, n, seed=None):
        kind = self.dtype.as_numpy_dtype
        uniform = random_ops.random_uniform(
            self._batch_with(n), np.nextafter(kind(-1), kind(0)), 1.0, self.dtype, seed
        )
        steps = math_ops.sign(uniform) * math_ops.log1p(-math_ops.abs(uniform))
        return self._loc - self._scale * steps

    def _log_prob(self, x):
        return -math_ops.abs(self._z(x)) - (math.log(2) + math_ops.log(self._scale))

    def _log_cdf(self, x):
        z = self._z(x)
        tail = math_ops.log1p(-0.5 * math_ops.exp(-math_ops.abs(z)))
        return array_ops.where(z < 0, z - math.log(2), tail)

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 - 0.5 * math_ops.sign(z) * (math_ops.exp(-math_ops.abs(z)) - 1)

    def _log_survival_function(self, x):
        z = self._z(x)
        tail = math_ops.log1p(-0.5 * math_ops.exp(-math_ops.abs(z)))
        return array_ops.where(z < 0, tail, -z - math.log(2))

    def _entropy(self):
        scale = self._scale * array_ops.ones_like(self._loc)
        return math.log(2) + 1 + math_ops.log(scale)

    def _stddev(self):
        return math.sqrt(2) * self._scale * array_ops.ones_like(self._loc)


class StudentT(_LocationScale):
    """Student's t distribution of `df` degrees of freedom, moved by `loc` and scaled."""

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            self._set(loc, scale, validate_args)
            self._df = positive([float_parameter(df, "df")], validate_args)[0]
            check_ops.assert_same_float_dtype([self._df, self._loc, self._scale])
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._df, self._loc, self._scale], name,
        )  # fmt: skip

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"df": sample_shape, "loc": sample_shape, "scale": sample_shape}

    def _batch_parameters(self):
        return self._df, self._loc, self._scale

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df

    def _sample_n(self, n, seed=None):
        normal = random_ops.random_normal(self._batch_with(n), dtype=self.dtype, seed=seed)
        df = self._df * self._ones()
        gamma = random_ops.random_gamma(
            [n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=new_seed(seed, "student_t")
        )
        return normal * math_ops.rsqrt(gamma / df) * self._scale + self._loc

    def _log_prob(self, x):
        df, half = self._df, 0.5 * (self._df + 1)
        y = (x - self._loc) / self._scale
        norm = math_ops.log(math_ops.abs(self._scale)) + 0.5 * math_ops.log(df)
        norm += (
            0.5 * math.log(math.pi)
            + special_math_ops.lgamma(0.5 * df)
            - special_math_ops.lgamma(half)
        )
        return -half * math_ops.log1p(y**2 / df) - norm

    def _cdf(self, x):
        y = (x - self._loc) / math_ops.abs(self._scale)
        df = self._df * array_ops.ones_like(y)
        half = 0.5 * special_math_ops.betainc(
            0.5 * df, 0.5 * array_ops.ones_like(y), df / (y**2 + df)
        )
        return array_ops.where(y < 0, half, 1 - half)

    def _entropy(self):
        df, half = self._df * self._ones(), 0.5 * (self._df * self._ones() + 1)
        beta = special_math_ops.lgamma(0.5 * df) + math.lgamma(0.5) - special_math_ops.lgamma(half)
        slope = special_math_ops.digamma(half) - special_math_ops.digamma(0.5 * df)
        return (
            math_ops.log(math_ops.abs(self._scale)) + 0.5 * math_ops.log(df) + beta + half * slope
        )

    def _mean(self):
        return self._where_defined(
            self._df > 1, self._loc * self._ones(), "mean not defined for components of df <= 1"
        )

    def _mode(self):
        return array_ops.identity(self._loc)

    def _variance(self):
        ones = self._ones()
        df = self._df * ones
        safe = array_ops.where(df > 2, df - 2, ones)
        finite = math_ops.square(self._scale * ones) * df / safe
        infinite = array_ops.fill(
            array_ops.shape(ones), np.array(np.inf, self.dtype.as_numpy_dtype)
        )
        return self._where_defined(
            self._df > 1,
            array_ops.where(df > 2, finite, infinite),
            "variance not defined for components of df <= 1",
        )


class Uniform(_OfTwo):
    """The uniform distribution on [low, high)."""

    def __init__(
        self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            low, high = float_parameter(low, "low"), float_parameter(high, "high")
            check_ops.assert_same_float_dtype([low, high])
            checks = [check_ops.assert_less(low, high)] if validate_args else []
            self._low, self._high = checked([low, high], checks)
        super().__init__(
            self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._low, self._high], name,
        )  # fmt: skip

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"low": sample_shape, "high": sample_shape}

    def _batch_parameters(self):
        return self._low, self._high

    @property
    def low(self):
        """The lower end."""
        return self._low

    @property
    def high(self):
        """The upper end."""
        return self._high

    def range(self, name="range"):
        """high - low."""
        with name_scope(self.name), name_scope(name):
            return self._high - self._low

    def _sample_n(self, n, seed=None):
        drawn = random_ops.random_uniform(self._batch_with(n), dtype=self.dtype, seed=seed)
        return self._low + self.range() * drawn

    def _prob(self, x):
        x = x * array_ops.ones_like(self._low * self._high)
        density = array_ops.ones_like(x) / self.range()
        outside = math_ops.logical_or(x < self._low, x >= self._high)
        density = array_ops.where(outside, array_ops.zeros_like(x), density)
        return array_ops.where(math_ops.is_nan(x), x, density)

    def _cdf(self, x):
        x = x * array_ops.ones_like(self._low * self._high)
        share = (x - self._low) / self.range()
        share = array_ops.where(x < self._low, array_ops.zeros_like(x), share)
        return array_ops.where(x >= self._high, array_ops.ones_like(x), share)

    def _entropy(self):
        return math_ops.log(self.range())

    def _mean(self):
        return (self._low + self._high) / 2

    def _variance(self):
        return math_ops.square(self.range()) / 12

    def _stddev(self):
        return self.range() / math.sqrt(12)


class Gamma(_OfTwo):
    """The gamma distribution of shape `concentration` and inverse scale `rate`."""

    def __init__(
        self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            both = [float_parameter(concentration, "concentration"), float_parameter(rate, "rate")]
            check_ops.assert_same_float_dtype(both)
            self._concentration, self._rate = positive(both, validate_args)
        super().__init__(
            both[0].dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._concentration, self._rate], name,
        )  # fmt: skip

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"concentration": sample_shape, "rate": sample_shape}

    def _batch_parameters(self):
        return self._concentration, self._rate

    @property
    def concentration(self):
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self):
        """The inverse of the scale."""
        return self._rate

    def _sample_n(self, n, seed=None):
        return random_ops.random_gamma(
            [n], self._concentration, beta=self._rate, dtype=self.dtype, seed=seed
        )

    def _value_checks(self, value):
        return [check_ops.assert_positive(value)]

    def _log_prob(self, x):
        x = self._valid(x)
        a, b = self._concentration, self._rate
        return math_ops.xlogy(a - 1, x) - b * x - (special_math_ops.lgamma(a) - a * math_ops.log(b))

    def _cdf(self, x):
        x = self._valid(x)
        # Igamma does not broadcast.
        ones = array_ops.ones_like(x * self._concentration * self._rate)
        return special_math_ops.igamma(self._concentration * ones, x * self._rate)

    def _entropy(self):
        a = self._concentration
        return (
            a
            - math_ops.log(self._rate)
            + special_math_ops.lgamma(a)
            + (1 - a) * special_math_ops.digamma(a)
        )

    def _mean(self):
        return self._concentration / self._rate

    def _variance(self):
        return self._concentration / math_ops.square(self._rate)

    def _stddev(self):
        return math_ops.sqrt(self._concentration) / self._rate

    def _mode(self):
        mode = (self._concentration - 1) / self._rate
        return self._where_defined(
            self._concentration > 1, mode, "mode not defined when any concentration <= 1"
        )


class Exponential(Gamma):
    """The exponential distribution: a gamma distribution of concentration 1."""

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            rate = float_parameter(rate, "rate")
            super().__init__(
                array_ops.ones([], rate.dtype), rate, validate_args, allow_nan_stats, name
            )
        self._parameters = {
            key: value for key, value in parameters.items() if key not in ("self", "__class__")
        }

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"rate": sample_shape}

    def _sample_n(self, n, seed=None):
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        drawn = random_ops.random_uniform(
            self._batch_with(n), smallest, 1.0, dtype=self.dtype, seed=seed
        )
        return -math_ops.log(drawn) / self._rate

    def _log_survival_function(self, x):
        return self._log_prob(x) - math_ops.log(self._rate)


class Beta(_OfTwo):
    """The beta distribution on (0, 1) of concentrations for 1 and for 0."""

    def __init__(
        self,
        concentration1=None,
        concentration0=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Beta",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            both = [
                float_parameter(concentration1, "concentration1"),
                float_parameter(concentration0, "concentration0"),
            ]
            check_ops.assert_same_float_dtype(both)
            self._one, self._zero = positive(both, validate_args)
            self._total = self._one + self._zero
        super().__init__(
            self._total.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._one, self._zero], name,
        )  # fmt: skip

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"concentration1": sample_shape, "concentration0": sample_shape}

    def _batch_parameters(self):
        return (self._total,)

    @property
    def concentration1(self):
        """The concentration for 1."""
        return self._one

    @property
    def concentration0(self):
        """The concentration for 0."""
        return self._zero

    @property
    def total_concentration(self):
        """The sum of both."""
        return self._total

    def _sample_n(self, n, seed=None):
        ones = array_ops.ones_like(self._total)
        a, b = (
            random_ops.random_gamma([n], ones * one, dtype=self.dtype, seed=own)
            for one, own in ((self._one, seed), (self._zero, new_seed(seed, "beta")))
        )
        return a / (a + b)

    def _value_checks(self, value):
        return [
            check_ops.assert_positive(value, message="sample must be positive"),
            check_ops.assert_less(
                value, constant(1, value.dtype), message="sample must be less than `1`."
            ),
        ]

    def _log_prob(self, x):
        x = self._valid(x)
        top = math_ops.xlogy(self._one - 1, x) + (self._zero - 1) * math_ops.log1p(-x)
        return top - self._log_norm()

    def _log_norm(self):
        one, zero = self._one, self._zero
        return (
            special_math_ops.lgamma(one)
            + special_math_ops.lgamma(zero)
            - special_math_ops.lgamma(self._total)
        )

    def _cdf(self, x):
        ones = array_ops.ones_like(x * self._total)
        return special_math_ops.betainc(self._one * ones, self._zero * ones, x * ones)

    def _entropy(self):
        return (
            self._log_norm()
            - (self._one - 1) * special_math_ops.digamma(self._one)
            - (self._zero - 1) * special_math_ops.digamma(self._zero)
            + (self._total - 2) * special_math_ops.digamma(self._total)
        )

    def _mean(self):
        return self._one / self._total

    def _variance(self):
        return self._mean() * (1 - self._mean()) / (1 + self._total)

    def _mode(self):
        mode = (self._one - 1) / (self._total - 2)
        defined = math_ops.logical_and(self._one > 1, self._zero > 1)
        return self._where_defined(defined, mode, "mode undefined for concentration <= 1")


class Dirichlet(OfConcentrations, Distribution):
    """The Dirichlet distribution of vectors that sum to 1; concentration: (batch) + (k,)."""

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            self._set_concentration(concentration, validate_args)
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters,
            [self._concentration, self._total], name,
        )  # fmt: skip

    def _batch_shape(self):
        return self._total.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._total)

    def _event_shape(self):
        return self._concentration.shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self):
        return array_ops.shape(self._concentration)[-1:]

    def _sample_n(self, n, seed=None):
        drawn = random_ops.random_gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / math_ops.reduce_sum(drawn, -1, keepdims=True)

    def _value_checks(self, value):
        total = math_ops.reduce_sum(value, -1)
        return [
            check_ops.assert_positive(value, message="samples must be positive"),
            check_ops.assert_near(
                total, constant(1, value.dtype), message="sample last-dimension must sum to `1`"
            ),
        ]

    def _log_prob(self, x):
        x = self._valid(x)
        top = math_ops.reduce_sum(math_ops.xlogy(self._concentration - 1, x), -1)
        return top - special_math_ops.lbeta(self._concentration)

    def _entropy(self):
        a, total = self._concentration, self._total
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        return (
            special_math_ops.lbeta(a)
            + (total - k) * special_math_ops.digamma(total)
            - math_ops.reduce_sum((a - 1) * special_math_ops.digamma(a), -1)
        )

    def _mean(self):
        return self._concentration / self._total[..., None]

    def _scale(self):
        return math_ops.rsqrt(1 + self._total[..., None])

    def _variance(self):
        x = self._scale() * self._mean()
        return x * (self._scale() - x)

    def _mode(self):
        k = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self._concentration - 1) / (self._total[..., None] - k)
        defined = math_ops.reduce_all(self._concentration > 1, -1, keepdims=True)
        return self._where_defined(defined, mode, "mode undefined for concentration <= 1")


@RegisterKL(Normal, Normal)
def _normals(a, b, name=None):
    with name_scope(name, "KL_normal_normal", [a.loc, b.loc]):
        one = array_ops.ones([], a.dtype)
        variance, other = math_ops.square(a.scale), math_ops.square(b.scale)
        ratio = variance / other
        distance = math_ops.squared_difference(a.loc, b.loc) / (2 * one * other)
        return distance + 0.5 * one * (ratio - one - math_ops.log(ratio))


@RegisterKL(Gamma, Gamma)
def _gammas(a, b, name=None):
    with name_scope(name, "KL_gamma_gamma", [a.rate, b.rate]):
        return (
            (a.concentration - b.concentration) * special_math_ops.digamma(a.concentration)
            + special_math_ops.lgamma(b.concentration)
            - special_math_ops.lgamma(a.concentration)
            + b.concentration * (math_ops.log(a.rate) - math_ops.log(b.rate))
            + a.concentration * (b.rate / a.rate - 1)
        )


@RegisterKL(Beta, Beta)
def _betas(a, b, name=None):
    with name_scope(name, "kl_beta_beta", [a.total_concentration, b.total_concentration]):
        terms = [
            (getattr(b, field) - getattr(a, field), special_math_ops.digamma(getattr(a, field)))
            for field in ("concentration1", "concentration0", "total_concentration")
        ]
        (one, d_one), (zero, d_zero), (total, d_total) = terms
        return b._log_norm() - a._log_norm() - one * d_one - zero * d_zero + total * d_total


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlets(a, b, name=None):
    with name_scope(name, "kl_dirichlet_dirichlet", [a.concentration, b.concentration]):
        slope = special_math_ops.digamma(a.concentration) - special_math_ops.digamma(
            a.total_concentration[..., None]
        )
        difference = a.concentration - b.concentration
        return (
            math_ops.reduce_sum(difference * slope, -1)
            - special_math_ops.lbeta(a.concentration)
            + special_math_ops.lbeta(b.concentration)
        )
