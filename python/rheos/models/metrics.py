"""Metrics of labels and predictions: accuracies, errors, and others that are means."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.layers import values
from rheos.models import losses, objects
from rheos.models.losses import (  # noqa: F401
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine,
    cosine_proximity,
    hinge,
    kl_divergence,
    kld,
    kullback_leibler_divergence,
    logcosh,
    mae,
    mape,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from rheos.models.metric import (
    Mean,
    MeanMetricWrapper,
    Metric,
    Sum,
    add_to,
)
from rheos.models.shapes_of_losses import as_floats, same_rank, squeeze_last
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops, statistics_ops
from rheos.ops.nn import nn_ops, weights_broadcast_ops

_metric = objects.known("metric function")
objects.table("metric function").update(objects.table("loss function"))
objects.table("metric function").update(
    {"Metric": Metric, "Mean": Mean, "Sum": Sum, "MeanMetricWrapper": MeanMetricWrapper}
)


# ---- Functions


def _floats_of(is_right):
    return math_ops.cast(is_right, dtypes.float32)


def _fitted(y_true, y_pred):
    """Labels and predictions of the same rank, where one has a last dimension of 1 too many."""
    if values.runs_in_session():
        return squeeze_last(y_true, y_pred)
    return same_rank(convert_to_tensor(y_true), convert_to_tensor(y_pred))


def accuracy(y_true, y_pred):
    """1 where labels and predictions are equal."""
    y_true, y_pred = _fitted(y_true, y_pred)
    y_true = math_ops.cast(y_true, y_pred.dtype)
    return _floats_of(math_ops.equal(y_true, y_pred))


@_metric
def binary_accuracy(y_true, y_pred, threshold=0.5):
    """1 where predictions are above the threshold and labels 1, or neither.

    TensorFlow 1 has the mean of that along the last axis.
    """
    y_pred = convert_to_tensor(y_pred)
    if not values.runs_in_session():
        y_true, y_pred = _fitted(y_true, as_floats(y_pred))
    found = math_ops.cast(y_pred > math_ops.cast(threshold, y_pred.dtype), y_pred.dtype)
    y_true = math_ops.cast(convert_to_tensor(y_true), y_pred.dtype)
    matches = _floats_of(math_ops.equal(y_true, found))
    return math_ops.reduce_mean(matches, axis=-1) if values.runs_in_session() else matches


@_metric
def categorical_accuracy(y_true, y_pred):
    """1 where the largest prediction is where the one-hot label is."""
    right = math_ops.argmax(y_true, axis=-1)
    return _floats_of(math_ops.equal(right, math_ops.argmax(y_pred, axis=-1)))


@_metric
def sparse_categorical_accuracy(y_true, y_pred):
    """1 where the largest prediction is that of the label's number."""
    y_pred, y_true = convert_to_tensor(y_pred), convert_to_tensor(y_true)
    rank, label_rank = y_pred.shape.ndims, y_true.shape.ndims
    if rank is not None and label_rank is not None and rank == label_rank:
        y_true = array_ops.squeeze(y_true, [-1])
    found = math_ops.argmax(y_pred, axis=-1)
    return _floats_of(math_ops.equal(math_ops.cast(y_true, found.dtype), found))


def _in_top_k(y_pred, numbers, k):
    shape = array_ops.shape(numbers)
    rank = numbers.shape.ndims
    y_pred = array_ops.reshape(y_pred, [-1, array_ops.shape(y_pred)[-1]])
    numbers = math_ops.cast(array_ops.reshape(numbers, [-1]), dtypes.int32)
    found = _floats_of(nn_ops.in_top_k(y_pred, numbers, k))
    return found if values.runs_in_session() or rank in (0, 1) else array_ops.reshape(found, shape)


@_metric
def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """1 where the one-hot label is among the k largest predictions."""
    y_pred = convert_to_tensor(y_pred)
    return _in_top_k(y_pred, math_ops.argmax(y_true, axis=-1), k)


