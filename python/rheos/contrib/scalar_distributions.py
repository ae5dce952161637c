"""Distributions of numbers and of classes that tf.distributions does not have."""

import math

import numpy as np

from rheos.contrib import bijectors
from rheos.contrib.transformed_distributions import TransformedDistribution
from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import check_ops, math_ops, special_math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops
from rheos.ops.random.continuous_distributions import (
    Beta,
    Exponential,
    Gamma,
    Laplace,
    Normal,
    StudentT,
    Uniform,
    _LocationScale,
    _OfTwo,
)
from rheos.ops.random.discrete_distributions import (
    _logits_and_probs,
    _OfProbabilities,
)
from rheos.ops.random.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    checked,
    float_parameter,
    new_seed,
    positive,
    whole_number_checks,
)

_EULER = float(np.euler_gamma)
_lgamma, _digamma = special_math_ops.lgamma, special_math_ops.digamma


def _open_uniform(self, n, seed):
    """Draws above 0 and below 1, (n,) + (batch)."""
    smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
    return random_ops.random_uniform(
        self._batch_with(n), smallest, 1.0, dtype=self.dtype, seed=seed
    )


class _LocationScaleOnly(_LocationScale):
    def __init__(self, loc, scale, validate_args, allow_nan_stats, name, parameters):
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._loc, self._scale], name,
        )  # fmt: skip

    def _ones_scale(self):
        return self._scale * array_ops.ones_like(self._loc)


class Cauchy(_LocationScaleOnly):
    """The Cauchy distribution: no mean, half of it within `scale` of `loc`."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _quantile_of(self, p):
        return self._loc + self._scale * math_ops.tan(np.pi * (p - 0.5))

    def _sample_n(self, n, seed=None):
        uniform = random_ops.random_uniform(self._batch_with(n), dtype=self.dtype, seed=seed)
        return self._quantile_of(uniform)

    def _log_prob(self, x):
        logs = -math_ops.log1p(math_ops.square(self._z(x)))
        return logs - (math.log(np.pi) + math_ops.log(self._scale))

    def _cdf(self, x):
        return math_ops.atan(self._z(x)) / np.pi + 0.5

    def _log_cdf(self, x):
        return math_ops.log1p(2 / np.pi * math_ops.atan(self._z(x))) - math.log(2)

    def _entropy(self):
        return math.log(4 * np.pi) + math_ops.log(self._ones_scale())

    def _quantile(self, p):
        return self._quantile_of(p)

    def _mode(self):
        return self._loc * array_ops.ones_like(self._scale)

    def _mean(self):
        return self._undefined("mean")

    def _stddev(self):
        return self._undefined("standard deviation")

    def _undefined(self, what):
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return array_ops.fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))


class Logistic(_LocationScaleOnly):
    """The logistic distribution: its distribution function is a sigmoid."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n, seed=None):
        uniform = _open_uniform(self, n, seed)
        return (math_ops.log(uniform) - math_ops.log1p(-uniform)) * self._scale + self._loc

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2.0 * nn_ops.softplus(-z) - math_ops.log(self._scale)

    def _log_cdf(self, x):
        return -nn_ops.softplus(-self._z(x))

    def _cdf(self, x):
        return math_ops.sigmoid(self._z(x))

    def _log_survival_function(self, x):
        return -nn_ops.softplus(self._z(x))

    def _survival_function(self, x):
        return math_ops.sigmoid(-self._z(x))

    def _entropy(self):
        return 2 + math_ops.log(self._ones_scale())

    def _stddev(self):
        return self._ones_scale() * (math.pi / math.sqrt(3))


