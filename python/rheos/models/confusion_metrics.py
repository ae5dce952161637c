"""Metrics of how many predictions were right and wrong, at one or many thresholds."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.layers import values
from rheos.models import objects
from rheos.models.metric import Metric, add_to
from rheos.models.shapes_of_losses import fit_weights, squeeze_last
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops, weights_broadcast_ops

_metric = objects.known("metric function")
_SMALL = 1e-7


def _list_of(thresholds, default):
    """Thresholds as a list of numbers from 0 to 1; ValueError for others."""
    thresholds = default if thresholds is None else thresholds
    found = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    wrong = [t for t in found if t is None or t < 0 or t > 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return found


def _only(y_pred, top_k):
    """Predictions, of which all but the k largest are made very small."""
    _, places = nn_ops.top_k(y_pred, top_k, sorted=False)
    kept = math_ops.reduce_sum(array_ops.one_hot(places, array_ops.shape(y_pred)[-1]), axis=-2)
    return y_pred * kept + -1e10 * (1 - kept)


class _Counts:
    """The weighted numbers of right and wrong predictions of a batch, at thresholds."""

    def __init__(self, y_true, y_pred, thresholds, sample_weight, top_k=None, class_id=None):
        y_pred = math_ops.cast(convert_to_tensor(y_pred), dtypes.float32)
        y_true = math_ops.cast(convert_to_tensor(y_true), dtypes.float32)
        y_true, y_pred = squeeze_last(y_true, y_pred)
        if top_k is not None:
            y_pred = _only(y_pred, top_k)
        weights = None
        if sample_weight is not None:
            weights = math_ops.cast(convert_to_tensor(sample_weight), dtypes.float32)
            weights = fit_weights(y_pred, weights)
        if class_id is not None:
            y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
            if weights is not None and weights.shape.ndims == y_pred.shape.ndims + 1:
                weights = array_ops.squeeze(weights, [-1])
        count = len(thresholds)
        limits = array_ops.reshape(convert_to_tensor(np.asarray(thresholds, "float32")), [count, 1])
        self._found = math_ops.greater(array_ops.reshape(y_pred, [1, -1]), limits)
        self._is_true = math_ops.cast(array_ops.reshape(y_true, [1, -1]), dtypes.bool)
        self._weights = None
        if weights is not None:
            weights = weights_broadcast_ops.broadcast_weights(weights, y_pred)
            self._weights = array_ops.reshape(weights, [1, -1])

    def of(self, is_true, is_found):
        """How many labels that are (not) true were (not) found, at each threshold."""
        labels = self._is_true if is_true else math_ops.logical_not(self._is_true)
        found = self._found if is_found else math_ops.logical_not(self._found)
        both = math_ops.cast(math_ops.logical_and(labels, found), dtypes.float32)
        if self._weights is not None:
            both = both * self._weights
        return math_ops.reduce_sum(both, axis=1)


class _Condition(Metric):
    """The number of predictions of one kind."""

    _KIND = None  # (whether the label is true, whether it was found)

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = _list_of(thresholds, 0.5)
        self.accumulator = self.add_weight("accumulator", shape=(len(self.thresholds),))

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions."""
        counts = _Counts(y_true, y_pred, self.thresholds, sample_weight)
        return add_to((self.accumulator, counts.of(*self._KIND)))

    def result(self):
        """The value so far."""
        return _one_or_all(self.accumulator, self.thresholds)

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds}


def _one_or_all(found, thresholds):
    return found[0] if len(thresholds) == 1 else convert_to_tensor(found)


@_metric
class TruePositives(_Condition):
    """The number of true labels that were found."""

    _KIND = (True, True)


@_metric
class TrueNegatives(_Condition):
    """The number of false labels that were not found."""

    _KIND = (False, False)


@_metric
class FalsePositives(_Condition):
    """The number of false labels that were found."""

    _KIND = (False, True)


@_metric
class FalseNegatives(_Condition):
    """The number of true labels that were not found."""

    _KIND = (True, False)