@_metric
def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    """1 where the label's number is among those of the k largest predictions.

    from_sorted_ids: whether predictions are numbers of classes, the likeliest first.
    """
    if from_sorted_ids:
        y_pred = convert_to_tensor(y_pred)
        y_true = math_ops.cast(convert_to_tensor(y_true), y_pred.dtype)
        matches = math_ops.equal(array_ops.expand_dims(y_true, -1), y_pred[..., :k])
        return _floats_of(math_ops.reduce_any(matches, axis=-1))
    return _in_top_k(convert_to_tensor(y_pred), convert_to_tensor(y_true), k)


# ---- Means of functions


def _of_function(name, function, default_name, defaults=(), parameters=(), body=None):
    """A class of metrics for the mean of a function; its own arguments come first."""
    defaults = dict(defaults)

    def __init__(self, *args, **kwargs):
        names = [*parameters, "name", "dtype"] if parameters else ["name", "dtype"]
        given = {**dict(zip(names, args)), **kwargs}
        own_name = given.pop("name", None) or default_name
        dtype = given.pop("dtype", None)
        for key in given:
            if key not in defaults:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        MeanMetricWrapper.__init__(self, function, own_name, dtype, **{**defaults, **given})

    parameters = parameters or tuple(defaults)
    members = {"__init__": __init__, "__doc__": function.__doc__, "__module__": __name__}
    made = type(name, (MeanMetricWrapper,), {**members, **(body or {})})
    objects.table("metric function")[name] = made
    return made


Accuracy = _of_function("Accuracy", accuracy, "accuracy")
BinaryAccuracy = _of_function(
    "BinaryAccuracy", binary_accuracy, "binary_accuracy", {"threshold": 0.5}, ("name", "dtype")
)
CategoricalAccuracy = _of_function(
    "CategoricalAccuracy", categorical_accuracy, "categorical_accuracy"
)
SparseCategoricalAccuracy = _of_function(
    "SparseCategoricalAccuracy", sparse_categorical_accuracy, "sparse_categorical_accuracy"
)
TopKCategoricalAccuracy = _of_function(
    "TopKCategoricalAccuracy",
    top_k_categorical_accuracy,
    "top_k_categorical_accuracy",
    {"k": 5},
)
SparseTopKCategoricalAccuracy = _of_function(
    "SparseTopKCategoricalAccuracy",
    sparse_top_k_categorical_accuracy,
    "sparse_top_k_categorical_accuracy",
    {"k": 5, "from_sorted_ids": False},
    ("k", "name", "dtype", "from_sorted_ids"),
)
MeanAbsoluteError = _of_function("MeanAbsoluteError", mean_absolute_error, "mean_absolute_error")
MeanAbsolutePercentageError = _of_function(
    "MeanAbsolutePercentageError",
    mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
)
MeanSquaredError = _of_function("MeanSquaredError", mean_squared_error, "mean_squared_error")
MeanSquaredLogarithmicError = _of_function(
    "MeanSquaredLogarithmicError",
    mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
)
Hinge = _of_function("Hinge", hinge, "hinge")
SquaredHinge = _of_function("SquaredHinge", squared_hinge, "squared_hinge")
CategoricalHinge = _of_function("CategoricalHinge", categorical_hinge, "categorical_hinge")
LogCoshError = _of_function("LogCoshError", logcosh, "logcosh")
Poisson = _of_function("Poisson", poisson, "poisson")
KLDivergence = _of_function(
    "KLDivergence", kullback_leibler_divergence, "kullback_leibler_divergence"
)
CosineSimilarity = _of_function(
    "CosineSimilarity", losses.cosine_of, "cosine_similarity", {"axis": -1}, ("name", "dtype")
)
BinaryCrossentropy = _of_function(
    "BinaryCrossentropy",
    binary_crossentropy,
    "binary_crossentropy",
    {"from_logits": False, "label_smoothing": 0},
    ("name", "dtype"),
)
CategoricalCrossentropy = _of_function(
    "CategoricalCrossentropy",
    categorical_crossentropy,
    "categorical_crossentropy",
    {"from_logits": False, "label_smoothing": 0, "axis": -1},
    ("name", "dtype"),
)
SparseCategoricalCrossentropy = _of_function(
    "SparseCategoricalCrossentropy",
    sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    {"from_logits": False, "axis": -1},
    ("name", "dtype"),
)


