"""Metrics of regression and of overlapping areas that Keras 3 has beside the older ones."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.layers import values
from rheos.models import objects
from rheos.models.defaults import epsilon
from rheos.models.metric import MeanMetricWrapper, Metric, add_to
from rheos.models.metrics import F1Score
from rheos.models.shapes_of_losses import as_floats, same_rank
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops, statistics_ops

_metric = objects.known("metric function")


def _both(y_true, y_pred):
    y_pred = as_floats(y_pred)
    return same_rank(math_ops.cast(convert_to_tensor(y_true), y_pred.dtype), y_pred)


def _mean(x, axis):
    return math_ops.reduce_mean(x, axis=axis, keepdims=True)


def _variance(x, axis):
    return _mean(math_ops.square(x - _mean(x, axis)), axis)


@_metric
def pearson_correlation(y_true, y_pred, axis=-1):
    """The correlation of labels and predictions along an axis."""
    y_true, y_pred = _both(y_true, y_pred)
    centered = []
    for y in (y_true, y_pred):
        y = y - _mean(y, axis)
        centered.append(y / math_ops.sqrt(_variance(y, axis)))
    return math_ops.reduce_mean(centered[0] * centered[1], axis=axis)


@_metric
def concordance_correlation(y_true, y_pred, axis=-1):
    """The correlation of labels and predictions, less where their means and variances differ."""
    y_true, y_pred = _both(y_true, y_pred)
    first, second = _mean(y_true, axis), _mean(y_pred, axis)
    both = (y_true - second) * (y_pred - second)
    below = _variance(y_true, axis) + _variance(y_pred, axis) + math_ops.square(first - second)
    return math_ops.reduce_mean(2 * both / (below + epsilon()), axis=axis)


class _Correlation(MeanMetricWrapper):
    _FUNCTION = None

    def __init__(self, name=None, dtype=None, axis=-1):
        function = type(self)._FUNCTION
        super().__init__(function, name or function.__name__, dtype, axis=axis)
        self.axis = axis

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype, "axis": self.axis}


@_metric
class PearsonCorrelation(_Correlation):
    """The mean of pearson_correlation()."""

    _FUNCTION = staticmethod(pearson_correlation)


@_metric
class ConcordanceCorrelation(_Correlation):
    """The mean of concordance_correlation()."""

    _FUNCTION = staticmethod(concordance_correlation)


@_metric
class R2Score(Metric):
    """The share of the variance that predictions explain, of each output or averaged."""

    def __init__(
        self, class_aggregation="uniform_average", num_regressors=0, name="r2_score", dtype=None
    ):
        super().__init__(name=name, dtype=dtype)
        allowed = (None, "uniform_average", "variance_weighted_average")
        if class_aggregation not in allowed:
            raise ValueError(
                "Invalid value for argument `class_aggregation`. Expected one of "
                f"{allowed}. Received: class_aggregation={class_aggregation}"
            )
        if num_regressors < 0:
            raise ValueError(
                "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
                f"num_regressors={num_regressors}"
            )
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors
        self.num_samples = self.add_weight("num_samples", shape=())
        self._sums = None

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions (batch, outputs)."""
        y_pred = math_ops.cast(convert_to_tensor(y_pred), self._dtype)
        y_true = math_ops.cast(convert_to_tensor(y_true), self._dtype)
        y_true, y_pred = same_rank(y_true, y_pred)
        if y_true.shape.ndims != 2 or y_pred.shape.ndims != 2:
            raise ValueError(
                "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input "
                f"shapes: y_pred.shape={y_pred.shape} and y_true.shape={y_true.shape}."
            )
        if self._sums is None:
            names = ("squared_sum", "sum", "residual", "count")
            count = y_pred.shape.as_list()[-1]
            self._sums = [self.add_weight(name, shape=(count,)) for name in names]
        weight = array_ops.ones_like(y_true)
        if sample_weight is not None:
            given = math_ops.cast(convert_to_tensor(sample_weight), self._dtype)
            given = array_ops.expand_dims(given, 1) if given.shape.ndims == 1 else given
            weight = weight * given
        parts = (y_true * y_true * weight, y_true * weight,
                 math_ops.square(y_true - y_pred) * weight, weight)  # fmt: skip
        totals = [math_ops.reduce_sum(part, axis=0) for part in parts]
        size = math_ops.cast(array_ops.size(y_true), self._dtype)
        return add_to((self.num_samples, size), *zip(self._sums, totals))

    def result(self):
        """The value so far."""
        squares, total, residual, count = (convert_to_tensor(v) for v in self._sums)
        spread = squares - total * (total / count)
        scores = 1 - residual / spread
        finite = math_ops.cast(math_ops.logical_not(math_ops.is_inf(scores)), scores.dtype)
        scores = math_ops.div_no_nan(scores * finite, finite)
        if self.class_aggregation == "uniform_average":
            scores = math_ops.reduce_mean(scores)
        elif self.class_aggregation is not None:
            scores = math_ops.reduce_sum(spread * scores) / math_ops.reduce_sum(spread)
        if self.num_regressors:
            n = convert_to_tensor(self.num_samples)
            scores = 1 - (1 - scores) * (n - 1) / (n - self.num_regressors - 1)
        return scores

    def get_config(self):
        names = ("class_aggregation", "num_regressors")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