class _Share(Metric):
    """True positives by themselves and another kind."""

    _OTHER = None

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k, self.class_id = top_k, class_id
        default = 0.5 if top_k is None else -1e10  # what _only() makes of the others
        self.thresholds = [default] if thresholds is None else _list_of(thresholds, 0.5)
        shape = (len(self.thresholds),)
        self.true_positives = self.add_weight("true_positives", shape=shape)
        name, self._kind = self._OTHER
        self._wrong = self.add_weight(name, shape=shape)
        setattr(self, name, self._wrong)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions."""
        counts = _Counts(y_true, y_pred, self.thresholds, sample_weight, self.top_k, self.class_id)
        return add_to(
            (self.true_positives, counts.of(True, True)), (self._wrong, counts.of(*self._kind))
        )

    def result(self):
        """The value so far."""
        found = math_ops.div_no_nan(self.true_positives, self.true_positives + self._wrong)
        return _one_or_all(found, self.thresholds)

    def get_config(self):
        return {
            **super().get_config(),
            "thresholds": self.init_thresholds,
            "top_k": self.top_k,
            "class_id": self.class_id,
        }


@_metric
class Precision(_Share):
    """The share of what was found that is true."""

    _OTHER = ("false_positives", (False, True))


@_metric
class Recall(_Share):
    """The share of what is true that was found."""

    _OTHER = ("false_negatives", (True, False))


def _spread(count):
    """Thresholds from 0 to 1, the ends a little outside."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - _SMALL, *inner, 1.0 + _SMALL]