@_metric
class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions."""
        y_true, y_pred = _fitted(
            math_ops.cast(convert_to_tensor(y_true), self._dtype),
            math_ops.cast(convert_to_tensor(y_pred), self._dtype),
        )
        error = math_ops.squared_difference(y_pred, y_true)
        return Mean.update_state(self, error, sample_weight)

    def result(self):
        """The value so far."""
        return math_ops.sqrt(math_ops.div_no_nan(self.total, self.count))


@_metric
class MeanRelativeError(Mean):
    """The mean of absolute differences by a normalizer."""

    def __init__(self, normalizer, name=None, dtype=None):
        super().__init__(name or "mean_relative_error", dtype=dtype)
        self.normalizer = math_ops.cast(convert_to_tensor(normalizer), self._dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions."""
        y_true = math_ops.cast(convert_to_tensor(y_true), self._dtype)
        y_pred = math_ops.cast(convert_to_tensor(y_pred), self._dtype)
        error = math_ops.div_no_nan(math_ops.abs(y_true - y_pred), self.normalizer)
        return Mean.update_state(self, error, sample_weight)

    def get_config(self):
        found = values.get_values([self.normalizer])[0]
        return {**super().get_config(), "normalizer": found}


@_metric
class MeanTensor(Metric):
    """The means of the elements of tensors of one shape."""

    def __init__(self, name="mean_tensor", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self._shape = None
        self._total = self._count = None
        self.built = False

    @property
    def total(self):
        """The sums so far."""
        return self._total

    @property
    def count(self):
        """The weights so far."""
        return self._count

    def update_state(self, values, sample_weight=None):
        """Adds a tensor; sample_weight: of its elements, broadcast."""
        values = math_ops.cast(convert_to_tensor(values), self._dtype)
        if self._total is None:
            self._shape = values.shape
            self._total = self.add_weight("total", shape=values.shape)
            self._count = self.add_weight("count", shape=values.shape)
            self.built = True
        elif not values.shape.is_compatible_with(self._shape):
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set "
                f"during the first call): {self._shape}. Got: {values.shape}"
            )
        count = array_ops.ones_like(values)
        if sample_weight is not None:
            weights = math_ops.cast(convert_to_tensor(sample_weight), self._dtype)
            count = weights_broadcast_ops.broadcast_weights(weights, values)
            values = values * count
        return add_to((self._total, values), (self._count, count))

    def result(self):
        """The value so far."""
        if self._total is None:
            raise ValueError("MeanTensor does not have any result yet: call it first")
        return math_ops.div_no_nan(self._total, self._count)


