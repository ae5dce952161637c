"""Distributions that come of others: by bijectors, as parts of events, as mixtures, in steps."""

import math

import numpy as np

from rheos.contrib import bijectors
from rheos.contrib.distribution_util import SeedStream
from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random.discrete_distributions import Categorical
from rheos.ops.random.distribution import (
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    checked,
    kl_divergence,
)


class ConditionalDistribution(Distribution):
    """A distribution whose methods take more, which goes to the methods that compute."""

    def _of_value(self, name, value, *ways, **conditions):
        with name_scope(self._name), name_scope(name):
            for method, finish in ways:
                if hasattr(self, method):
                    return finish(getattr(self, method)(self._value(value), **conditions))
        raise NotImplementedError(f"{name} is not implemented for {type(self).__name__}")

    def sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
        """Independent draws."""
        self_draw = self._sample_n
        try:
            self._sample_n = lambda n, seed=None: self_draw(n, seed, **condition_kwargs)
            return Distribution.sample(self, sample_shape, seed, name)
        finally:
            del self._sample_n


def _conditional(name, doc):
    ways = {
        "log_prob": (("_log_prob", lambda x: x), ("_prob", math_ops.log)),
        "prob": (("_prob", lambda x: x), ("_log_prob", math_ops.exp)),
        "log_cdf": (("_log_cdf", lambda x: x), ("_cdf", math_ops.log)),
        "cdf": (("_cdf", lambda x: x), ("_log_cdf", math_ops.exp)),
        "log_survival_function": (
            ("_log_survival_function", lambda x: x),
            ("_cdf", lambda x: math_ops.log1p(-x)),
        ),
        "survival_function": (("_survival_function", lambda x: x), ("_cdf", lambda x: 1 - x)),
    }[name]

    def method(self, value, name=name, **condition_kwargs):
        return self._of_value(name, value, *ways, **condition_kwargs)

    method.__name__, method.__doc__ = name, doc
    return method


for _name in ("log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function"):
    _doc = getattr(Distribution, _name).__doc__
    setattr(ConditionalDistribution, _name, _conditional(_name, _doc))


def _given_shape(shape, is_checked, name):
    """(a shape that replaces another as a vector, what is known of it), of None nothing."""
    if shape is None:
        return constant([], dtypes.int32), TensorShape([]), False
    shape = convert_to_tensor(shape, dtypes.int32, name=name)
    if shape.shape.ndims not in (None, 1):
        raise ValueError("shape override must be a vector")
    if is_checked:
        shape = control_flow_ops.with_dependencies(
            [check_ops.assert_non_negative(shape, message="override shape must be non-negative")],
            shape,
        )
    known = constant_value(shape)
    static = TensorShape(
        [None] * (shape.shape.as_list() or [0])[0] if known is None else known.tolist()
    )
    return shape, static, static.ndims != 0


