"""Distributions of classes and of counts."""

from rheos.framework import dtypes
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import check_ops, math_ops, special_math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops
from rheos.ops.random.distribution import (
    NOT_REPARAMETERIZED,
    Distribution,
    OfConcentrations,
    RegisterKL,
    checked,
    float_parameter,
    new_seed,
    whole_number_checks,
)


def _logits_and_probs(logits, probs, multidimensional, validate_args):
    """Both of them as tensors, where one of them was given. ValueError for both and for none."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        logits = float_parameter(logits, "logits", TypeError)
        function = nn_ops.softmax if multidimensional else math_ops.sigmoid
        return logits, function(logits, name="probs")
    probs = float_parameter(probs, "probs", TypeError)
    if validate_args:
        checks = [check_ops.assert_non_negative(probs)]
        if multidimensional:
            one = constant(1.0, probs.dtype)
            checks.append(check_ops.assert_near(math_ops.reduce_sum(probs, -1), one))
        else:
            checks.append(check_ops.assert_less_equal(probs, constant(1.0, probs.dtype)))
        (probs,) = checked([probs], checks)
    logits = math_ops.log(probs)
    return (logits if multidimensional else logits - math_ops.log1p(-probs)), probs


def _broadcast(a, b):
    """Both tensors, of the shape to which they broadcast."""
    if a.shape.is_fully_defined() and a.shape == b.shape:
        return a, b
    return a * array_ops.ones_like(b), b * array_ops.ones_like(a)


class _OfProbabilities(Distribution):
    @classmethod
    def _param_shapes(cls, sample_shape):
        return {"logits": sample_shape}

    @property
    def logits(self):
        """The log-odds, or the logarithms of the probabilities."""
        return self._logits

    @property
    def probs(self):
        """The probabilities."""
        return self._probs


class Bernoulli(_OfProbabilities):
    """1 with probability `probs`, the sigmoid of `logits`, and else 0.

    One of the two is given; ValueError for both and for none.
    """

    def __init__(
        self,
        logits=None,
        probs=None,
        dtype=dtypes.int32,
        validate_args=False,
        allow_nan_stats=True,
        name="Bernoulli",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = _logits_and_probs(logits, probs, False, validate_args)
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._logits, self._probs], name,
        )  # fmt: skip

    def _batch_shape(self):
        return self._logits.shape

    def _batch_shape_tensor(self):
        return array_ops.shape(self._logits)

    def _sample_n(self, n, seed=None):
        uniform = random_ops.random_uniform(self._batch_with(n), seed=seed, dtype=self._probs.dtype)
        return math_ops.cast(uniform < self._probs, self.dtype)

    def _value_checks(self, value):
        return [
            *whole_number_checks(value),
            check_ops.assert_less_equal(
                value, constant(1, value.dtype), message="Elements cannot exceed 1."
            ),
        ]

    def _log_prob(self, event):
        event = self._valid(event)
        logits = self._logits
        event = math_ops.cast(event, logits.dtype)
        event, logits = _broadcast(event, logits)
        return -nn_ops.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self):
        return -self._logits * (math_ops.sigmoid(self._logits) - 1) + nn_ops.softplus(-self._logits)

    def _mean(self):
        return array_ops.identity(self._probs)

    def _variance(self):
        return self._mean() * (1 - self._probs)

    def _mode(self):
        return math_ops.cast(self._probs > 0.5, self.dtype)


class Categorical(_OfProbabilities):
    """One of k classes; logits or probs: (batch) + (k,). ValueError for both and for none.

    `dtype`: of the draws, the numbers of the classes.
    """

    def __init__(
        self,
        logits=None,
        probs=None,
        dtype=dtypes.int32,
        validate_args=False,
        allow_nan_stats=True,
        name="Categorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = _logits_and_probs(logits, probs, True, validate_args)
            known = self._logits.shape.with_rank_at_least(1)
            self._batch = known[:-1] if known.ndims is not None else TensorShape(None)
            size = None if known.ndims is None else known.size_at(-1)
            if size is not None:
                self._event_size = constant(size, dtypes.int32, name="event_size")
            else:
                self._event_size = array_ops.shape(self._logits)[-1]
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._logits, self._probs], name,
        )  # fmt: skip

    @property
    def event_size(self):
        """The number of classes, a tensor."""
        return self._event_size

    def _batch_shape(self):
        return self._batch

    def _batch_shape_tensor(self):
        return array_ops.shape(self._logits)[:-1]

    def _sample_n(self, n, seed=None):
        logits = self._logits
        if logits.shape.ndims != 2:
            logits = array_ops.reshape(logits, array_ops.stack([-1, self._event_size]))
        kind = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = random_ops.multinomial(logits, n, seed=seed, output_dtype=kind)
        drawn = array_ops.reshape(array_ops.transpose(drawn), self._batch_with(n))
        return math_ops.cast(drawn, self.dtype)

    def _with_event(self, k, params):
        """(k, params) of one batch shape, which params have before the classes."""
        shape = rearrange_ops.broadcast_dynamic_shape(
            array_ops.shape(k), array_ops.shape(params)[:-1]
        )
        static = array_ops.broadcast_static_shape(k.shape, params.shape[:-1])
        classes = params.shape[-1:]
        k = array_ops.broadcast_to(k, shape)
        params = array_ops.broadcast_to(
            params, array_ops.concat([shape, array_ops.shape(params)[-1:]], 0)
        )
        k.set_shape(static)
        params.set_shape(static.concatenate(classes))
        return k, params

    def _value_checks(self, value):
        return whole_number_checks(value)

    def _log_prob(self, k):
        k = math_ops.cast(self._valid(k), dtypes.int64 if self.dtype.size > 4 else dtypes.int32)
        k, logits = self._with_event(k, self._logits)
        return -nn_ops.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k):
        k = math_ops.cast(self._valid(k), dtypes.int32)
        k, probs = self._with_event(k, self._probs)
        below = rearrange_ops.sequence_mask(k, self._event_size, dtype=probs.dtype)
        return math_ops.reduce_sum(probs * below, -1)

    def _entropy(self):
        return -math_ops.reduce_sum(nn_ops.log_softmax(self._logits) * self._probs, -1)

    def _mode(self):
        return math_ops.cast(math_ops.argmax(self._logits, axis=-1), self.dtype)


class _OfCounts(Distribution):
    """Of how often each of k classes comes in `total_count` draws."""

    def _set_count(self, total_count, validate_args):
        total_count = float_parameter(total_count, "total_count")
        checks = whole_number_checks(total_count) if validate_args else []
        (self._total_count,) = checked([total_count], checks)

    def _value_checks(self, value):
        total = math_ops.reduce_sum(value, -1)
        message = "counts must sum to `self.total_count`"
        return [
            *whole_number_checks(value),
            check_ops.assert_equal(total, self._total_count, message=message),
        ]

    @property
    def total_count(self):
        """The number of draws."""
        return self._total_count

    def _vector(self):
        """A tensor (batch) + (k,)."""
        raise NotImplementedError

    def _batch_shape(self):
        vector = self._vector().shape.with_rank_at_least(1)
        return array_ops.broadcast_static_shape(vector[:-1], self._total_count.shape)

    def _batch_shape_tensor(self):
        return rearrange_ops.broadcast_dynamic_shape(
            array_ops.shape(self._vector())[:-1], array_ops.shape(self._total_count)
        )

    def _event_shape(self):
        return self._vector().shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self):
        return array_ops.shape(self._vector())[-1:]

    def _counts(self, logits, draws, seed):
        """How often each class is drawn; logits: (rows, k), draws: (rows,) of int32."""
        most = math_ops.reduce_max(draws)
        drawn = random_ops.multinomial(logits, most, seed=seed, output_dtype=dtypes.int32)
        k = array_ops.shape(logits)[1]
        counted = rearrange_ops.sequence_mask(draws, most, dtype=self.dtype)
        one_hot = array_ops.one_hot(drawn, k, dtype=self.dtype)
        return math_ops.reduce_sum(one_hot * counted[..., None], axis=1)

    def _flat_draws(self, n):
        """The number of draws of each of n * (batch) rows."""
        count = math_ops.cast(self._total_count, dtypes.int32)
        return array_ops.reshape(array_ops.broadcast_to(count, self._batch_with(n)), [-1])

    def _full_shape(self, n):
        return array_ops.concat([self._batch_with(n), self.event_shape_tensor()], 0)

    def _log_combinations(self, counts):
        """log(n! / (c1! ... ck!))."""
        return special_math_ops.lgamma(self._total_count + 1) - math_ops.reduce_sum(
            special_math_ops.lgamma(counts + 1), -1
        )


class Multinomial(_OfCounts):
    """How often each class comes in `total_count` draws; logits or probs: (batch) + (k,)."""

    def __init__(
        self,
        total_count,
        logits=None,
        probs=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Multinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._set_count(total_count, validate_args)
            self._logits, self._probs = _logits_and_probs(logits, probs, True, validate_args)
            self._mean_value = self._total_count[..., None] * self._probs
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._total_count, self._logits, self._probs], name,
        )  # fmt: skip

    logits = _OfProbabilities.logits
    probs = _OfProbabilities.probs

    def _vector(self):
        return self._logits

    def _sample_n(self, n, seed=None):
        shape = self._full_shape(n)
        logits = array_ops.broadcast_to(self._logits, shape)
        flat = array_ops.reshape(logits, array_ops.stack([-1, shape[-1]]))
        return array_ops.reshape(self._counts(flat, self._flat_draws(n), seed), shape)

    def _log_prob(self, counts):
        counts = self._valid(counts)
        logs = nn_ops.log_softmax(self._logits)
        return math_ops.reduce_sum(counts * logs, -1) + self._log_combinations(counts)

    def _mean(self):
        return array_ops.identity(self._mean_value)

    def _covariance(self):
        p = self._probs * array_ops.ones_like(self._total_count)[..., None]
        outer = math_ops.matmul(self._mean_value[..., None], p[..., None, :])
        return rearrange_ops.matrix_set_diag(-outer, self._variance())

    def _variance(self):
        p = self._probs * array_ops.ones_like(self._total_count)[..., None]
        return self._mean_value - self._mean_value * p


class DirichletMultinomial(OfConcentrations, _OfCounts):
    """Multinomial() whose probabilities are drawn from Dirichlet(concentration)."""

    def __init__(
        self,
        total_count,
        concentration,
        validate_args=False,
        allow_nan_stats=True,
        name="DirichletMultinomial",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._set_count(total_count, validate_args)
            self._set_concentration(concentration, validate_args)
        super().__init__(
            self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters,
            [self._total_count, self._concentration], name,
        )  # fmt: skip

    def _vector(self):
        return self._concentration

    def _sample_n(self, n, seed=None):
        shape = self._full_shape(n)
        alpha = array_ops.broadcast_to(self._concentration, shape)
        gamma = random_ops.random_gamma([], alpha, dtype=self.dtype, seed=seed)
        logits = array_ops.reshape(math_ops.log(gamma), array_ops.stack([-1, shape[-1]]))
        seed = new_seed(seed, "dirichlet_multinomial")
        return array_ops.reshape(self._counts(logits, self._flat_draws(n), seed), shape)

    def _log_prob(self, counts):
        counts = self._valid(counts)
        prior = special_math_ops.lbeta(self._concentration + counts) - special_math_ops.lbeta(
            self._concentration
        )
        return prior + self._log_combinations(counts)

    def _mean(self):
        # As in TensorFlow the counts of a batch have a last dimension of 1 here.
        return self._total_count * (self._concentration / self._total[..., None])

    def _scale(self):
        total = self._total[..., None]
        return math_ops.sqrt((1 + total / self._total_count) / (1 + total))

    def _variance(self):
        x = self._scale() * self._mean()
        return x * (self._total_count * self._scale() - x)


@RegisterKL(Bernoulli, Bernoulli)
def _bernoullis(a, b, name=None):
    with name_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        more = nn_ops.softplus(-b.logits) - nn_ops.softplus(-a.logits)
        less = nn_ops.softplus(b.logits) - nn_ops.softplus(a.logits)
        return a.probs * more + math_ops.sigmoid(-a.logits) * less


@RegisterKL(Categorical, Categorical)
def _categoricals(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        difference = nn_ops.log_softmax(a.logits) - nn_ops.log_softmax(b.logits)
        return math_ops.reduce_sum(nn_ops.softmax(a.logits) * difference, -1)
