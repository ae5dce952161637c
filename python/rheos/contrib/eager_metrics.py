"""Metrics of tf.contrib.eager, which are objects that are called."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.state.variables import Variable as _Variable


class Metric:
    """A number gathered over calls. Subclasses define build(), call() and result()."""

    def __init__(self, name=None, use_global_variables=False):
        self._name = name or type(self).__name__
        self._is_built = False
        self._gathered = []
        self._uses_global_variables = use_global_variables

    def __call__(self, *args, **kwargs):
        if not self._is_built:
            self.build(*args, **kwargs)
            self._is_built = True
        return self.call(*args, **kwargs)

    @property
    def name(self):
        return self._name

    @property
    def variables(self):
        return list(self._gathered)

    def init_variables(self):
        """Sets what was gathered back."""
        for variable, start in zip(self._gathered, self._starts()):
            variable.assign(start)

    def _starts(self):
        return [array_ops.zeros_like(v) for v in self._gathered]

    def add_variable(self, name, shape=None, dtype=None, initializer=None):
        """A variable of the metric; only build() may call it."""
        if self._is_built:
            raise RuntimeError("Can't call add_variable() except in build().")
        dtype = dtypes.as_dtype(dtype or dtypes.float64)
        value = array_ops.zeros(shape or (), dtype)
        if initializer is not None:
            value = initializer(shape or (), dtype=dtype)
        variable = _Variable(value, trainable=False, name=f"{self._name}/{name}")
        self._gathered.append(variable)
        return variable

    def build(self, *args, **kwargs):
        """Makes the variables; called once, with the first call's arguments."""

    def call(self, *args, **kwargs):
        """Gathers."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self):
        """What was gathered, as one number."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self):
        return self.result()

    def aggregate(self, metrics):
        """Gathers what other metrics of this class gathered."""
        raise NotImplementedError("Metrics must define a aggregate() member function")


class Mean(Metric):
    """The mean of all values, weighed."""

    def __init__(self, name=None, dtype=dtypes.float64, use_global_variables=False):
        super().__init__(name, use_global_variables)
        self.dtype = dtypes.as_dtype(dtype)

    def build(self, *args, **kwargs):
        self.numer = self.add_variable("numer", (), self.dtype)
        self.denom = self.add_variable("denom", (), self.dtype)

    def call(self, values, weights=None):
        """Gathers values, and gives them back."""
        given = values
        values = math_ops.cast(values, self.dtype)
        if weights is None:
            self.denom.assign_add(math_ops.cast(array_ops.size(values), self.dtype))
        else:
            weights = math_ops.cast(weights, self.dtype)
            self.denom.assign_add(math_ops.reduce_sum(weights + array_ops.zeros_like(values)))
            values = values * weights
        self.numer.assign_add(math_ops.reduce_sum(values))
        return given if weights is None else (given, weights)

    def aggregate(self, metrics):
        for metric in metrics:
            self.numer.assign_add(metric.numer)
            self.denom.assign_add(metric.denom)

    def result(self):
        return self.numer / self.denom


def _of_one_shape(labels, predictions):
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    check_ops.assert_equal(
        array_ops.shape(labels),
        array_ops.shape(predictions),
        message="Shapes of labels and predictions are unequal",
    )
    return labels, predictions


class _Share(Mean):
    def __init__(self, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)

    def _gather(self, matches, given, weights):
        super().call(math_ops.cast(matches, self.dtype), weights)
        return given if weights is None else (*given, weights)


class Accuracy(_Share):
    """The share of predictions that equal their label."""

    def call(self, labels, predictions, weights=None):
        labels, predictions = _of_one_shape(labels, predictions)
        matches = math_ops.equal(labels, predictions)
        return self._gather(matches, (labels, predictions), weights)


class CategoricalAccuracy(_Share):
    """The share of rows whose largest prediction is that of the one-hot label."""

    def call(self, labels, predictions, weights=None):
        labels, predictions = _of_one_shape(labels, predictions)
        matches = math_ops.equal(math_ops.argmax(labels, -1), math_ops.argmax(predictions, -1))
        return self._gather(matches, (labels, predictions), weights)


class SparseAccuracy(_Share):
    """The share of rows whose largest prediction is at the label's place."""

    def call(self, labels, predictions, weights=None):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        best = math_ops.cast(math_ops.argmax(predictions, -1), labels.dtype)
        return self._gather(math_ops.equal(labels, best), (labels, predictions), weights)


class BinaryAccuracy(_Share):
    """The share of predictions on the same side of a threshold as their label."""

    def __init__(self, threshold, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)
        self.threshold = threshold

    def call(self, labels, predictions, weights=None):
        labels, predictions = _of_one_shape(labels, predictions)
        sides = (x > math_ops.cast(self.threshold, x.dtype) for x in (labels, predictions))
        return self._gather(math_ops.equal(*sides), (labels, predictions), weights)
