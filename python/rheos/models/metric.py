"""What every metric is: variables that updates add to, and a result computed of them."""

import numpy as np

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.layers.values import runs_in_session
from rheos.models.shapes_of_losses import (
    Reduction,
    fit_weights,
    mask_of,
    masked_weights,
    same_rank,
)
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.state import state_ops
from rheos.ops.state.variables import VariableAggregation, VariableSynchronization


class Metric(Layer):
    """A metric: update_state() takes a batch, result() gives the value so far.

    Calling it does both. reset_states() sets the variables to zeros.
    """

    def __init__(self, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype or "float32", **kwargs)
        self.stateful = True
        self.built = True

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls, *args, **kwargs)
        made._wrap()
        return made

    def _wrap(self):
        self.update_state = _update_of(self, self.update_state)
        self.result = _result_of(self, self.result)

    def __getstate__(self):
        wrapped = ("update_state", "result")  # a copy has its own
        return {name: value for name, value in vars(self).items() if name not in wrapped}

    def __setstate__(self, state):
        for name in ("update_state", "result"):
            self.__dict__.pop(name, None)
        self.__dict__.update(state)
        self._wrap()

    def add_weight(
        self,
        name=None,
        shape=(),
        aggregation=VariableAggregation.SUM,
        synchronization=VariableSynchronization.ON_READ,
        initializer=None,
        dtype=None,
        **kwargs,
    ):
        """A variable of the metric, which is not trained; zeros by default."""
        if not isinstance(name, (str, type(None))):  # Keras 3 has the shape first
            name, shape = kwargs.pop("name", None), name
        with name_scope(self.name.strip("<>")):
            return super().add_weight(
                name=name,
                shape=shape,
                dtype=dtype or self._dtype,
                trainable=False,
                initializer="zeros" if initializer is None else initializer,
                synchronization=synchronization,
                aggregation=aggregation,
            )

    add_variable = add_weight

    def update_state(self, *args, **kwargs):
        """Adds a batch to the variables."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self):
        """The value so far."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def reset_states(self):
        """Forgets all batches."""
        self.reset_state()

    def reset_state(self):
        """Forgets all batches."""
        if type(self).reset_states is not Metric.reset_states:
            self.reset_states()
        else:
            values.set_values((v, np.zeros(v.shape.as_list())) for v in self.variables)

    def __call__(self, *args, **kwargs):
        """The result after adding a batch."""
        update = self.update_state(*args, **kwargs)
        with control_dependencies(values.operations([update])):
            result = self.result()
        result = array_ops.identity(result)
        if values.runs_in_session():
            result._metric_obj = self
        return result

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}


def _update_of(metric, function):
    def update_state(*args, **kwargs):
        with name_scope("metrics/" + metric.name.strip("<>")):
            update = function(*args, **kwargs)
        if update is not None and values.runs_in_session():
            metric.add_update(update)
        return update

    update_state.__doc__ = function.__doc__
    return update_state


def _result_of(metric, function):
    def result():
        return function()

    result.__doc__ = function.__doc__
    return result


def add_to(*pairs):
    """Adds to variables: pairs of a variable and a tensor. Returns what to wait for."""
    updates = [state_ops.assign_add(variable, value) for variable, value in pairs]
    if not values.runs_in_session():
        return None
    return control_flow_ops.group(*values.operations(updates))