class TransformedDistribution(Distribution):
    """What a bijector makes of draws of another distribution; the identity without one.

    batch_shape, event_shape: of independent draws of a distribution whose own batch (and event)
    shape is (): vectors of scalar draws and the like. ValueError if it is not.
    """

    def __init__(
        self,
        distribution,
        bijector=None,
        batch_shape=None,
        event_shape=None,
        validate_args=False,
        name=None,
    ):
        parameters = dict(locals())
        name = name or (("" if bijector is None else bijector.name) + distribution.name)
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            self._distribution = distribution
            self._bijector = bijectors.Identity() if bijector is None else bijector
            self._batch, self._static_batch, self._has_batch = _given_shape(
                batch_shape, validate_args, "batch_shape"
            )
            self._event, self._static_event, self._has_event = _given_shape(
                event_shape, validate_args, "event_shape"
            )
            self._check_base()
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            distribution.allow_nan_stats, parameters, (), name,
        )  # fmt: skip

    def _check_base(self):
        base = self._distribution
        for given, shape, what in (
            (self._has_batch, base.batch_shape, "batch_shape"),
            (self._has_event, base.event_shape, "event_shape"),
        ):
            if given and shape.ndims not in (None, 0):
                raise ValueError(f"{what} override requires a distribution of scalar {what}")

    @property
    def distribution(self):
        """The other distribution."""
        return self._distribution

    @property
    def bijector(self):
        """What is applied to its draws."""
        return self._bijector

    # ---- Shapes

    def _base_event(self):
        return self._static_event if self._has_event else self._distribution.event_shape

    def _event_shape(self):
        return self._bijector.forward_event_shape(self._base_event())

    def _event_shape_tensor(self):
        own = self._event if self._has_event else self._distribution.event_shape_tensor()
        return self._bijector.forward_event_shape_tensor(own)

    def _batch_shape(self):
        own = self._static_batch if self._has_batch else self._distribution.batch_shape
        return own

    def _batch_shape_tensor(self):
        return self._batch if self._has_batch else self._distribution.batch_shape_tensor()

    def _event_ndims(self):
        ndims = self.event_shape.ndims
        return array_ops.size(self.event_shape_tensor()) if ndims is None else ndims

    def _is_rotated(self):
        """Whether what is drawn has the event before the batch."""
        return self._has_event and not self._has_batch and self._distribution.batch_shape.ndims != 0

    # ---- Values

    def _sample_n(self, n, seed=None, **conditions):
        parts = [self._event if self._has_event else None, [n] if self._is_rotated() else None]
        if not self._is_rotated():
            parts = [[n], self._batch if self._has_batch else None, parts[0]]
        shape = array_ops.concat([part for part in parts if part is not None], 0)
        x = self._distribution.sample(sample_shape=shape, seed=seed, **self._of_base(conditions))
        if self._is_rotated():
            count = self._static_event.ndims
            order = [*range(count, x.shape.ndims), *range(count)]
            x = array_ops.transpose(x, order)
        return self._bijector._call_forward(x, "forward", **self._own(conditions))

    def _of_base(self, conditions):
        return conditions.get("distribution_kwargs") or {}

    def _own(self, conditions):
        return conditions.get("bijector_kwargs") or {}

    def _over_event(self, function, logs):
        """What of each draw of the other distribution comes of one event, together."""
        if not self._has_event:
            return logs
        count = self._static_event.ndims
        return function(logs, list(range(count) if self._is_rotated() else range(-count, 0)))

    def _with_determinant(self, y, method, conditions):
        """[(method of the other distribution at x, log determinant)], for each x of y."""
        b = self._bijector
        x = b._call_inverse(y, "inverse", **self._own(conditions))
        ildj = b._call_inverse_log_det_jacobian(
            y, self._event_ndims(), "inverse_log_det_jacobian", **self._own(conditions)
        )
        pairs = [(x, ildj)] if b._is_injective else list(zip(x, ildj))
        if self._is_rotated():
            pairs = [(self._event_first(x), ildj) for x, ildj in pairs]
        return [
            (getattr(self._distribution, method)(one, **self._of_base(conditions)), determinant)
            for one, determinant in pairs
        ]

    def _event_first(self, x):
        """x with its event before the batch of the other distribution."""
        rank = x.shape.ndims
        first = list(range(rank - self._static_event.ndims, rank))
        return array_ops.transpose(x, first + list(range(rank - len(first))))

    def _shaped(self, result, y):
        ndims = self.event_shape.ndims
        if y.shape.ndims is not None and ndims is not None:
            shape = array_ops.broadcast_static_shape(
                y.shape[: y.shape.ndims - ndims], self.batch_shape
            )
            result.set_shape(shape)
        return result

    def _log_prob(self, y, **conditions):
        rows = [
            self._over_event(math_ops.reduce_sum, logs) + determinant
            for logs, determinant in self._with_determinant(y, "log_prob", conditions)
        ]
        total = rows[0]
        if len(rows) > 1:
            total = math_ops.reduce_logsumexp(array_ops.stack(rows), axis=0)
        return self._shaped(total, y)

    def _prob(self, y, **conditions):
        rows = [
            self._over_event(math_ops.reduce_prod, chances) * math_ops.exp(determinant)
            for chances, determinant in self._with_determinant(y, "prob", conditions)
        ]
        return self._shaped(rows[0] if len(rows) == 1 else math_ops.add_n(rows), y)

    def _scalar(self, what):
        if self._has_event:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self._bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")

    def _of_inverse(self, method, y, conditions):
        self._scalar(method)
        x = self._bijector._call_inverse(y, "inverse", **self._own(conditions))
        return getattr(self._distribution, method)(x, **self._of_base(conditions))

    def _log_cdf(self, y, **conditions):
        return self._of_inverse("log_cdf", y, conditions)

    def _cdf(self, y, **conditions):
        return self._of_inverse("cdf", y, conditions)

    def _log_survival_function(self, y, **conditions):
        return self._of_inverse("log_survival_function", y, conditions)

    def _survival_function(self, y, **conditions):
        return self._of_inverse("survival_function", y, conditions)

    def _quantile(self, value):
        self._scalar("quantile")
        x = self._distribution.quantile(value)
        return self._bijector.forward(x)

    def _constant(self, what):
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError(f"{what} is not implemented for non-constant bijectors")

    def _entropy(self):
        self._constant("entropy")
        if not self._bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        # H(Y) = H(X) + E[log |det dY/dX|], and the determinant is the same everywhere.
        entropy = self._distribution.entropy()
        if self._has_event:
            entropy *= math_ops.cast(math_ops.reduce_prod(self._event), entropy.dtype)
        if self._has_batch:
            entropy = array_ops.broadcast_to(entropy, self._batch)
        shape = array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        nothing = array_ops.zeros(shape, self.dtype)
        nothing.set_shape(self.batch_shape.concatenate(self.event_shape))
        entropy -= self._bijector.inverse_log_det_jacobian(nothing, event_ndims=self._event_ndims())
        entropy.set_shape(self.batch_shape)
        return entropy


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """TransformedDistribution() whose methods take `bijector_kwargs` and `distribution_kwargs`."""