@_metric
class FBetaScore(F1Score):
    """The harmonic mean of precision and recall, of which recall weighs beta times as much."""

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        if not isinstance(beta, float) or beta <= 0:
            raise ValueError(
                f"Invalid `beta` argument value. It should be a positive float. Received: {beta}"
            )
        super().__init__(average, threshold, name, dtype)
        self.beta = beta

    def get_config(self):
        return {**super().get_config(), "beta": self.beta}


class _Overlap(Metric):
    """Counts of labels and predictions by class, of which overlaps are computed."""

    def __init__(
        self,
        num_classes,
        name=None,
        dtype=None,
        ignore_class=None,
        sparse_y_true=True,
        sparse_y_pred=True,
        axis=-1,
    ):
        super().__init__(name=name, dtype=dtype or "int32")
        self.num_classes, self.ignore_class = num_classes, ignore_class
        self.sparse_y_true, self.sparse_y_pred, self.axis = sparse_y_true, sparse_y_pred, axis
        self.total_cm = self.add_weight("total_confusion_matrix", shape=(num_classes, num_classes))

    def _labels(self, y, is_sparse):
        y = convert_to_tensor(y)
        y = y if is_sparse else math_ops.argmax(y, axis=self.axis)
        return array_ops.reshape(math_ops.cast(y, dtypes.int64), [-1])

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions: numbers of classes, or one-hot as the settings say."""
        y_true = self._labels(y_true, self.sparse_y_true)
        y_pred = self._labels(y_pred, self.sparse_y_pred)
        dtype = dtypes.as_dtype(self._dtype)
        weights = array_ops.ones_like(y_true)
        if sample_weight is not None:
            weights = array_ops.reshape(convert_to_tensor(sample_weight), [-1])
        is_known = math_ops.equal(y_true, y_true)
        for y in (y_true, y_pred):
            is_known = math_ops.logical_and(is_known, y >= 0)
            is_known = math_ops.logical_and(is_known, y < self.num_classes)
        if self.ignore_class is not None:
            counts = math_ops.not_equal(y_true, self.ignore_class)
            is_known = math_ops.logical_and(is_known, counts)
        known = math_ops.cast(is_known, dtypes.int64)
        weights = math_ops.cast(weights, dtype) * math_ops.cast(is_known, dtype)
        matrix = statistics_ops.confusion_matrix(
            y_true * known, y_pred * known, num_classes=self.num_classes, weights=weights,
            dtype=dtype,
        )  # fmt: skip
        return add_to((self.total_cm, matrix))

    def _overlaps(self):
        """(the overlap of each class, whether there is any) as float32."""
        matrix = math_ops.cast(convert_to_tensor(self.total_cm), "float32")
        both = rearrange_ops.matrix_diag_part(matrix)
        union = math_ops.reduce_sum(matrix, 0) + math_ops.reduce_sum(matrix, 1) - both
        is_there = math_ops.cast(union > 1e-9, "float32")
        return both / (union + epsilon()) * is_there, is_there

    def _classes(self):
        return list(range(self.num_classes))

    def result(self):
        """The value so far."""
        overlaps, is_there = (array_ops.gather(x, self._classes()) for x in self._overlaps())
        return math_ops.reduce_sum(overlaps) / (math_ops.reduce_sum(is_there) + epsilon())

    def reset_state(self):
        """Forgets all batches."""
        values.set_values([(self.total_cm, np.zeros((self.num_classes, self.num_classes)))])

    _SETTINGS = ("num_classes", "ignore_class", "sparse_y_true", "sparse_y_pred", "axis")

    def get_config(self):
        return {**super().get_config(), **{name: getattr(self, name) for name in self._SETTINGS}}


@_metric
class IoU(_Overlap):
    """The mean overlap of some classes: intersection by union."""

    _SETTINGS = (*_Overlap._SETTINGS, "target_class_ids")

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None,
                 sparse_y_true=True, sparse_y_pred=True, axis=-1):  # fmt: skip
        super().__init__(num_classes, name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis)
        if max(target_class_ids) >= num_classes:
            raise ValueError(
                f"Target class id {max(target_class_ids)} is out of range, which is "
                f"[0, {num_classes})."
            )
        self.target_class_ids = list(target_class_ids)

    def _classes(self):
        return self.target_class_ids


@_metric
class BinaryIoU(IoU):
    """The mean overlap of what is above a threshold, and of what is not."""

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels 0 and 1, and predictions."""
        y_pred = as_floats(y_pred)
        return super().update_state(y_true, y_pred >= self.threshold, sample_weight)

    def get_config(self):
        names = ("target_class_ids", "threshold")
        own = {name: getattr(self, name) for name in names}
        return {"name": self.name, "dtype": self.dtype, **own}


@_metric
class OneHotIoU(IoU):
    """IoU of one-hot labels and of probabilities."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None,
                 sparse_y_pred=False, axis=-1):  # fmt: skip
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False,
                         sparse_y_pred, axis)  # fmt: skip

    _SETTINGS = ("num_classes", "target_class_ids", "ignore_class", "sparse_y_pred", "axis")


@_metric
class MeanIoU(_Overlap):
    """The mean overlap of all classes."""


@_metric
class OneHotMeanIoU(_Overlap):
    """The mean overlap of all classes, of one-hot labels and of probabilities."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False,
                 axis=-1):  # fmt: skip
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)

    _SETTINGS = ("num_classes", "ignore_class", "sparse_y_pred", "axis")