class Reduce(Metric):
    """A sum or a mean of values, with weights."""

    def __init__(self, reduction, name, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        self.total = self.add_weight("total")
        if reduction != Reduction.SUM:
            self.count = self.add_weight("count")

    def update_state(self, values, sample_weight=None):
        """Adds values; sample_weight: of each, or of each row."""
        if not runs_in_session():
            return self._add_samples(values, sample_weight)
        values = math_ops.cast(convert_to_tensor(values), self._dtype)
        weights = None
        if sample_weight is not None:
            weights = math_ops.cast(convert_to_tensor(sample_weight), self._dtype)
            weights = fit_weights(values, weights)
            values, weights = _broadcast(values, weights)
            values = math_ops.multiply(values, weights)
        pairs = [(self.total, math_ops.reduce_sum(values))]
        if self.reduction == Reduction.SUM_OVER_BATCH_SIZE:
            pairs.append((self.count, math_ops.cast(array_ops.size(values), self._dtype)))
        elif self.reduction != Reduction.SUM:
            count = array_ops.size(values) if weights is None else math_ops.reduce_sum(weights)
            pairs.append((self.count, math_ops.cast(count, self._dtype)))
        return add_to(*pairs)

    def _add_samples(self, given, weights):
        """Adds what is there of each row of values, as Keras 3 weighs rows."""
        is_sum = self.reduction == Reduction.SUM
        found, weights = _of_rows(
            given, weights, math_ops.reduce_sum if is_sum else math_ops.reduce_mean, self._dtype
        )
        pairs = [(self.total, math_ops.reduce_sum(found))]
        if not is_sum:
            if weights is not None:
                count = math_ops.reduce_sum(weights)
            else:
                count = array_ops.shape(found)[0] if found.shape.ndims != 0 else 1
            pairs.append((self.count, math_ops.cast(count, self._dtype)))
        return add_to(*pairs)

    def result(self):
        """The value so far."""
        if self.reduction == Reduction.SUM:
            return array_ops.identity(self.total)
        return math_ops.div_no_nan(self.total, self.count)


def _broadcast(x, weights):
    """Values and weights of one shape; where ranks differ, values are first averaged to theirs."""
    rank, found = x.shape.ndims, weights.shape.ndims
    if found is not None and rank is not None and 0 < found < rank:
        x = math_ops.reduce_mean(x, axis=list(range(found, rank)))
    return x, weights * array_ops.ones_like(x)


def _of_rows(given, weights, reduce, dtype):
    """(values, weights) of the rows of values; without weights these are None.

    Where values have more dimensions than their weights, those are reduced first.
    """
    found = math_ops.cast(convert_to_tensor(given), dtype)
    if weights is not None:
        mask = mask_of(given)
        weights = masked_weights(math_ops.cast(convert_to_tensor(weights), dtype), mask, dtype)
        found, weights = same_rank(found, weights)
        rank, more = weights.shape.ndims, found.shape.ndims
        if rank is None or more is None:
            raise ValueError("the rank of a metric's values and weights has to be known")
        if more > rank:
            found = reduce(found, axis=list(range(rank, more)))
        weights = array_ops.broadcast_to(weights, array_ops.shape(found))
        found = found * weights
        if rank > 1:
            weights = reduce(weights, axis=list(range(1, rank)))
    rank = found.shape.ndims
    if rank is not None and rank > 1:
        found = reduce(found, axis=list(range(1, rank)))
    return found, weights


class Sum(Reduce):
    """The weighted sum of values."""

    def __init__(self, name="sum", dtype=None):
        super().__init__(Reduction.SUM, name, dtype)


class Mean(Reduce):
    """The weighted mean of values.

    >>> mean = tf.keras.metrics.Mean()
    >>> mean.update_state([1.0, 3.0])
    >>> print(mean.result().numpy())
    2.0
    """

    def __init__(self, name="mean", dtype=None):
        super().__init__("weighted_mean", name, dtype)


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name or getattr(fn, "__name__", None), dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions; sample_weight: of each of them."""
        mask = None if runs_in_session() else mask_of(y_pred)
        y_true, y_pred = self._fitted(y_true, y_pred)
        matches = self._fn(y_true, y_pred, **self._fn_kwargs)
        sample_weight = masked_weights(sample_weight, mask, self._dtype)
        return Mean.update_state(self, matches, sample_weight)

    def _fitted(self, y_true, y_pred):
        return convert_to_tensor(y_true), math_ops.cast(convert_to_tensor(y_pred), self._dtype)

    def get_config(self):
        return {**super().get_config(), **self._fn_kwargs}


def mean_metric(name):
    """A metric of the mean of values."""
    return Mean(name=name)