class Gumbel(_LocationScaleOnly):
    """The Gumbel distribution, of the largest of many draws."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Gumbel"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n, seed=None):
        drawn = -math_ops.log(-math_ops.log(_open_uniform(self, n, seed)))
        return drawn * self._scale + self._loc

    def _log_prob(self, x):
        z = self._z(x)
        return -(z + math_ops.exp(-z)) - math_ops.log(self._scale)

    def _log_cdf(self, x):
        return -math_ops.exp(-self._z(x))

    def _cdf(self, x):
        return math_ops.exp(-math_ops.exp(-self._z(x)))

    def _entropy(self):
        return 1 + math_ops.log(self._ones_scale()) + _EULER

    def _mean(self):
        return self._loc + self._scale * _EULER

    def _mode(self):
        return self._loc * array_ops.ones_like(self._scale)

    def _stddev(self):
        return self._ones_scale() * (math.pi / math.sqrt(6))


class HalfNormal(Distribution):
    """The absolute value of a normal distribution of mean 0."""

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            scale = convert_to_tensor(scale, name="scale")
            (self._scale,) = positive([scale], validate_args)
            self._scale = array_ops.identity(self._scale, name="scale")
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._scale], name,
        )  # fmt: skip

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"scale": convert_to_tensor(sample_shape, dtypes.int32)}

    @property
    def scale(self):
        """The standard deviation of the normal distribution."""
        return self._scale

    def _batch_shape(self):
        return self._scale.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._scale)

    def _sample_n(self, n, seed=None):
        drawn = random_ops.random_normal(self._batch_with(n), dtype=self.dtype, seed=seed)
        return math_ops.abs(drawn * self._scale)

    def _prob(self, x):
        factor = math.sqrt(2) / self._scale / math.sqrt(np.pi)
        density = factor * math_ops.exp(-0.5 * (x / self._scale) ** 2)
        return density * math_ops.cast(x >= 0, self.dtype)

    def _cdf(self, x):
        return math_ops.erf(nn_ops.relu(x) / self._scale / math.sqrt(2.0))

    def _entropy(self):
        return 0.5 * math_ops.log(np.pi * self._scale**2.0 / 2.0) + 0.5

    def _mean(self):
        return self._scale * math.sqrt(2) / math.sqrt(np.pi)

    def _quantile(self, p):
        # erfinv(p) is ndtri((p + 1) / 2) / sqrt(2).
        return self._scale * op1("Ndtri", None, (p + 1) / 2)

    def _mode(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self):
        return self._scale**2.0 * (1.0 - 2.0 / np.pi)


class InverseGamma(_OfTwo):
    """1 / x of x that has a gamma distribution of these parameters."""

    def __init__(
        self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            both = [float_parameter(concentration, "concentration"), float_parameter(rate, "rate")]
            check_ops.assert_same_float_dtype(both)
            self._concentration, self._rate = positive(both, validate_args)
        super().__init__(
            both[0].dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._concentration, self._rate], name,
        )  # fmt: skip

    _param_shapes = Gamma._param_shapes
    concentration, rate = Gamma.concentration, Gamma.rate

    def _batch_parameters(self):
        return self._concentration, self._rate

    def _sample_n(self, n, seed=None):
        return 1.0 / random_ops.random_gamma(
            [n], self._concentration, beta=self._rate, dtype=self.dtype, seed=seed
        )

    def _value_checks(self, value):
        return [check_ops.assert_positive(value)]

    def _log_prob(self, x):
        x = self._valid(x)
        a, b = self._concentration, self._rate
        return -(1.0 + a) * math_ops.log(x) - b / x - (_lgamma(a) - a * math_ops.log(b))

    def _cdf(self, x):
        x = self._valid(x)
        ones = array_ops.ones_like(x * self._concentration * self._rate)
        return special_math_ops.igammac(self._concentration * ones, self._rate / x * ones)

    def _entropy(self):
        a = self._concentration
        return a + math_ops.log(self._rate) + _lgamma(a) - (1.0 + a) * _digamma(a)

    def _mean(self):
        a = self._concentration * self._ones()
        safe = array_ops.where(a > 1, a - 1, array_ops.ones_like(a))
        return self._where_defined(
            a > 1, self._rate * self._ones() / safe, "mean undefined when any concentration <= 1"
        )

    def _variance(self):
        a, b = self._concentration * self._ones(), self._rate * self._ones()
        safe = array_ops.where(a > 2, a, 3 * array_ops.ones_like(a))
        spread = math_ops.square(b) / math_ops.square(safe - 1.0) / (safe - 2.0)
        return self._where_defined(a > 2, spread, "variance undefined when any concentration <= 2")

    def _mode(self):
        return self._rate / (1.0 + self._concentration)


class Chi2(Gamma):
    """The sum of the squares of `df` draws of the standard normal distribution."""

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            df = float_parameter(df, "df")
            (self._df,) = positive([df], validate_args)
            super().__init__(
                0.5 * self._df, constant(0.5, df.dtype, name="rate"), validate_args,
                allow_nan_stats, name,
            )  # fmt: skip
        self._parameters = _own(parameters)

    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"df": convert_to_tensor(sample_shape, dtypes.int32)}

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df


def _own(parameters):
    return {key: v for key, v in parameters.items() if key not in ("self", "__class__")}


def _of_changed(name, base, changes, doc):
    """A class like `base`, some of whose arguments go through functions first."""
    names = list(changes)

    def __init__(self, *args, **kwargs):
        given = dict(zip(names, args), **kwargs)
        rest = dict(zip(("validate_args", "allow_nan_stats", "name"), args[len(names) :]))
        given = {**{key: v for key, v in given.items() if key in names}, **rest, **kwargs}
        scope = given.pop("name", name)
        parameters = {"validate_args": False, "allow_nan_stats": True, **given, "name": scope}
        with name_scope(scope, values=[given[key] for key in names]) as scope:
            changed = {key: changes[key](given.pop(key), key) for key in names}
            base.__init__(self, **changed, **given, name=scope)
        self._parameters = parameters

    return type(name, (base,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


def _softplus(value, name):
    return nn_ops.softplus(convert_to_tensor(value), name=f"softplus_{name}")


def _given(value, name):
    return value


def _floor_of_size(value, name):
    return math_ops.floor(math_ops.abs(convert_to_tensor(value)), name=f"abs_{name}")


BetaWithSoftplusConcentration = _of_changed(
    "BetaWithSoftplusConcentration", Beta,
    {"concentration1": _softplus, "concentration0": _softplus},
    "Beta() of the softplus of both concentrations.",
)  # fmt: skip
Chi2WithAbsDf = _of_changed("Chi2WithAbsDf", Chi2, {"df": _floor_of_size}, "Chi2() of floor(|df|).")
ExponentialWithSoftplusRate = _of_changed(
    "ExponentialWithSoftplusRate", Exponential, {"rate": _softplus},
    "Exponential() of the softplus of the rate.",
)  # fmt: skip
GammaWithSoftplusConcentrationRate = _of_changed(
    "GammaWithSoftplusConcentrationRate", Gamma, {"concentration": _softplus, "rate": _softplus},
    "Gamma() of the softplus of both parameters.",
)  # fmt: skip
InverseGammaWithSoftplusConcentrationRate = _of_changed(
    "InverseGammaWithSoftplusConcentrationRate", InverseGamma,
    {"concentration": _softplus, "rate": _softplus},
    "InverseGamma() of the softplus of both parameters.",
)  # fmt: skip
LaplaceWithSoftplusScale = _of_changed(
    "LaplaceWithSoftplusScale", Laplace, {"loc": _given, "scale": _softplus},
    "Laplace() of the softplus of the scale.",
)  # fmt: skip
NormalWithSoftplusScale = _of_changed(
    "NormalWithSoftplusScale", Normal, {"loc": _given, "scale": _softplus},
    "Normal() of the softplus of the scale.",
)  # fmt: skip
StudentTWithAbsDfSoftplusScale = _of_changed(
    "StudentTWithAbsDfSoftplusScale", StudentT,
    {"df": _floor_of_size, "loc": _given, "scale": _softplus},
    "StudentT() of floor(|df|) and the softplus of the scale.",
)  # fmt: skip


# ---- Counts


class Poisson(Distribution):
    """The Poisson distribution; one of rate and log_rate is given, ValueError otherwise."""

    def __init__(
        self, rate=None, log_rate=None, validate_args=False, allow_nan_stats=True, name="Poisson"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                (self._rate,) = positive([float_parameter(rate, "rate", TypeError)], validate_args)
                self._log_rate = math_ops.log(self._rate, name="log_rate")
            else:
                self._log_rate = float_parameter(log_rate, "log_rate", TypeError)
                self._rate = math_ops.exp(self._log_rate, name="rate")
        super().__init__(
            self._rate.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._rate], name,
        )  # fmt: skip

    @property
    def rate(self):
        """The mean."""
        return self._rate

    @property
    def log_rate(self):
        """The logarithm of the mean."""
        return self._log_rate

    def _batch_shape(self):
        return self._rate.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._rate)

    def _value_checks(self, value):
        return whole_number_checks(value)

    def _log_prob(self, x):
        x = self._valid(x)
        return x * self._log_rate - _lgamma(1.0 + x) - self._rate

    def _log_cdf(self, x):
        return math_ops.log(self._cdf(x))

    def _cdf(self, x):
        x = math_ops.maximum(self._valid(x), 0.0)
        ones = array_ops.ones_like(x * self._rate)
        return special_math_ops.igammac((1.0 + x) * ones, self._rate * ones)

    def _mean(self):
        return array_ops.identity(self._rate)

    _variance = _mean

    def _mode(self):
        return math_ops.floor(self._rate)

    def _sample_n(self, n, seed=None):
        return random_ops.random_poisson(self._rate, [n], dtype=self.dtype, seed=seed)


class _OfOdds(_OfProbabilities):
    """A distribution of counts of a probability, of which draws and values are floating point."""

    def _set_odds(self, logits, probs, validate_args):
        self._logits, self._probs = _logits_and_probs(logits, probs, False, validate_args)

    def _value_checks(self, value):
        return whole_number_checks(value)


class Geometric(_OfOdds):
    """How often it fails before it succeeds, with probability `probs`."""

    def __init__(
        self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._set_odds(logits, probs, validate_args)
            (self._probs,) = positive([self._probs], validate_args)
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._probs, self._logits], name,
        )  # fmt: skip

    def _batch_shape(self):
        return self._probs.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._probs)

    def _sample_n(self, n, seed=None):
        uniform = _open_uniform(self, n, seed)
        return math_ops.floor(math_ops.log(uniform) / math_ops.log1p(-self._probs))

    def _cdf(self, counts):
        below = counts < 0
        counts = math_ops.floor(counts)
        # (1 - p)^(k + 1), where p is not 1.
        ones = array_ops.ones_like(counts * self._probs)
        chance = -math_ops.expm1((1.0 + counts) * math_ops.log1p(-self._probs))
        below = math_ops.logical_and(below, array_ops.ones_like(chance, dtypes.bool))
        return array_ops.where(below, array_ops.zeros_like(ones), chance)

    def _log_prob(self, counts):
        counts = self._valid(counts)
        probs = self._probs * array_ops.ones_like(counts)
        counts = counts * array_ops.ones_like(probs)
        # 0 log(0) is 0 for a probability of 1.
        safe = array_ops.where(math_ops.equal(counts, 0.0), array_ops.zeros_like(probs), probs)
        return counts * math_ops.log1p(-safe) + math_ops.log(probs)

    def _entropy(self):
        probs = self._probs
        failing = math_ops.xlogy(1 - probs, 1 - probs)
        return -(failing + probs * math_ops.log(probs)) / probs

    def _mean(self):
        return math_ops.exp(-self._logits)

    def _variance(self):
        return self._mean() / self._probs

    def _mode(self):
        return array_ops.zeros(self.batch_shape_tensor(), self.dtype)


class _OfTotal(_OfOdds):
    """Counts of a total and a probability."""

    @property
    def total_count(self):
        """The total."""
        return self._total_count

    def _batch_shape(self):
        return array_ops.broadcast_static_shape(self._total_count.shape, self._probs.shape)

    def _batch_shape_tensor(self):
        return rearrange_ops.broadcast_dynamic_shape(
            array_ops.shape(self._total_count), array_ops.shape(self._probs)
        )


def _log_one_minus_sigmoid(x):
    return -nn_ops.softplus(x)


class NegativeBinomial(_OfTotal):
    """How often it succeeds, with probability `probs`, before it has failed `total_count` times."""

    def __init__(
        self,
        total_count,
        logits=None,
        probs=None,
        validate_args=False,
        allow_nan_stats=True,
        name="NegativeBinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._set_odds(logits, probs, validate_args)
            (self._total_count,) = positive(
                [float_parameter(total_count, "total_count", TypeError)], validate_args
            )
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._total_count, self._probs, self._logits], name,
        )  # fmt: skip

    def _sample_n(self, n, seed=None):
        # The rate of a Poisson distribution has a gamma distribution.
        rate = random_ops.random_gamma(
            [n], self._total_count * array_ops.ones_like(self._logits),
            beta=math_ops.exp(-self._logits), dtype=self.dtype, seed=seed,
        )  # fmt: skip
        seed = new_seed(seed, "negative_binom")
        return random_ops.random_poisson(rate, [], dtype=self.dtype, seed=seed)

    def _cdf(self, x):
        x = self._valid(x)
        ones = array_ops.ones_like(x * self._total_count * self._probs)
        return special_math_ops.betainc(
            self._total_count * ones, (1.0 + x) * ones, math_ops.sigmoid(-self._logits) * ones
        )

    def _log_prob(self, x):
        x = self._valid(x)
        chance = self._total_count * _log_one_minus_sigmoid(self._logits)
        chance += x * -nn_ops.softplus(-self._logits)
        ways = _lgamma(1.0 + x) + _lgamma(self._total_count) - _lgamma(self._total_count + x)
        return chance - ways

    def _mean(self):
        return self._total_count * math_ops.exp(self._logits)

    def _mode(self):
        larger = math_ops.maximum(self._total_count - 1.0, 0.0)
        return math_ops.floor(larger * math_ops.exp(self._logits))

    def _variance(self):
        return self._mean() / math_ops.sigmoid(-self._logits)


class Binomial(_OfTotal):
    """How often it succeeds, with probability `probs`, in `total_count` times."""

    def __init__(
        self,
        total_count,
        logits=None,
        probs=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Binomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            total_count = float_parameter(total_count, "total_count")
            checks = whole_number_checks(total_count) if validate_args else []
            (self._total_count,) = checked([total_count], checks)
            self._set_odds(logits, probs, validate_args)
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._total_count, self._logits, self._probs], name,
        )  # fmt: skip

    def _value_checks(self, value):
        message = "counts are not less than or equal to n."
        return [
            *whole_number_checks(value),
            check_ops.assert_less_equal(value, self._total_count, message=message),
        ]

    def _log_prob(self, counts):
        counts = self._valid(counts)
        n, p = self._total_count, self._probs
        chance = counts * math_ops.log(p) + (n - counts) * math_ops.log1p(-p)
        return chance - _lgamma(1.0 + counts) - _lgamma(1.0 + n - counts) + _lgamma(1.0 + n)

    def _cdf(self, counts):
        ones = array_ops.ones_like(counts * self._total_count * self._probs)
        n, counts, p = self._total_count * ones, counts * ones, self._probs * ones
        # All of it at the end, whatever betainc() says of a size of 0.
        inside = counts < n
        safe = array_ops.where(inside, counts, array_ops.zeros_like(counts))
        n = array_ops.where(inside, n, ones)
        chance = special_math_ops.betainc(n - safe, safe + 1, 1 - p)
        return array_ops.where(inside, chance, ones)

    def _mean(self):
        return self._total_count * self._probs

    def _variance(self):
        return self._mean() * (1 - self._probs)

    def _mode(self):
        return math_ops.floor((1 + self._total_count) * self._probs)


# ---- One value


class _OneValue(Distribution):
    """All draws are `loc`; what is within atol + rtol |loc| of it counts as it."""

    def __init__(
        self, loc, atol, rtol, is_vector, validate_args, allow_nan_stats, parameters, name
    ):
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc = convert_to_tensor(loc, name="loc")
            if is_vector and loc.shape.ndims == 0:
                raise ValueError("Argument loc must be at least rank 1.")
            self._loc = loc
            self._atol = self._tolerance(atol, "atol", is_vector, validate_args)
            self._rtol = self._tolerance(rtol, "rtol", is_vector, validate_args)
            self._slack = self._atol
            if rtol is not None:
                self._slack = self._atol + self._rtol * math_ops.abs(loc)
        super().__init__(
            loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [loc], name,
        )  # fmt: skip

    def _tolerance(self, value, name, is_vector, validate_args):
        value = convert_to_tensor(0 if value is None else value, self._loc.dtype, name=name)
        if not validate_args:
            return value
        message = f"Argument '{name}' must be non-negative"
        return checked([value], [check_ops.assert_non_negative(value, message=message)])[0]

    @property
    def loc(self):
        """The value."""
        return self._loc

    @property
    def atol(self):
        """What is within of it, at least."""
        return self._atol

    @property
    def rtol(self):
        """What is within of it, relative to its size."""
        return self._rtol

    def _mean(self):
        return array_ops.identity(self._loc)

    def _mode(self):
        return self._mean()

    def _variance(self):
        return array_ops.zeros_like(self._loc)

    def _entropy(self):
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat(
            [[n], self.batch_shape_tensor(), self.event_shape_tensor()], axis=0
        )
        return self._loc * array_ops.ones(shape, dtype=self.dtype)


class Deterministic(_OneValue):
    """A number that is always the same."""

    def __init__(
        self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True,
        name="Deterministic",
    ):  # fmt: skip
        super().__init__(
            loc, atol, rtol, False, validate_args, allow_nan_stats, dict(locals()), name
        )

    def _batch_shape(self):
        return self._loc.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._loc)

    def _prob(self, x):
        return math_ops.cast(math_ops.abs(x - self._loc) <= self._slack, self.dtype)

    def _cdf(self, x):
        return math_ops.cast(x >= self._loc - self._slack, self.dtype)


class VectorDeterministic(_OneValue):
    """A vector that is always the same, (batch) + (k,)."""

    def __init__(
        self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True,
        name="VectorDeterministic",
    ):  # fmt: skip
        super().__init__(
            loc, atol, rtol, True, validate_args, allow_nan_stats, dict(locals()), name
        )

    def _batch_shape(self):
        return self._loc.shape[:-1]

    def _batch_shape_tensor(self):
        return array_ops.shape(self._loc)[:-1]

    def _event_shape(self):
        return self._loc.shape[-1:]

    def _event_shape_tensor(self):
        return array_ops.shape(self._loc)[-1:]

    def _prob(self, x):
        if self.validate_args:
            (x,) = checked([x], [check_ops.assert_rank_at_least(x, 1)])
        fits = math_ops.reduce_all(math_ops.abs(x - self._loc) <= self._slack, axis=-1)
        return math_ops.cast(fits, self.dtype)


# ---- Classes as vectors


class _OfClasses(_OfProbabilities):
    """A distribution of vectors of a size that logits, (batch) + (k,), have."""

    def _set_classes(self, logits, probs, validate_args):
        self._logits, self._probs = _logits_and_probs(logits, probs, True, validate_args)
        known = self._logits.shape.with_rank_at_least(1).size_at(-1)
        size = array_ops.shape(self._logits)[-1] if known is None else known
        self._event_size = convert_to_tensor(size, dtypes.int32, name="event_size")

    @property
    def event_size(self):
        """The number of classes, a tensor."""
        return self._event_size

    def _batch_shape(self):
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self):
        return array_ops.shape(self._logits)[:-1]

    def _event_shape(self):
        return self._logits.shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self):
        return array_ops.shape(self._logits)[-1:]

    def _full_shape(self, n):
        return array_ops.concat([self._batch_with(n), self.event_shape_tensor()], 0)


class OneHotCategorical(_OfClasses):
    """Categorical() whose draws are vectors with a 1 for the class."""

    def __init__(
        self,
        logits=None,
        probs=None,
        dtype=dtypes.int32,
        validate_args=False,
        allow_nan_stats=True,
        name="OneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._set_classes(logits, probs, validate_args)
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._logits, self._probs], name,
        )  # fmt: skip

    def _sample_n(self, n, seed=None):
        logits = array_ops.reshape(self._logits, array_ops.stack([-1, self._event_size]))
        drawn = random_ops.multinomial(logits, n, seed=seed, output_dtype=dtypes.int32)
        drawn = array_ops.reshape(array_ops.transpose(drawn), self._batch_with(n))
        return array_ops.one_hot(drawn, self._event_size, dtype=self.dtype)

    def _value_checks(self, value):
        total = math_ops.cast(math_ops.reduce_sum(value, -1), dtypes.float64)
        return [
            check_ops.assert_non_positive(value - 1),
            check_ops.assert_near(total, constant(1.0, dtypes.float64)),
        ]

    def _log_prob(self, x):
        x = math_ops.cast(self._valid(x), self._logits.dtype)
        x, logits = x * array_ops.ones_like(self._logits), self._logits * array_ops.ones_like(x)
        return -nn_ops.softmax_cross_entropy_with_logits_v2(
            labels=array_ops.stop_gradient(x), logits=logits
        )

    def _entropy(self):
        return -math_ops.reduce_sum(nn_ops.log_softmax(self._logits) * self._probs, axis=-1)

    def _mode(self):
        most = math_ops.argmax(self._logits, axis=-1)
        vector = array_ops.one_hot(most, self._event_size, dtype=self.dtype)
        vector.set_shape(self._logits.shape)
        return vector

    def _covariance(self):
        outer = -self._probs[..., None] * self._probs[..., None, :]
        return rearrange_ops.matrix_set_diag(outer, self._variance())

    def _variance(self):
        return self._probs * (1 - self._probs)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _one_hots(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        difference = nn_ops.log_softmax(a.logits) - nn_ops.log_softmax(b.logits)
        return math_ops.reduce_sum(nn_ops.softmax(a.logits) * difference, -1)


class ExpRelaxedOneHotCategorical(_OfClasses):
    """The logarithm of RelaxedOneHotCategorical()."""

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        dtype=None,
        validate_args=False,
        allow_nan_stats=True,
        name="ExpRelaxedOneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._set_classes(logits, probs, validate_args)
            dtype = self._logits.dtype if dtype is None else dtype
            temperature = convert_to_tensor(temperature, dtype, name="temperature")
            (self._temperature,) = positive([temperature], validate_args)
            self._temperature_2d = self._temperature[..., None]
        super().__init__(
            dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._logits, self._probs, self._temperature], name,
        )  # fmt: skip

    @property
    def temperature(self):
        """How far from one class the draws may be."""
        return self._temperature

    def _sample_n(self, n, seed=None):
        shape = self._full_shape(n)
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        logits = self._logits * array_ops.ones(shape, dtype=self.dtype)
        rows = array_ops.reshape(logits, [-1, self._event_size])
        uniform = random_ops.random_uniform(
            array_ops.shape(rows), minval=smallest, maxval=1, dtype=self.dtype, seed=seed
        )
        noisy = rows - math_ops.log(-math_ops.log(uniform))
        noisy = array_ops.reshape(noisy, shape) / self._temperature_2d
        return nn_ops.log_softmax(noisy)

    def _log_prob(self, x):
        x = self._valid(x)
        x, logits = x * array_ops.ones_like(self._logits), self._logits * array_ops.ones_like(x)
        k = math_ops.cast(self._event_size, x.dtype)
        norm = _lgamma(k) + (k - 1) * math_ops.log(self._temperature)
        logs = nn_ops.log_softmax(logits - x * self._temperature_2d)
        return math_ops.reduce_sum(logs, -1) + norm

    def _value_checks(self, value):
        total = math_ops.reduce_logsumexp(value, axis=-1)
        return [
            check_ops.assert_non_positive(value),
            check_ops.assert_near(array_ops.zeros([], value.dtype), total),
        ]


class _RelaxedDistribution(TransformedDistribution):
    """What a bijector makes of a distribution of logits at a temperature."""

    @property
    def temperature(self):
        """How far from one class the draws may be."""
        return self._temperature


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors that sum to 1 and are near those of OneHotCategorical() for a low temperature.

    Gradients go through the draws (Maddison and others, 2016; Jang and others, 2016).
    """

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        dtype=None,
        validate_args=False,
        allow_nan_stats=True,
        name="RelaxedOneHotCategorical",
    ):
        base = ExpRelaxedOneHotCategorical(
            temperature, logits, probs, dtype, validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
        )  # fmt: skip
        super().__init__(
            base, bijectors.Exp(validate_args=validate_args), validate_args=validate_args,
            name=name,
        )  # fmt: skip