class _Confusion(Metric):
    """All four kinds, at many thresholds."""

    def _make(self):
        shape = (len(self.thresholds),)
        self.true_positives = self.add_weight("true_positives", shape=shape)
        self.true_negatives = self.add_weight("true_negatives", shape=shape)
        self.false_positives = self.add_weight("false_positives", shape=shape)
        self.false_negatives = self.add_weight("false_negatives", shape=shape)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions."""
        counts = _Counts(
            y_true, y_pred, self.thresholds, sample_weight, class_id=getattr(self, "class_id", None)
        )
        return add_to(
            (self.true_positives, counts.of(True, True)),
            (self.true_negatives, counts.of(False, False)),
            (self.false_positives, counts.of(False, True)),
            (self.false_negatives, counts.of(True, False)),
        )

    def _sensitivities(self):
        return math_ops.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)

    def _specificities(self):
        return math_ops.div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)

    def _precisions(self):
        return math_ops.div_no_nan(self.true_positives, self.true_positives + self.false_positives)


class _AtPoint(_Confusion):
    """One rate where another one is nearest to, or at least, a value."""

    _SETTING = None

    def __init__(self, value, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        if value < 0 or value > 1:
            raise ValueError(f"`{self._SETTING}` must be in the range [0, 1].")
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        setattr(self, self._SETTING, value)
        self.value = value
        self.class_id = class_id
        self.num_thresholds = num_thresholds
        self.thresholds = [0.5] if num_thresholds == 1 else _spread(num_thresholds)
        self._make()

    def _where_nearest(self, rates, result):
        place = math_ops.argmin(math_ops.abs(rates - self.value), axis=0)
        return array_ops.gather(result, place)

    def get_config(self):
        return {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            self._SETTING: self.value,
        }


def _largest_where(is_allowed, result):
    """The largest result among those allowed, 0 if there are none."""
    kept = array_ops.where(is_allowed, result, array_ops.zeros_like(result))
    return math_ops.reduce_max(kept)


class _OfPoint(_AtPoint):
    def result(self):
        """The value so far."""
        fixed, wanted = self._rates()
        if values.runs_in_session():
            return self._where_nearest(fixed, wanted)
        return _largest_where(math_ops.greater_equal(fixed, self.value), wanted)


@_metric
class SensitivityAtSpecificity(_OfPoint):
    """The sensitivity where the specificity is a value."""

    _SETTING = "specificity"

    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(specificity, num_thresholds, class_id, name, dtype)

    def _rates(self):
        return self._specificities(), self._sensitivities()


@_metric
class SpecificityAtSensitivity(_OfPoint):
    """The specificity where the sensitivity is a value."""

    _SETTING = "sensitivity"

    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)

    def _rates(self):
        return self._sensitivities(), self._specificities()


@_metric
class PrecisionAtRecall(_OfPoint):
    """The precision where the recall is a value."""

    _SETTING = "recall"

    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(recall, num_thresholds, class_id, name, dtype)

    def _rates(self):
        return self._sensitivities(), self._precisions()


@_metric
class RecallAtPrecision(_OfPoint):
    """The recall where the precision is a value."""

    _SETTING = "precision"

    def __init__(self, precision, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(precision, num_thresholds, class_id, name, dtype)

    def _rates(self):
        return self._precisions(), self._sensitivities()


@_metric
class AUC(_Confusion):
    """The area under the curve of rates at thresholds.

    curve: "ROC" (false and true positive rate) or "PR" (recall and precision).
    summation_method: "interpolation", "minoring" or "majoring".
    """

    def __init__(
        self,
        num_thresholds=200,
        curve="ROC",
        summation_method="interpolation",
        name=None,
        dtype=None,
        thresholds=None,
        multi_label=False,
        num_labels=None,
        label_weights=None,
        from_logits=False,
    ):
        if str(curve).upper() not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value "{curve}".')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(f'Invalid AUC summation method value "{summation_method}".')
        super().__init__(name=name, dtype=dtype)
        if thresholds is not None:
            inner = sorted(_list_of(list(thresholds), 0.5))
            self.num_thresholds = len(inner) + 2
            self.thresholds = [0.0 - _SMALL, *inner, 1.0 + _SMALL]
        else:
            if num_thresholds <= 1:
                raise ValueError("`num_thresholds` must be > 1.")
            self.num_thresholds = num_thresholds
            self.thresholds = _spread(num_thresholds)
        self.curve, self.summation_method = str(curve).upper(), summation_method
        self.from_logits = from_logits
        self.multi_label, self.num_labels = multi_label, num_labels
        self.label_weights = label_weights
        self._each = None  # of several labels a metric for each
        if not multi_label:
            self._make()
        elif num_labels is not None:
            self._make_each(num_labels)

    def _make_each(self, count):
        self._each = [
            AUC(
                curve=self.curve,
                summation_method=self.summation_method,
                thresholds=self.thresholds[1:-1],
                name=f"{self.name}_{i}",
            )
            for i in range(count)
        ]

    def _update_each(self, y_true, y_pred, sample_weight):
        y_true = convert_to_tensor(y_true)
        if self._each is None:
            self._make_each(y_pred.shape.as_list()[-1])
        if sample_weight is not None:
            sample_weight = convert_to_tensor(sample_weight)
        is_of_labels = sample_weight is not None and sample_weight.shape.as_list()[1:] == [
            len(self._each)
        ]
        for i, metric in enumerate(self._each):
            weights = sample_weight
            if is_of_labels:
                weights = weights[:, i]
            metric.update_state(y_true[:, i], y_pred[:, i], weights)

    def reset_state(self):
        """Forgets all batches."""
        for metric in self._each or ():
            metric.reset_state()
        if self._each is None:
            super().reset_state()

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Adds labels and predictions from 0 to 1; InvalidArgumentError for others."""
        y_pred = math_ops.cast(convert_to_tensor(y_pred), dtypes.float32)
        if self.from_logits:
            y_pred = math_ops.sigmoid(y_pred)
        if self.multi_label:
            return self._update_each(y_true, y_pred, sample_weight)
        return super().update_state(y_true, y_pred, sample_weight)

    def result(self):
        """The value so far."""
        if self.multi_label:
            found = array_ops.stack([metric.result() for metric in self._each])
            if self.label_weights is None:
                return math_ops.reduce_mean(found)
            shares = math_ops.cast(convert_to_tensor(self.label_weights), found.dtype)
            return math_ops.reduce_sum(found * shares) / math_ops.reduce_sum(shares)
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._interpolated()
        recall = self._sensitivities()
        if self.curve == "ROC":
            x = math_ops.div_no_nan(
                self.false_positives, self.false_positives + self.true_negatives
            )
            y = recall
        else:
            x, y = recall, self._precisions()
        count = self.num_thresholds - 1
        if self.summation_method == "interpolation":
            heights = (y[:count] + y[1:]) / 2.0
        elif self.summation_method == "minoring":
            heights = math_ops.minimum(y[:count], y[1:])
        else:
            heights = math_ops.maximum(y[:count], y[1:])
        return math_ops.reduce_sum((x[:count] - x[1:]) * heights)

    def _interpolated(self):
        """The area under precision over recall, by Davis and Goadrich's interpolation."""
        count = self.num_thresholds - 1
        right = convert_to_tensor(self.true_positives)
        found = right + self.false_positives
        more = right[:count] - right[1:]
        slope = math_ops.div_no_nan(more, math_ops.maximum(found[:count] - found[1:], 0.0))
        offset = right[1:] - slope * found[1:]
        is_between = math_ops.logical_and(found[:count] > 0, found[1:] > 0)
        ratio = array_ops.where(
            is_between,
            math_ops.div_no_nan(found[:count], math_ops.maximum(found[1:], 0.0)),
            array_ops.ones_like(found[1:]),
        )
        missed = convert_to_tensor(self.false_negatives)
        area = math_ops.div_no_nan(
            slope * (more + offset * math_ops.log(ratio)),
            math_ops.maximum(right[1:] + missed[1:], 0.0),
        )
        return math_ops.reduce_sum(area)

    def get_config(self):
        return {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "thresholds": self.thresholds[1:-1],
            **self._label_settings(),
        }

    def _label_settings(self):
        if values.runs_in_session():
            return {}
        names = ("multi_label", "num_labels", "label_weights", "from_logits")
        return {name: getattr(self, name) for name in names}