class QuantizedDistribution(Distribution):
    """ceil() of draws of another distribution, between two whole numbers if they are given.

    What would be below `low` is `low`, what would be above `high` is `high`.
    """

    def __init__(
        self, distribution, low=None, high=None, validate_args=False, name="QuantizedDistribution"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            self._dist = distribution
            self._low = None if low is None else self._whole(low, "low")
            self._high = None if high is None else self._whole(high, "high")
            check_ops.assert_same_float_dtype(
                tensors=[t for t in (self._low, self._high) if t is not None],
                dtype=distribution.dtype,
            )
            checks = []
            if self._low is not None and self._high is not None:
                checks.append(check_ops.assert_less(self._low, self._high, message="low must be "
                                                    "strictly less than high."))  # fmt: skip
            if validate_args:
                for end in (self._low, self._high):
                    if end is not None:
                        checks.append(check_ops.assert_equal(end, math_ops.floor(end)))
                if self._low is not None:
                    (self._low,) = checked([self._low], checks)
                if self._high is not None:
                    (self._high,) = checked([self._high], checks)
        super().__init__(
            distribution.dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats,
            parameters, (), name,
        )  # fmt: skip

    def _whole(self, value, name):
        return convert_to_tensor(value, self._dist.dtype, name=name)

    @property
    def distribution(self):
        """The other distribution."""
        return self._dist

    @property
    def low(self):
        """The lowest number, or None."""
        return self._low

    @property
    def high(self):
        """The highest number, or None."""
        return self._high

    def _batch_shape(self):
        return self._dist.batch_shape

    def _batch_shape_tensor(self):
        return self._dist.batch_shape_tensor()

    def _event_shape(self):
        return self._dist.event_shape

    def _event_shape_tensor(self):
        return self._dist.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        drawn = math_ops.ceil(self._dist.sample(n, seed=seed))
        ones = array_ops.ones_like(drawn)
        if self._low is not None:
            drawn = array_ops.where(drawn < self._low, self._low * ones, drawn)
        if self._high is not None:
            drawn = array_ops.where(drawn > self._high, self._high * ones, drawn)
        return drawn

    def _whole_value(self, y):
        """A value, which with validate_args has to be whole."""
        if not self.validate_args:
            return y
        return checked([y], [check_ops.assert_equal(y, math_ops.floor(y))])[0]

    def _bounded(self, result, y, below, above):
        """The result between the ends; `below` the lowest, `above` from the highest on."""
        ones = array_ops.ones_like(result)
        if self._low is not None:
            result = array_ops.where(ones * y < self._low, below * ones, result)
        if self._high is not None:
            result = array_ops.where(ones * y >= self._high, above * ones, result)
        return result

    def _cdf(self, y):
        j = math_ops.floor(self._whole_value(y))
        return self._bounded(self._dist.cdf(j), j, 0.0, 1.0)

    def _log_cdf(self, y):
        j = math_ops.floor(self._whole_value(y))
        return self._bounded(self._dist.log_cdf(j), j, -math.inf, 0.0)

    def _survival_function(self, y):
        j = math_ops.ceil(self._whole_value(y))
        return self._bounded(self._dist.survival_function(j), j, 1.0, 0.0)

    def _log_survival_function(self, y):
        j = math_ops.ceil(self._whole_value(y))
        return self._bounded(self._dist.log_survival_function(j), j, 0.0, -math.inf)

    def _prob(self, y):
        y = self._whole_value(y)
        try:
            above, below = self.survival_function(y), self.cdf(y - 1)
            # The difference of two that are near 0, not of two that are near 1.
            by_tail = self.survival_function(y - 1) - above
            return array_ops.where(above < self.cdf(y), by_tail, self.cdf(y) - below)
        except NotImplementedError:
            return self.cdf(y) - self.cdf(y - 1)

    def _log_prob(self, y):
        y = self._whole_value(y)
        if not hasattr(self._dist, "_log_cdf") and not hasattr(self._dist, "_cdf"):
            raise NotImplementedError("'log_prob' not implemented unless the base distribution "
                                      "implements `log_cdf`")  # fmt: skip
        above, above_before = self.log_survival_function(y), self.log_survival_function(y - 1)
        below, below_before = self.log_cdf(y), self.log_cdf(y - 1)
        by_tail = above < below
        large = array_ops.where(by_tail, above_before, below)
        small = array_ops.where(by_tail, above, below_before)
        return large + math_ops.log1p(-math_ops.exp(small - large))


class Independent(Distribution):
    """A distribution whose last batch dimensions are part of the event.

    reinterpreted_batch_ndims: how many; by default all but the first.
    """

    def __init__(
        self, distribution, reinterpreted_batch_ndims=None, validate_args=False, name=None
    ):
        parameters = dict(locals())
        name = name or "Independent" + distribution.name
        self._distribution = distribution
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                rank = distribution.batch_shape.ndims
                if rank is None:
                    raise ValueError("reinterpreted_batch_ndims must be given for a batch shape "
                                     "of unknown rank")  # fmt: skip
                reinterpreted_batch_ndims = max(0, rank - 1)
            count = constant_value(convert_to_tensor(reinterpreted_batch_ndims, dtypes.int32))
            if count is None:
                raise ValueError("reinterpreted_batch_ndims must be known")
            self._count = int(count)
            rank = distribution.batch_shape.ndims
            if rank is not None and self._count > rank:
                raise ValueError(
                    f"reinterpreted_batch_ndims({self._count}) cannot exceed "
                    f"distribution.batch_ndims({rank})"
                )
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            distribution.allow_nan_stats, parameters, (), name,
        )  # fmt: skip

    @property
    def distribution(self):
        """The other distribution."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self):
        """How many batch dimensions are part of the event."""
        return self._count

    def _split(self, shape):
        rank = shape.ndims
        if rank is None:
            return TensorShape(None), TensorShape(None)
        return shape[: rank - self._count], shape[rank - self._count :]

    def _batch_shape(self):
        return self._split(self._distribution.batch_shape)[0]

    def _batch_shape_tensor(self):
        shape = self._distribution.batch_shape_tensor()
        return shape[: array_ops.size(shape) - self._count]

    def _event_shape(self):
        more = self._split(self._distribution.batch_shape)[1]
        return more.concatenate(self._distribution.event_shape)

    def _event_shape_tensor(self):
        shape = self._distribution.batch_shape_tensor()
        more = shape[array_ops.size(shape) - self._count :]
        return array_ops.concat([more, self._distribution.event_shape_tensor()], 0)

    def _sum(self, x):
        return math_ops.reduce_sum(x, list(range(-self._count, 0))) if self._count else x

    def _sample_n(self, n, seed=None):
        return self._distribution.sample(n, seed=seed)

    def _log_prob(self, x):
        return self._sum(self._distribution.log_prob(x))

    def _entropy(self):
        entropy = self._distribution.entropy()
        if self._count:
            # Of a batch that a parameter does not fill, once for each.
            entropy = array_ops.broadcast_to(entropy, self._distribution.batch_shape_tensor())
        return self._sum(entropy)

    def _mean(self):
        return self._distribution.mean()

    def _variance(self):
        return self._distribution.variance()

    def _stddev(self):
        return self._distribution.stddev()

    def _mode(self):
        return self._distribution.mode()


@RegisterKL(Independent, Independent)
def _independents(a, b, name=None):
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape.as_list() != b.event_shape.as_list():
            raise ValueError("Event shapes do not match.")
        if p.event_shape.as_list() != q.event_shape.as_list():
            raise NotImplementedError("KL between Independents with different event shapes not "
                                      "supported.")  # fmt: skip
    else:
        raise NotImplementedError("KL between Independents of unknown event shapes not supported.")
    with name_scope(name, "kl_independent_independent"):
        return a._sum(kl_divergence(p, q, name=name))


class BatchReshape(Distribution):
    """A distribution with another batch shape, of as many; one size may be -1."""

    def __init__(
        self, distribution, batch_shape, validate_args=False, allow_nan_stats=True, name=None
    ):
        parameters = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with name_scope(name, values=[batch_shape]) as name:
            self._distribution = distribution
            self._given = convert_to_tensor(batch_shape, dtypes.int32, name="batch_shape")
            known = constant_value(self._given)
            count = distribution.batch_shape.num_elements()
            if known is not None and count is not None:
                sizes = [int(size) for size in known]
                if -1 in sizes:
                    rest = int(np.prod([s for s in sizes if s != -1], dtype=np.int64))
                    sizes[sizes.index(-1)] = count // max(rest, 1)
                if int(np.prod(sizes, dtype=np.int64)) != count:
                    raise ValueError(f"`batch_shape` size ({sizes}) must match the original size "
                                     f"({count}).")  # fmt: skip
                self._static = TensorShape(sizes)
                self._given = constant(sizes, dtypes.int32)
            else:
                self._static = TensorShape([None] * (self._given.shape.as_list() or [0])[0])
        super().__init__(
            distribution.dtype, distribution.reparameterization_type, validate_args,
            allow_nan_stats, parameters, (), name,
        )  # fmt: skip

    @property
    def distribution(self):
        """The other distribution."""
        return self._distribution

    def _batch_shape(self):
        return self._static

    def _batch_shape_tensor(self):
        return array_ops.identity(self._given)

    def _event_shape(self):
        return self._distribution.event_shape

    def _event_shape_tensor(self):
        return self._distribution.event_shape_tensor()

    def _reshaped(self, x, before, event=True):
        """x of shape (before) + (batch) + (event), with the other batch shape."""
        parts = [before, self._given] + ([self.event_shape_tensor()] if event else [])
        return array_ops.reshape(x, array_ops.concat(parts, 0))

    def _sample_n(self, n, seed=None):
        return self._reshaped(self._distribution.sample(n, seed=seed), [n])

    def _of_draw(self, method, x):
        """A method of the other distribution, at values of this one's batch shape."""
        tail = self._static.ndims + self.event_shape.ndims
        before = array_ops.shape(x)[: array_ops.rank(x) - tail]
        own = [before, self._distribution.batch_shape_tensor(), self.event_shape_tensor()]
        result = getattr(self._distribution, method)(array_ops.reshape(x, array_ops.concat(own, 0)))
        return self._reshaped(result, before, event=False)

    def _log_prob(self, x):
        return self._of_draw("log_prob", x)

    def _prob(self, x):
        return self._of_draw("prob", x)

    def _cdf(self, x):
        return self._of_draw("cdf", x)

    def _log_cdf(self, x):
        return self._of_draw("log_cdf", x)

    def _survival_function(self, x):
        return self._of_draw("survival_function", x)

    def _log_survival_function(self, x):
        return self._of_draw("log_survival_function", x)

    def _entropy(self):
        return self._reshaped(self._distribution.entropy(), [], event=False)

    def _mean(self):
        return self._reshaped(self._distribution.mean(), [])

    def _mode(self):
        return self._reshaped(self._distribution.mode(), [])

    def _stddev(self):
        return self._reshaped(self._distribution.stddev(), [])

    def _variance(self):
        return self._reshaped(self._distribution.variance(), [])

    def _covariance(self):
        event = self.event_shape_tensor()
        shape = array_ops.concat([self._given, event, event], 0)
        return array_ops.reshape(self._distribution.covariance(), shape)


