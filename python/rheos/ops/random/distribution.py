"""Probability distributions: what all of them have, and divergences between two of them.

A distribution stands for a batch of independent ones: its parameters broadcast to the batch shape.
A value that is drawn from one has the event shape. Methods take values of shape (sample shape) +
(batch shape) + (event shape), and give results without the event shape.
"""

import functools
import hashlib
import inspect

import numpy as np

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import check_ops, math_ops


class ReparameterizationType:
    """Whether gradients go through samples of a distribution to its parameters."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return f"<Reparameteriation Type: {self._rep_type}>"

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def new_seed(seed, salt):
    """Another seed, for the second source of numbers of one sample."""
    if seed is None:
        return None
    digest = hashlib.md5((str(seed) + salt).encode()).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def float_parameter(value, name, error=ValueError):
    """A parameter as a tensor; an error of this kind if it is not floating point."""
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_floating:
        raise error(f"Argument {name} must be floating point, not {tensor.dtype.name}.")
    return tensor


def checked(tensors, checks):
    """The tensors, which wait for the checks."""
    checks = [check for check in checks if check is not None]
    if not checks:
        return tensors
    return [control_flow_ops.with_dependencies(checks, tensor) for tensor in tensors]


def positive(tensors, validate_args):
    """The tensors; with validate_args it is an error when they run and are not above 0."""
    if not validate_args:
        return tensors
    return checked(tensors, [check_ops.assert_positive(tensor) for tensor in tensors])


def whole_number_checks(tensor):
    """Assertions that numbers are whole and at least 0."""
    checks = [check_ops.assert_non_negative(tensor)]
    if tensor.dtype.is_floating:
        whole = math_ops.floor(tensor)
        checks.append(check_ops.assert_equal(tensor, whole, message="must be whole numbers"))
    return checks


def broadcast_shape(*tensors):
    """The static shape of tensors that broadcast with each other."""
    return functools.reduce(array_ops.broadcast_static_shape, (t.shape for t in tensors))


def broadcast_shape_tensor(*tensors):
    """The shape of tensors that broadcast with each other, as it is in a step."""
    shapes = [array_ops.shape(tensor) for tensor in tensors]
    return functools.reduce(rearrange_ops.broadcast_dynamic_shape, shapes)


def _number_of_samples(sample_shape):
    """(the shape as a vector, the product of its sizes)."""
    shape = convert_to_tensor(sample_shape, dtypes.int32, "sample_shape")
    known = constant_value(shape)
    if shape.shape.ndims is not None and shape.shape.ndims > 1:
        raise ValueError(f"sample_shape must be a scalar or a vector, not {shape.shape}.")
    if known is not None:
        sizes = np.reshape(known, [-1])
        if np.ndim(known) == 0:
            shape = constant(sizes, dtypes.int32, name="sample_shape")
        return shape, int(np.prod(sizes, dtype=np.int64))
    if shape.shape.ndims != 1:
        shape = array_ops.reshape(shape, [-1])
    return shape, math_ops.reduce_prod(shape)


class Distribution:
    """A batch of probability distributions.

    Subclasses compute: _log_prob or _prob, _cdf or _log_cdf, _sample_n, _mean and so on; whatever
    follows from those is here. NotImplementedError for what a distribution does not have.
    """

    def __init__(
        self,
        dtype,
        reparameterization_type,
        validate_args,
        allow_nan_stats,
        parameters=None,
        graph_parents=None,
        name=None,
    ):
        for parent in graph_parents or ():
            if parent is None or not hasattr(parent, "graph"):
                raise ValueError(f"Graph parent item is not a Tensor; {parent}.")
        self._dtype = dtypes.as_dtype(dtype) if dtype is not None else None
        self._reparameterization_type = reparameterization_type
        self._validate_args = validate_args
        self._allow_nan_stats = allow_nan_stats
        self._parameters = {
            key: value
            for key, value in (parameters or {}).items()
            if key not in ("self", "__class__")
        }
        name = name or type(self).__name__
        if not name.endswith("/"):
            with name_scope(name) as name:
                pass
        self._name = name

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        """{parameter: shape} that gives samples of shape `sample_shape`."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(convert_to_tensor(sample_shape, dtypes.int32))

    @classmethod
    def _param_shapes(cls, sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """param_shapes() as TensorShapes; ValueError if `sample_shape` is not fully known."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        shapes = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            known = constant_value(convert_to_tensor(shape, dtypes.int32))
            if known is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            shapes[name] = TensorShape(known.tolist())
        return shapes

    @property
    def name(self):
        """The name scope of its operations, which ends in "/"."""
        return self._name

    @property
    def dtype(self):
        """The dtype of what is drawn."""
        return self._dtype

    @property
    def parameters(self):
        """What it was made from, by name."""
        return dict(self._parameters)

    @property
    def reparameterization_type(self):
        """FULLY_REPARAMETERIZED or NOT_REPARAMETERIZED."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self):
        """Whether what is not defined is NaN, rather than an error when it runs."""
        return self._allow_nan_stats

    @property
    def validate_args(self):
        """Whether wrong parameters and values are errors when it runs."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs):
        """The same distribution with some parameters changed."""
        return type(self)(**{**self._parameters, **override_parameters_kwargs})

    @property
    def batch_shape(self):
        """The static batch shape."""
        return self._batch_shape()

    @property
    def event_shape(self):
        """The static event shape."""
        return self._event_shape()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The batch shape, a vector."""
        with name_scope(self._name), name_scope(name):
            known = self.batch_shape
            if known.is_fully_defined():
                return constant(known.as_list(), dtypes.int32, name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name="event_shape_tensor"):
        """The event shape, a vector."""
        with name_scope(self._name), name_scope(name):
            known = self.event_shape
            if known.is_fully_defined():
                return constant(known.as_list(), dtypes.int32, name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name="is_scalar_event"):
        """Whether the event shape is (), a tensor."""
        return self._is_scalar(self.event_shape, self.event_shape_tensor, name)

    def is_scalar_batch(self, name="is_scalar_batch"):
        """Whether the batch shape is (), a tensor."""
        return self._is_scalar(self.batch_shape, self.batch_shape_tensor, name)

    def _is_scalar(self, static, dynamic, name):
        with name_scope(self._name), name_scope(name):
            if static.ndims is not None:
                return constant(static.ndims == 0)
            return math_ops.equal(array_ops.size(dynamic()), 0)

    def _event_shape(self):
        return TensorShape([])

    def _event_shape_tensor(self):
        return constant([], dtypes.int32)

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Independent draws, (sample_shape) + (batch shape) + (event shape)."""
        with name_scope(self._name), name_scope(name):
            shape, count = _number_of_samples(sample_shape)
            drawn = self._sample_n(count, seed)
            rest = array_ops.shape(drawn)[1:]
            drawn = array_ops.reshape(drawn, array_ops.concat([shape, rest], 0))
            known = constant_value(shape)
            if known is not None:
                tail = self.batch_shape.concatenate(self.event_shape)
                drawn.set_shape(TensorShape(known.tolist()).concatenate(tail))
            return drawn

    def _batch_with(self, count):
        """The shape (count,) + (batch shape), for `count` draws."""
        return array_ops.concat([[count], self.batch_shape_tensor()], 0)

    def _sample_n(self, n, seed=None):
        raise NotImplementedError("sample_n is not implemented")

    def _value(self, value):
        return convert_to_tensor(value, name="value", preferred_dtype=self.dtype)

    def _value_checks(self, value):
        """Assertions that a draw could have given `value`."""
        return []

    def _valid(self, value):
        """The value; with validate_args it is an error when it runs and cannot be a draw."""
        return checked([value], self._value_checks(value))[0] if self._validate_args else value

    def _of_value(self, name, value, *ways):
        """The first way that the distribution has: (its method, what makes the result of it)."""
        with name_scope(self._name), name_scope(name):
            for method, finish in ways:
                if hasattr(self, method):
                    return finish(getattr(self, method)(self._value(value)))
        raise NotImplementedError(f"{name} is not implemented for {type(self).__name__}")

    def log_prob(self, value, name="log_prob"):
        """The logarithm of the density, or of the probability, at `value`."""
        return self._of_value(name, value, ("_log_prob", _same), ("_prob", math_ops.log))

    def prob(self, value, name="prob"):
        """The density, or the probability, at `value`."""
        return self._of_value(name, value, ("_prob", _same), ("_log_prob", math_ops.exp))

    def log_cdf(self, value, name="log_cdf"):
        """The logarithm of cdf()."""
        return self._of_value(name, value, ("_log_cdf", _same), ("_cdf", math_ops.log))

    def cdf(self, value, name="cdf"):
        """The probability that a draw is at most `value`."""
        return self._of_value(name, value, ("_cdf", _same), ("_log_cdf", math_ops.exp))

    def log_survival_function(self, value, name="log_survival_function"):
        """The logarithm of survival_function()."""
        return self._of_value(
            name,
            value,
            ("_log_survival_function", _same),
            ("_log_cdf", lambda x: math_ops.log1p(-math_ops.exp(x))),
            ("_cdf", lambda x: math_ops.log1p(-x)),
        )

    def survival_function(self, value, name="survival_function"):
        """The probability that a draw is above `value`."""
        return self._of_value(
            name,
            value,
            ("_survival_function", _same),
            ("_log_survival_function", math_ops.exp),
            ("_cdf", lambda x: 1 - x),
            ("_log_cdf", lambda x: 1 - math_ops.exp(x)),
        )

    def quantile(self, value, name="quantile"):
        """Where cdf() is `value`."""
        return self._of_value(name, value, ("_quantile", _same))

    def _statistic(self, method, name):
        with name_scope(self._name), name_scope(name):
            if hasattr(self, method):
                return getattr(self, method)()
        raise NotImplementedError(f"{name} is not implemented for {type(self).__name__}")

    def entropy(self, name="entropy"):
        """The entropy in nats."""
        return self._statistic("_entropy", name)

    def mean(self, name="mean"):
        """The mean."""
        return self._statistic("_mean", name)

    def mode(self, name="mode"):
        """The most likely value."""
        return self._statistic("_mode", name)

    def covariance(self, name="covariance"):
        """The covariance of the elements of an event of rank 1."""
        return self._statistic("_covariance", name)

    def variance(self, name="variance"):
        """The variance."""
        if not hasattr(self, "_variance") and hasattr(self, "_stddev"):
            return math_ops.square(self._statistic("_stddev", name))
        return self._statistic("_variance", name)

    def stddev(self, name="stddev"):
        """The standard deviation."""
        if not hasattr(self, "_stddev") and hasattr(self, "_variance"):
            return math_ops.sqrt(self._statistic("_variance", name))
        return self._statistic("_stddev", name)

    def kl_divergence(self, other, name="kl_divergence"):
        """The Kullback-Leibler divergence to another distribution."""
        with name_scope(self._name), name_scope(name):
            return kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other, name="cross_entropy"):
        """The cross entropy with another distribution: entropy() + kl_divergence()."""
        with name_scope(self._name), name_scope(name):
            return self.entropy() + kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def _where_defined(self, condition, value, message):
        """value where the condition holds; elsewhere NaN, or an error when it runs."""
        if self.allow_nan_stats:
            nan = array_ops.fill(
                array_ops.shape(value), np.array(np.nan, value.dtype.as_numpy_dtype)
            )
            condition = math_ops.logical_and(condition, array_ops.ones_like(value, dtypes.bool))
            return array_ops.where(condition, value, nan)
        return checked(
            [value], [control_flow_ops.Assert(math_ops.reduce_all(condition), [message])]
        )[0]

    def __str__(self):
        return (
            f'tfp.distributions.{type(self).__name__}("{self.name}", '
            f"batch_shape={self.batch_shape}, event_shape={self.event_shape}, "
            f"dtype={self.dtype.name})"
        )

    def __repr__(self):
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' "
            f"batch_shape={self.batch_shape} event_shape={self.event_shape} "
            f"dtype={self.dtype.name}>"
        )


class OfConcentrations:
    """What the distributions made from concentrations, (batch) + (k,), have in common.

    _scale() is such that _scale() * _mean() is the vector whose outer product the covariances are.
    """

    def _set_concentration(self, concentration, validate_args):
        concentration = float_parameter(concentration, "concentration")
        (self._concentration,) = positive([concentration], validate_args)
        self._total = math_ops.reduce_sum(self._concentration, -1)

    @property
    def concentration(self):
        """The concentration of each class."""
        return self._concentration

    @property
    def total_concentration(self):
        """The sum of the concentrations."""
        return self._total

    def _covariance(self):
        x = self._scale() * self._mean()
        outer = math_ops.matmul(-x[..., None], x[..., None, :])
        return rearrange_ops.matrix_set_diag(outer, self._variance())


def _same(x):
    return x


_DIVERGENCES = {}


class RegisterKL:
    """A decorator for the function that computes the divergence of two classes.

    The function takes the two distributions and `name`. ValueError if the pair has one already,
    TypeError if it is not a function.
    """

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            raise ValueError(
                f"KL({self._key[0].__name__} || {self._key[1].__name__}) has already been "
                f"registered to: {_DIVERGENCES[self._key]}"
            )
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def _divergence_of(a, b):
    """The function for the closest classes that two classes are of; None if there is none."""
    found = [
        (i + k, _DIVERGENCES[x, y])
        for i, x in enumerate(inspect.getmro(a))
        for k, y in enumerate(inspect.getmro(b))
        if (x, y) in _DIVERGENCES
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """The Kullback-Leibler divergence of two batches of distributions, of their batch shape.

    allow_nan_stats: if not, NaN is an InvalidArgumentError when it runs. NotImplementedError if no
    function is registered for the two.
    """
    function = _divergence_of(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type "
            f"{type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        value = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return value
        fine = math_ops.logical_not(math_ops.reduce_any(math_ops.is_nan(value)))
        message = "KL calculation returned NaN values"
        return checked([value], [control_flow_ops.Assert(fine, [message])])[0]