@_metric
class MeanIoU(Metric):
    """The mean over classes of the intersection by the union of labels and predictions."""

    def __init__(self, num_classes, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight("total_confusion_matrix", shape=(num_classes, num_classes))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds numbers of classes: labels and predictions of the same shape."""
        flat = [
            array_ops.reshape(math_ops.cast(convert_to_tensor(y), dtypes.int64), [-1])
            for y in (y_true, y_pred)
        ]
        if sample_weight is not None:
            weights = math_ops.cast(convert_to_tensor(sample_weight), self._dtype)
            sample_weight = array_ops.reshape(weights, [-1])
        matrix = statistics_ops.confusion_matrix(
            *flat,
            num_classes=self.num_classes,
            weights=sample_weight,
            dtype=dtypes.as_dtype(self._dtype),
        )
        return add_to((self.total_cm, matrix))

    def result(self):
        """The value so far."""
        matrix = convert_to_tensor(self.total_cm)
        both = rearrange_ops.matrix_diag_part(matrix)
        union = math_ops.reduce_sum(matrix, 0) + math_ops.reduce_sum(matrix, 1) - both
        num_seen = math_ops.reduce_sum(math_ops.cast(math_ops.not_equal(union, 0), self._dtype))
        return math_ops.div_no_nan(math_ops.reduce_sum(math_ops.div_no_nan(both, union)), num_seen)

    def reset_states(self):
        values.set_values([(self.total_cm, np.zeros((self.num_classes, self.num_classes)))])

    def get_config(self):
        return {"num_classes": self.num_classes, **super().get_config()}


@_metric
class F1Score(Metric):
    """The harmonic mean of precision and recall, of each class or averaged."""

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(
                "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', "
                f"'weighted'}}. Received: average={average}"
            )
        self.average, self.threshold = average, threshold
        self.beta = 1.0
        self._counts = None

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds one-hot labels and predictions (batch, classes)."""
        y_true = math_ops.cast(convert_to_tensor(y_true), self._dtype)
        y_pred = math_ops.cast(convert_to_tensor(y_pred), self._dtype)
        ranks = y_true.shape.ndims, y_pred.shape.ndims
        if self._counts is None and (ranks != (2, 2) or y_pred.shape.as_list()[-1] is None):
            raise ValueError(
                f"{type(self).__name__} takes matrices (batch, classes) of a known number of "
                f"classes, not labels of shape {y_true.shape}, predictions of {y_pred.shape}"
            )
        if self._counts is None:
            shape = () if self.average == "micro" else (y_true.shape[-1],)
            names = ("true_positives", "false_positives", "false_negatives", "intermediate_weights")
            self._counts = [self.add_weight(name, shape=shape) for name in names]
        if self.threshold is None:
            most = math_ops.reduce_max(y_pred, axis=-1, keepdims=True)
            found = math_ops.logical_and(y_pred >= most, math_ops.abs(y_pred) > 1e-9)
        else:
            found = y_pred > self.threshold
        found = math_ops.cast(found, self._dtype)
        axis = None if self.average == "micro" else 0

        def total(x):
            if sample_weight is not None:
                weights = math_ops.cast(convert_to_tensor(sample_weight), self._dtype)
                x = x * array_ops.expand_dims(weights, 1)
            return math_ops.reduce_sum(x, axis=axis)

        sums = [
            total(found * y_true),
            total(found * (1 - y_true)),
            total((1 - found) * y_true),
            total(y_true),
        ]
        return add_to(*zip(self._counts, sums))

    def result(self):
        """The value so far."""
        right, wrong, missed, weights = self._counts
        precision = math_ops.div_no_nan(right, right + wrong)
        recall = math_ops.div_no_nan(right, right + missed)
        share = self.beta * self.beta
        score = (1.0 + share) * precision * recall
        score = math_ops.div_no_nan(score, share * precision + recall)
        if self.average == "weighted":
            shares = math_ops.div_no_nan(weights, math_ops.reduce_sum(weights))
            return math_ops.reduce_sum(score * shares)
        return score if self.average is None else math_ops.reduce_mean(score)

    def get_config(self):
        return {**super().get_config(), "average": self.average, "threshold": self.threshold}


# ---- By name


def for_accuracy(name, output_shape, loss):
    """The function that "accuracy" or "crossentropy" means for an output and its loss."""
    kind = "accuracy" if name in ("accuracy", "acc") else "crossentropy"
    loss = getattr(loss, "fn", loss)
    last = output_shape[-1] if output_shape else None
    by_loss = values.runs_in_session()  # Keras 3 looks at shapes only
    if last == 1 or by_loss and loss is losses.binary_crossentropy:
        return binary_accuracy if kind == "accuracy" else binary_crossentropy
    if loss is losses.sparse_categorical_crossentropy:
        is_sparse = kind == "accuracy"
        return sparse_categorical_accuracy if is_sparse else sparse_categorical_crossentropy
    return categorical_accuracy if kind == "accuracy" else categorical_crossentropy


def get(identifier):
    """The metric of a name, a configuration or itself."""
    return objects.get("metric function", identifier)


def serialize(metric):
    """What stands for a metric."""
    return objects.serialize(metric)


def deserialize(config, custom_objects=None):
    """The metric that a name or configuration stands for."""
    return objects.deserialize("metric function", config, custom_objects)


def clone(metric):
    """A metric like another one, with variables of its own."""
    return type(metric).from_config(metric.get_config())