class Mixture(Distribution):
    """Draws of one of several distributions, which `cat`, a Categorical, says.

    components: a list of distributions of one dtype, batch and event shape. use_static_graph: all
    of them are drawn from and one chosen, instead of as many draws of each as are needed.
    ValueError and TypeError if they do not fit.
    """

    def __init__(
        self,
        cat,
        components,
        validate_args=False,
        allow_nan_stats=True,
        use_static_graph=False,
        name="Mixture",
    ):
        parameters = dict(locals())
        if not isinstance(cat, Categorical):
            raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
        if not components:
            raise ValueError("components must be a non-empty list or tuple")
        if not isinstance(components, (list, tuple)):
            raise TypeError(f"components must be a list or tuple, but saw: {components}")
        if not all(isinstance(one, Distribution) for one in components):
            raise TypeError("all entries in components must be Distribution instances but saw: "
                            f"{components}")  # fmt: skip
        dtype = components[0].dtype
        if not all(one.dtype == dtype for one in components):
            raise TypeError(f"All components must have the same dtype, but saw dtypes: "
                            f"{[(one.name, one.dtype) for one in components]}")  # fmt: skip
        event, batch = components[0].event_shape, cat.batch_shape
        for one in components:
            event = event.merge_with(one.event_shape)
            batch = batch.merge_with(one.batch_shape)
        if event.ndims is None:
            raise ValueError("Expected to know rank(event_shape) from components, but none of the "
                             "components provide a static number of ndims")  # fmt: skip
        with name_scope(name) as name:
            count = cat.event_size
            known = constant_value(count)
            if known is not None and known != len(components):
                raise ValueError(f"cat.num_classes != len(components): {known} vs. "
                                 f"{len(components)}")  # fmt: skip
            self._cat, self._components = cat, list(components)
            self._static_event, self._static_batch = event, batch
            self._use_static_graph = use_static_graph
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, (), name,
        )  # fmt: skip

    @property
    def cat(self):
        """What chooses."""
        return self._cat

    @property
    def components(self):
        """The distributions."""
        return self._components

    @property
    def num_components(self):
        """How many they are, a tensor."""
        return self._cat.event_size

    def _batch_shape(self):
        return self._static_batch

    def _batch_shape_tensor(self):
        return self._cat.batch_shape_tensor()

    def _event_shape(self):
        return self._static_event

    def _event_shape_tensor(self):
        return self._components[0].event_shape_tensor()

    def _weights(self, function):
        """What `function` gives of the logits, one for each component: (batch) each."""
        return array_ops.unstack(function(self._cat.logits), num=len(self._components), axis=-1)

    def _with_event(self, x):
        """Weights, (batch), as factors of events."""
        for _ in range(self._static_event.ndims):
            x = x[..., None]
        return x

    def _mean(self):
        weights = self._weights(nn_ops.softmax)
        return math_ops.add_n([
            self._with_event(weight) * one.mean() for weight, one in zip(weights, self._components)
        ])  # fmt: skip

    def _variance(self):
        # The mean of the variances and the variance of the means.
        weights = [self._with_event(weight) for weight in self._weights(nn_ops.softmax)]
        means = [one.mean() for one in self._components]
        mean = math_ops.add_n([w * m for w, m in zip(weights, means)])
        spread = [w * math_ops.squared_difference(m, mean) for w, m in zip(weights, means)]
        own = [w * one.variance() for w, one in zip(weights, self._components)]
        return math_ops.add_n(own + spread)

    def _stddev(self):
        return math_ops.sqrt(self._variance())

    def _of_all(self, method, x):
        logs = self._weights(nn_ops.log_softmax)
        rows = [log + getattr(one, method)(x) for log, one in zip(logs, self._components)]
        return math_ops.reduce_logsumexp(array_ops.stack(rows, axis=0), axis=0)

    def _log_prob(self, x):
        return self._of_all("log_prob", x)

    def _log_cdf(self, x):
        return self._of_all("log_cdf", x)

    def _sample_n(self, n, seed=None):
        seeds = SeedStream(seed, "Mixture")
        chosen = self._cat.sample(n, seed=seeds())
        drawn = []
        for i, one in enumerate(self._components):
            own = one.sample(n, seed=seeds())
            is_it = self._with_event(math_ops.equal(chosen, i))
            drawn.append(rearrange_ops.where_v2(is_it, own, array_ops.zeros_like(own)))
        return drawn[0] if len(drawn) == 1 else math_ops.add_n(drawn)

    def entropy_lower_bound(self, name="entropy_lower_bound"):
        """The mean of the components' entropies, at most the mixture's."""
        with name_scope(self._name), name_scope(name):
            weights = self._weights(nn_ops.softmax)
            rows = [weight * one.entropy() for weight, one in zip(weights, self._components)]
            return rows[0] if len(rows) == 1 else math_ops.add_n(rows)