class RelaxedBernoulli(_RelaxedDistribution):
    """Numbers in (0, 1), near those of Bernoulli() for a low temperature."""

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        validate_args=False,
        allow_nan_stats=True,
        name="RelaxedBernoulli",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            temperature = convert_to_tensor(temperature, name="temperature")
            (self._temperature,) = positive([temperature], validate_args)
            self._logits, self._probs = _logits_and_probs(logits, probs, False, validate_args)
            base = Logistic(
                self._logits / self._temperature, 1.0 / self._temperature,
                validate_args=validate_args, allow_nan_stats=allow_nan_stats,
                name=name + "/Logistic",
            )  # fmt: skip
            super().__init__(
                base, bijectors.Sigmoid(validate_args=validate_args), validate_args=validate_args,
                name=name,
            )  # fmt: skip
        self._parameters = _own(parameters)

    logits, probs = _OfProbabilities.logits, _OfProbabilities.probs


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution on (0, 1), near the beta distribution."""

    def __init__(
        self,
        concentration1=None,
        concentration0=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Kumaraswamy",
    ):
        one = float_parameter(concentration1, "concentration1")
        zero = float_parameter(concentration0, "concentration0")
        from_uniform = bijectors.Kumaraswamy(one, zero, validate_args=validate_args)
        low = array_ops.zeros_like(one * zero)
        uniform = Uniform(low, array_ops.ones_like(low), allow_nan_stats=allow_nan_stats)
        super().__init__(uniform, from_uniform, validate_args=validate_args, name=name)

    @property
    def concentration1(self):
        """The concentration for 1."""
        return self.bijector.concentration1

    @property
    def concentration0(self):
        """The concentration for 0."""
        return self.bijector.concentration0

    def _entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = _digamma(b + 1.0) + _EULER
        # TensorFlow's, which has the two the other way round.
        return (1 - 1.0 / a) + (1 - 1.0 / b) * harmonic + math_ops.log(a) + math_ops.log(b)

    def _moment(self, n):
        """The mean of the n-th power."""
        a, b = self.concentration1, self.concentration0
        one = 1 + n / a
        return math_ops.exp(math_ops.log(b) + _lgamma(one) + _lgamma(b) - _lgamma(one + b))

    def _mean(self):
        return self._moment(1)

    def _variance(self):
        return self._moment(2) - math_ops.square(self._moment(1))

    def _mode(self):
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1) / (a * b - 1)) ** (1.0 / a)
        defined = math_ops.logical_and(a > 1.0, b > 1.0)
        return self._where_defined(defined, mode, "Mode undefined for concentration1 <= 1.")


class SinhArcsinh(TransformedDistribution):
    """A normal distribution, or `distribution`, that leans and has other tails.

    loc + scale sinh((arcsinh(z) + skewness) tailweight) 2 / sinh(arcsinh(2) tailweight) of draws z.
    """

    def __init__(
        self,
        loc,
        scale,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="SinhArcsinh",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            loc = convert_to_tensor(loc, name="loc")
            self._loc, self._scale = loc, convert_to_tensor(scale, loc.dtype, name="scale")
            self._tailweight = convert_to_tensor(
                1.0 if tailweight is None else tailweight, loc.dtype, name="tailweight"
            )
            self._skewness = convert_to_tensor(
                0.0 if skewness is None else skewness, loc.dtype, name="skewness"
            )
            shapes = [array_ops.shape(t) for t in
                      (self._loc, self._scale, self._tailweight, self._skewness)]  # fmt: skip
            batch = shapes[0]
            for shape in shapes[1:]:
                batch = rearrange_ops.broadcast_dynamic_shape(batch, shape)
            if distribution is None:
                distribution = Normal(
                    array_ops.zeros([], loc.dtype), array_ops.ones([], loc.dtype),
                    allow_nan_stats=allow_nan_stats,
                )  # fmt: skip
            elif distribution.is_scalar_batch() is None:
                raise ValueError("distribution must have a scalar batch")
            bent = bijectors.SinhArcsinh(skewness=self._skewness, tailweight=self._tailweight)
            plain = bijectors.SinhArcsinh(tailweight=self._tailweight)
            two = convert_to_tensor(2.0, loc.dtype)
            self._stretch = two / plain.forward(two)
            affine = bijectors.AffineScalar(shift=loc, scale=self._scale * self._stretch)
            super().__init__(
                distribution, bijectors.Chain([affine, bent]),
                batch_shape=_known(batch), validate_args=validate_args, name=name,
            )  # fmt: skip
        self._parameters = _own(parameters)

    @property
    def loc(self):
        """Where it is."""
        return self._loc

    @property
    def scale(self):
        """How wide it is."""
        return self._scale

    @property
    def tailweight(self):
        """How heavy its tails are."""
        return self._tailweight

    @property
    def skewness(self):
        """How much it leans."""
        return self._skewness


def _known(shape):
    known = constant_value(shape)
    return shape if known is None else [int(size) for size in known]