class MixtureSameFamily(Distribution):
    """A mixture whose components are the last batch dimension of one distribution."""

    def __init__(
        self,
        mixture_distribution,
        components_distribution,
        validate_args=False,
        allow_nan_stats=True,
        name="MixtureSameFamily",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture, self._components = mixture_distribution, components_distribution
            if not mixture_distribution.dtype.is_integer:
                raise ValueError(f"`mixture_distribution.dtype` ({mixture_distribution.dtype.name})"
                                 " is not over integers")  # fmt: skip
            rank = mixture_distribution.batch_shape.ndims
            batch = components_distribution.batch_shape
            if rank not in (None, 0) and batch.ndims is not None:
                if not mixture_distribution.batch_shape.is_compatible_with(batch[:-1]):
                    raise ValueError(
                        f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) "
                        f"is not compatible with `components_distribution.batch_shape` ({batch})"
                    )
            shape = mixture_distribution.logits.shape
            count = None if shape.ndims is None else shape.as_list()[-1]
            of_components = None if batch.ndims is None else batch.as_list()[-1]
            if None not in (count, of_components) and count != of_components:
                raise ValueError(f"`mixture_distribution components` ({count}) does not equal "
                                 f"`components_distribution.batch_shape[-1]` "
                                 f"({of_components})")  # fmt: skip
            self._ndims = components_distribution.event_shape.ndims
        super().__init__(
            components_distribution.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats,
            parameters, (), name,
        )  # fmt: skip

    @property
    def mixture_distribution(self):
        """What chooses."""
        return self._mixture

    @property
    def components_distribution(self):
        """The components."""
        return self._components

    def _batch_shape(self):
        batch = self._components.batch_shape
        return batch if batch.ndims is None else batch[:-1]

    def _batch_shape_tensor(self):
        return self._components.batch_shape_tensor()[:-1]

    def _event_shape(self):
        return self._components.event_shape

    def _event_shape_tensor(self):
        return self._components.event_shape_tensor()

    def _before_event(self, x):
        """x with a dimension for the components."""
        return array_ops.expand_dims(x, -1 - self._ndims)

    def _with_event(self, x):
        for _ in range(self._ndims):
            x = x[..., None]
        return x

    def _sample_n(self, n, seed=None):
        seeds = SeedStream(seed, "MixtureSameFamily")
        x = self._components.sample(n, seed=seeds())
        chosen = self._mixture.sample(n, seed=seeds())
        if self._mixture.batch_shape.ndims == 0:
            ones = array_ops.ones(self._batch_with(n), chosen.dtype)
            for _ in range(self.batch_shape.ndims):
                chosen = chosen[..., None]
            chosen *= ones
        count = array_ops.shape(self._mixture.logits)[-1]
        mask = self._with_event(array_ops.one_hot(chosen, count, True, False, dtype=dtypes.bool))
        kept = rearrange_ops.where_v2(mask, x, array_ops.zeros_like(x))
        return math_ops.reduce_sum(kept, axis=-1 - self._ndims)

    def _log_weights(self):
        return nn_ops.log_softmax(self._mixture.logits)

    def _log_prob(self, x):
        logs = self._components.log_prob(self._before_event(x))
        return math_ops.reduce_logsumexp(logs + self._log_weights(), axis=-1)

    def _log_cdf(self, x):
        logs = self._components.log_cdf(self._before_event(x))
        return math_ops.reduce_logsumexp(logs + self._log_weights(), axis=-1)

    def _probs(self):
        return self._with_event(nn_ops.softmax(self._mixture.logits))

    def _mean(self):
        return math_ops.reduce_sum(self._probs() * self._components.mean(), -1 - self._ndims)

    def _variance(self):
        axis = -1 - self._ndims
        own = math_ops.reduce_sum(self._probs() * self._components.variance(), axis)
        means = self._components.mean()
        apart = math_ops.squared_difference(means, self._before_event(self._mean()))
        return own + math_ops.reduce_sum(self._probs() * apart, axis)

    def _covariance(self):
        probs = self._probs()[..., None]
        own = math_ops.reduce_sum(probs * self._components.covariance(), -3)
        apart = self._components.mean() - self._before_event(self._mean())
        outer = apart[..., :, None] * apart[..., None, :]
        return own + math_ops.reduce_sum(probs * outer, -3)


class Autoregressive(Distribution):
    """Events whose elements each depend on those before it.

    distribution_fn: of a draw so far to a distribution. sample0: what it begins with, by default a
    draw of distribution_fn(). num_steps: after how many all elements are right, by default the
    number of elements.
    """

    def __init__(
        self,
        distribution_fn,
        sample0=None,
        num_steps=None,
        validate_args=False,
        allow_nan_stats=True,
        name="Autoregressive",
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn, self._sample0 = distribution_fn, sample0
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            self._distribution0 = first
            if num_steps is None:
                num_steps = first.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError("distribution_fn must generate a distribution with fully "
                                     "known `event_shape`.")  # fmt: skip
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        super().__init__(
            first.dtype, first.reparameterization_type, validate_args, allow_nan_stats, parameters,
            (), name,
        )  # fmt: skip

    @property
    def distribution_fn(self):
        """The function."""
        return self._distribution_fn

    @property
    def sample0(self):
        """What it begins with."""
        return self._sample0

    @property
    def num_steps(self):
        """How many steps there are."""
        return self._num_steps

    @property
    def distribution0(self):
        """The first distribution."""
        return self._distribution0

    def _batch_shape(self):
        return self._distribution0.batch_shape

    def _batch_shape_tensor(self):
        return self._distribution0.batch_shape_tensor()

    def _event_shape(self):
        return self._distribution0.event_shape

    def _event_shape_tensor(self):
        return self._distribution0.event_shape_tensor()

    def _sample_n(self, n, seed=None):
        seed = SeedStream(seed, "Autoregressive")()
        drawn = self._distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            # Each step draws the same numbers: what is right already stays.
            drawn = self._distribution_fn(drawn).sample(seed=seed)
        return drawn

    def _log_prob(self, value):
        return self._distribution_fn(value).log_prob(value)
