"""The metrics of tf.contrib.metrics: those of tf.metrics, predictions before labels."""

import collections
import inspect

from rheos.framework import dtypes
from rheos.framework.graph import control_dependencies, name_scope
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.math.statistics_ops import confusion_matrix
from rheos.ops.nn import metrics, metrics_at_k, nn_ops
from rheos.ops.state import state_ops, variable_scope


def _streaming(name, function):
    def streaming(
        predictions,
        labels,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        return function(
            labels=labels,
            predictions=predictions,
            weights=weights,
            metrics_collections=metrics_collections,
            updates_collections=updates_collections,
            name=name,
        )

    streaming.__name__ = streaming.__qualname__ = name
    streaming.__doc__ = function.__doc__
    return streaming


def _streaming_with(name, function, argument):
    """One that takes another argument, by this name, after the labels."""
    names = ["predictions", "labels", argument]

    def streaming(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return function(**bound.arguments)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    optional = ("weights", "metrics_collections", "updates_collections", "name")
    signature = inspect.Signature(
        [inspect.Parameter(n, kind) for n in names]
        + [inspect.Parameter(n, kind, default=None) for n in optional]
    )
    streaming.__signature__ = signature
    streaming.__name__ = streaming.__qualname__ = name
    streaming.__doc__ = function.__doc__
    return streaming


streaming_accuracy = _streaming("streaming_accuracy", metrics.accuracy)
streaming_precision = _streaming("streaming_precision", metrics.precision)
streaming_recall = _streaming("streaming_recall", metrics.recall)
streaming_true_positives = _streaming("streaming_true_positives", metrics.true_positives)
streaming_true_negatives = _streaming("streaming_true_negatives", metrics.true_negatives)
streaming_false_positives = _streaming("streaming_false_positives", metrics.false_positives)
streaming_false_negatives = _streaming("streaming_false_negatives", metrics.false_negatives)
streaming_mean_absolute_error = _streaming(
    "streaming_mean_absolute_error", metrics.mean_absolute_error
)
streaming_mean_squared_error = _streaming(
    "streaming_mean_squared_error", metrics.mean_squared_error
)
streaming_root_mean_squared_error = _streaming(
    "streaming_root_mean_squared_error", metrics.root_mean_squared_error
)
streaming_mean_iou = _streaming_with("streaming_mean_iou", metrics.mean_iou, "num_classes")
streaming_mean_relative_error = _streaming_with(
    "streaming_mean_relative_error", metrics.mean_relative_error, "normalizer"
)
streaming_mean_cosine_distance = _streaming_with(
    "streaming_mean_cosine_distance", metrics.mean_cosine_distance, "dim"
)
streaming_precision_at_thresholds = _streaming_with(
    "streaming_precision_at_thresholds", metrics.precision_at_thresholds, "thresholds"
)
streaming_recall_at_thresholds = _streaming_with(
    "streaming_recall_at_thresholds", metrics.recall_at_thresholds, "thresholds"
)
streaming_mean = metrics.mean
streaming_mean_tensor = metrics.mean_tensor
streaming_percentage_less = metrics.percentage_below


def streaming_auc(
    predictions,
    labels,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    curve="ROC",
    name=None,
):
    """(area under the curve, update), two scalars; see tf.metrics.auc."""
    return metrics.auc(
        labels,
        predictions,
        weights,
        num_thresholds,
        metrics_collections,
        updates_collections,
        curve,
        name,
    )


def _covariance_so_far(comoment, count, name):
    """The unbiased covariance; NaN for fewer than two values."""
    return array_ops.where(
        math_ops.less_equal(count, 1.0),
        float("nan"),
        math_ops.truediv(comoment, count - 1),
        name=name,
    )


def _updated_mean(mean, values, batch_count, total):
    """(mean of this batch, mean before it) after `mean` was moved to that of all values so far."""
    batch_mean = math_ops.div_no_nan(math_ops.reduce_sum(values), batch_count)
    change = math_ops.div_no_nan((batch_mean - mean) * batch_count, total)
    return batch_mean, state_ops.assign_add(mean, change) - change


def streaming_covariance(
    predictions,
    labels,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(unbiased covariance of predictions and labels so far, update), two scalars.

    predictions, labels: of one shape. weights: how often each value counts, of a shape that
    broadcasts to labels. Batches are joined as Chan, Golub and LeVeque do.
    """
    with variable_scope.variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = metrics._fit(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        count, mean_prediction, mean_label, comoment = (
            metrics._variable([], dtypes.float32, part)
            for part in ("count", "mean_prediction", "mean_label", "comoment")
        )
        if weights is None:
            batch_count = math_ops.cast(array_ops.size(labels), dtypes.float32)
            weighted = predictions, labels
        else:
            weights = metrics.weights_broadcast_ops.broadcast_weights(weights, labels)
            batch_count = math_ops.reduce_sum(weights)
            weighted = [math_ops.multiply(x, weights) for x in (predictions, labels)]
        total = state_ops.assign_add(count, batch_count)
        before = total - batch_count
        batch_prediction, prediction_before = _updated_mean(
            mean_prediction, weighted[0], batch_count, total
        )
        batch_label, label_before = _updated_mean(mean_label, weighted[1], batch_count, total)
        products = (predictions - batch_prediction) * (labels - batch_label)
        if weights is not None:
            products = products * weights
        batch_comoment = math_ops.reduce_sum(products)
        shift = (prediction_before - batch_prediction) * (label_before - batch_label)
        change = batch_comoment + shift * (before * batch_count / total)
        update = state_ops.assign_add(comoment, change)
        covariance = _covariance_so_far(comoment, count, "covariance")
        with control_dependencies([update]):
            update = _covariance_so_far(comoment, count, "update_op")
        return metrics._collect(covariance, metrics_collections, update, updates_collections)


def streaming_pearson_correlation(
    predictions,
    labels,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(Pearson's correlation of predictions and labels so far, update), two scalars.

    The arguments are those of streaming_covariance.
    """
    with variable_scope.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = metrics._fit(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        if weights is not None:
            weights = metrics.weights_broadcast_ops.broadcast_weights(weights, labels)
        pairs = [
            streaming_covariance(x, y, weights=weights, name=part)
            for x, y, part in (
                (predictions, labels, "covariance"),
                (predictions, predictions, "variance_predictions"),
                (labels, labels, "variance_labels"),
            )
        ]
        value, update = (
            math_ops.truediv(both, math_ops.multiply(math_ops.sqrt(x), math_ops.sqrt(y)), name=part)
            for (both, x, y), part in zip(zip(*pairs), ("pearson_r", "update_op"))
        )
        return metrics._collect(value, metrics_collections, update, updates_collections)


def accuracy(predictions, labels, weights=None, name=None):
    """How often predictions equal labels in this step only: a scalar.

    predictions, labels: of one shape and dtype, bool, integers or strings; ValueError otherwise.
    """
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError("Labels should have bool, integer, or string dtype, not %r" % labels.dtype)
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with name_scope(name, "accuracy", values=[predictions, labels]):
        right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return math_ops.reduce_mean(right)
        right = math_ops.multiply(right, weights)
        count = math_ops.multiply(weights, array_ops.ones_like(right))
        return math_ops.div(math_ops.reduce_sum(right), math_ops.reduce_sum(count))


def count(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """(number of values seen so far, weighted; update), two scalars."""
    with variable_scope.variable_scope(name, "count", (values, weights)):
        total = metrics._variable([], dtypes.float32, "count")
        if weights is None:
            number = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            values = math_ops.cast(values, dtypes.float32)
            values, _, weights = metrics._fit(values, None, weights)
            weights = math_ops.cast(weights, dtypes.float32)
            number = math_ops.reduce_sum(
                metrics.weights_broadcast_ops.broadcast_weights(weights, values)
            )
        with control_dependencies([values]):
            update = state_ops.assign_add(total, number)
        value = array_ops.identity(total)
        return metrics._collect(value, metrics_collections, update, updates_collections)


def aggregate_metrics(*value_update_tuples):
    """(values, updates) of pairs of these; ValueError for none."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """({name: value}, {name: update}) of a dict of pairs."""
    values = {name: pair[0] for name, pair in names_to_tuples.items()}
    return values, {name: pair[1] for name, pair in names_to_tuples.items()}


# ---- At thresholds, predictions before labels


def _counter_at(function_name, kind):
    def function(predictions, labels, thresholds, weights=None):
        values, updates = metrics._counts_at(labels, predictions, thresholds, weights, (kind,))
        return values[kind], updates[kind]

    counted = metrics._COUNTED[kind]
    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = f"(number of {counted} at each threshold, update), (len(thresholds),)."
    return function


streaming_true_positives_at_thresholds = _counter_at("streaming_true_positives_at_thresholds", "tp")
streaming_true_negatives_at_thresholds = _counter_at("streaming_true_negatives_at_thresholds", "tn")
streaming_false_positives_at_thresholds = _counter_at(
    "streaming_false_positives_at_thresholds", "fp"
)
streaming_false_negatives_at_thresholds = _counter_at(
    "streaming_false_negatives_at_thresholds", "fn"
)


def _with_thresholds(name, function, argument):
    """One that takes a goal after the labels, and the number of thresholds after the weights."""

    def streaming(
        predictions,
        labels,
        goal,
        weights=None,
        num_thresholds=200,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        collections = metrics_collections, updates_collections
        return function(labels, predictions, goal, weights, num_thresholds, *collections, name)

    def by_name(*args, **kwargs):
        if argument in kwargs:
            kwargs["goal"] = kwargs.pop(argument)
        return streaming(*args, **kwargs)

    by_name.__name__ = by_name.__qualname__ = name
    by_name.__doc__ = function.__doc__
    return by_name


streaming_sensitivity_at_specificity = _with_thresholds(
    "streaming_sensitivity_at_specificity", metrics.sensitivity_at_specificity, "specificity"
)
streaming_specificity_at_sensitivity = _with_thresholds(
    "streaming_specificity_at_sensitivity", metrics.specificity_at_sensitivity, "sensitivity"
)

_EPSILON = 1e-7


def _share(part, rest, name):
    """part / (part + rest), 0 where both are."""
    total = part + rest
    return array_ops.where(math_ops.greater(total, 0), math_ops.div(part, total), 0, name)


def _wrong_rate(function_name, wrong, right, doc):
    """The share of `wrong` among it and `right`, which are counters."""

    def function(
        predictions,
        labels,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        scope = function_name.removeprefix("streaming_")
        with variable_scope.variable_scope(name, scope, (predictions, labels, weights)):
            predictions, labels, weights = metrics._fit(
                math_ops.cast(predictions, dtypes.bool), math_ops.cast(labels, dtypes.bool), weights
            )
            pairs = zip(wrong(labels, predictions, weights), right(labels, predictions, weights))
            value, update = (
                _share(*pair, part) for pair, part in zip(pairs, ("value", "update_op"))
            )
            return metrics._collect(value, metrics_collections, update, updates_collections)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = f"({doc}, update), two scalars; 0 before the first. All are cast to bool."
    return function


def _wrong_rate_at(function_name, wrong, right, doc):
    def function(
        predictions,
        labels,
        thresholds,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        scope = function_name.removeprefix("streaming_")
        with variable_scope.variable_scope(name, scope, (predictions, labels, weights)):
            counts = metrics._counts_at(labels, predictions, thresholds, weights, (wrong, right))
            value, update = (
                math_ops.div(at[wrong], _EPSILON + at[wrong] + at[right], name=f"{short}_{part}")
                for at, part in zip(counts, ("value", "update_op"))
            )
            return metrics._collect(value, metrics_collections, update, updates_collections)

    short = "fpr" if wrong == "fp" else "fnr"
    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = f"({doc} at each threshold, update), (len(thresholds),)."
    return function


_PASSED = "how many of the labels that do not hold were predicted"
_MISSED = "how many of the labels that hold were not predicted"
streaming_false_positive_rate = _wrong_rate(
    "streaming_false_positive_rate", metrics.false_positives, metrics.true_negatives, _PASSED
)
streaming_false_negative_rate = _wrong_rate(
    "streaming_false_negative_rate", metrics.false_negatives, metrics.true_positives, _MISSED
)
streaming_false_positive_rate_at_thresholds = _wrong_rate_at(
    "streaming_false_positive_rate_at_thresholds", "fp", "tn", _PASSED
)
streaming_false_negative_rate_at_thresholds = _wrong_rate_at(
    "streaming_false_negative_rate_at_thresholds", "fn", "tp", _MISSED
)


def _limits(count):
    """`count` thresholds from just below 0 to just above 1, as far from each other."""
    inner = [i / (count - 1) for i in range(1, count - 1)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


def _best_f1(tp, fp, fn, part):
    precision = math_ops.div(tp, _EPSILON + tp + fp, name=f"precision_{part}")
    recall = math_ops.div(tp, _EPSILON + tp + fn, name=f"recall_{part}")
    return math_ops.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))


def f1_score(
    labels,
    predictions,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the best harmonic mean of precision and recall of all thresholds, update), two scalars."""
    with variable_scope.variable_scope(name, "f1", (labels, predictions, weights)):
        limits = _limits(num_thresholds)
        counts = metrics._counts_at(labels, predictions, limits, weights, ("tp", "fp", "fn"))
        value, update = (_best_f1(**at, part=part) for at, part in zip(counts, ("value", "update")))
        return metrics._collect(value, metrics_collections, update, updates_collections)


def _recall_where_precise(counts, goal, strict_mode, name):
    tp, fp, fn = (counts[kind] for kind in ("tp", "fp", "fn"))
    precisions = math_ops.div(tp, tp + fp + _EPSILON)
    if not strict_mode:  # where the precision is nearest
        at = math_ops.cast(math_ops.argmin(math_ops.abs(precisions - goal), 0), dtypes.int32)
        return math_ops.div(tp[at], tp[at] + fn[at] + _EPSILON, name)
    precise = math_ops.greater_equal(precisions, goal)
    above = array_ops.where(precise, precisions, array_ops.ones_like(precisions) * float("inf"))
    at = math_ops.cast(math_ops.argmin(above, 0), dtypes.int32)
    recall = math_ops.div(tp[at], tp[at] + fn[at] + _EPSILON)
    return array_ops.where(precise[at], recall, array_ops.zeros_like(recall), name=name)


def recall_at_precision(
    labels,
    predictions,
    precision,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
    strict_mode=False,
):
    """(recall at the threshold with the nearest precision, update), two scalars.

    strict_mode: of the thresholds with at least that precision, 0 if there is none.
    precision: in [0, 1], ValueError otherwise.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    scope = "recall_at_precision"
    with variable_scope.variable_scope(name, scope, (predictions, labels, weights)):
        counts = metrics._counts_at(labels, predictions, _limits(num_thresholds), weights)
        value, update = (
            _recall_where_precise(at, precision, strict_mode, part)
            for at, part in zip(counts, ("value", "update_op"))
        )
        return metrics._collect(value, metrics_collections, update, updates_collections)


def _precision_where_recalled(counts, goal, name):
    tp, fp, fn = (counts[kind] for kind in ("tp", "fp", "fn"))
    recalls = math_ops.div(tp, tp + fn + _EPSILON)
    enough = math_ops.cast(math_ops.greater_equal(recalls, goal), dtypes.int64)
    at = math_ops.reduce_sum(enough) - 1  # recalls fall with the threshold
    return math_ops.div(tp[at] + _EPSILON, tp[at] + fp[at] + _EPSILON, name)


def precision_at_recall(
    labels,
    predictions,
    target_recall,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(precision at the highest threshold with that recall, update), two scalars.

    target_recall: in [0, 1], ValueError otherwise.
    """
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    scope = "precision_at_recall"
    with variable_scope.variable_scope(name, scope, (predictions, labels, weights)):
        counts = metrics._counts_at(labels, predictions, _limits(num_thresholds), weights)
        value, update = (
            _precision_where_recalled(at, target_recall, part)
            for at, part in zip(counts, ("value", "update_op"))
        )
        return metrics._collect(value, metrics_collections, update, updates_collections)


def streaming_curve_points(
    labels=None,
    predictions=None,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    curve="ROC",
    name=None,
):
    """(points of a curve (num_thresholds, 2), update operation).

    curve: "ROC", false positive rate and recall, or "PR", recall and precision; else ValueError.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope.variable_scope(name, "curve_points", (labels, predictions, weights)):
        values, updates = metrics._counts_at(labels, predictions, _limits(num_thresholds), weights)
        tp, fn, tn, fp = (values[kind] for kind in ("tp", "fn", "tn", "fp"))
        recall = math_ops.div(tp + 1e-6, tp + fn + 1e-6)
        if curve == "ROC":
            pair = math_ops.div(fp, fp + tn + 1e-6), recall
        else:
            pair = recall, math_ops.div(tp + 1e-6, tp + fp + 1e-6)
        points = array_ops.stack(pair, axis=1)
        update = control_flow_ops.group(*updates.values())
        return metrics._collect(points, metrics_collections, update, updates_collections)


PrecisionRecallData = collections.namedtuple(
    "PrecisionRecallData", ["tp", "fp", "tn", "fn", "precision", "recall", "thresholds"]
)


def precision_recall_at_equal_thresholds(
    labels, predictions, weights=None, num_thresholds=None, use_locking=None, name=None
):
    """(PrecisionRecallData at thresholds as far from each other, update operation).

    labels: bool. predictions: floating point in [0, 1]; InvalidArgumentError otherwise. The counts
    are kept by buckets, so that a step costs as much as it has predictions, in float64.
    num_thresholds: 201 by default.
    """
    count = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    check_ops.assert_type(labels, dtypes.bool)
    scope = "precision_recall_at_equal_thresholds"
    with variable_scope.variable_scope(name, scope, (labels, predictions, weights)):
        message = "predictions must be in [0, 1]"
        with control_dependencies(
            [
                check_ops.assert_greater_equal(
                    predictions, math_ops.cast(0.0, predictions.dtype), message=message
                ),
                check_ops.assert_less_equal(
                    predictions, math_ops.cast(1.0, predictions.dtype), message=message
                ),
            ]
        ):
            predictions, labels, weights = metrics._fit(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        kept = dtypes.float64
        holds = math_ops.cast(labels, kept)
        weights = math_ops.cast(weights, kept)
        predictions = array_ops.reshape(predictions, [-1])
        bucket = math_ops.cast(math_ops.floor(predictions * (count - 1)), dtypes.int32)
        totals, updates = [], []
        with name_scope("variables"):
            buckets = [metrics._variable([count], kept, f"{k}_buckets") for k in ("tp", "fp")]
        both = ("tp", holds * weights), ("fp", (1.0 - holds) * weights)
        for variable, (kind, amounts) in zip(buckets, both):
            amounts = array_ops.reshape(amounts, [-1])
            locks = True if use_locking is None else use_locking
            with name_scope("update_op"):
                updates.append(state_ops.scatter_add(variable, bucket, amounts, use_locking=locks))
            totals.append(math_ops.cumsum(variable, reverse=True, name=kind))
        tp, fp = totals
        tn, fn = fp[0] - fp, tp[0] - tp
        least = array_ops.constant(_EPSILON, kept)
        found = (
            tp,
            fp,
            tn,
            fn,
            tp / math_ops.maximum(least, tp + fp),
            tp / math_ops.maximum(least, tp + fn),
            math_ops.linspace(0.0, 1.0, count),
        )
        found = [math_ops.cast(part, predictions.dtype) for part in found]
        return PrecisionRecallData(*found), control_flow_ops.group(*updates)


# ---- Among the k best predictions


def streaming_recall_at_k(
    predictions,
    labels,
    k,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(how often the label is among the k best predictions, update), two scalars.

    predictions: (batch, classes). labels: (batch,).
    """
    found = math_ops.cast(nn_ops.in_top_k(predictions, labels, k), dtypes.float32)
    collections = metrics_collections, updates_collections
    return streaming_mean(found, weights, *collections, name or f"recall_at_{k:.0f}")


def _at_k(name, function):
    """One of predictions first, with k and a class."""

    def streaming(
        predictions,
        labels,
        k,
        class_id=None,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        collections = metrics_collections, updates_collections
        return function(labels, predictions, k, class_id, weights, *collections, name)

    streaming.__name__ = streaming.__qualname__ = name
    streaming.__doc__ = function.__doc__
    return streaming


streaming_sparse_precision_at_k = _at_k(
    "streaming_sparse_precision_at_k", metrics_at_k.precision_at_k
)
streaming_sparse_recall_at_k = _at_k("streaming_sparse_recall_at_k", metrics_at_k.recall_at_k)


def _scoped_at_k(kind, class_id):
    return f"{kind}_at_k" if class_id is None else f"{kind}_at_k_class{class_id:d}"


def _at_top_k(
    kind, labels, predictions, class_id, weights, metrics_collections, updates_collections, name
):
    function = getattr(metrics_at_k, f"{kind}_at_top_k")
    with name_scope(name, _scoped_at_k(kind, class_id), (predictions, labels, weights)) as scope:
        return function(
            labels=labels,
            predictions_idx=predictions,
            class_id=class_id,
            weights=weights,
            metrics_collections=metrics_collections,
            updates_collections=updates_collections,
            name=scope,
        )


def streaming_sparse_precision_at_top_k(
    top_k_predictions,
    labels,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(precision of chosen classes, update), two scalars; see tf.metrics.precision_at_top_k."""
    chosen = labels, top_k_predictions, class_id, weights
    return _at_top_k("precision", *chosen, metrics_collections, updates_collections, name)


def sparse_recall_at_top_k(
    labels,
    top_k_predictions,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(recall of chosen classes, update), two scalars; see tf.metrics.recall_at_top_k."""
    chosen = labels, top_k_predictions, class_id, weights
    return _at_top_k("recall", *chosen, metrics_collections, updates_collections, name)


def streaming_sparse_average_precision_at_k(
    predictions,
    labels,
    k,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(mean average precision, update), two scalars; see tf.metrics.average_precision_at_k."""
    collections = metrics_collections, updates_collections
    return metrics_at_k.average_precision_at_k(labels, predictions, k, weights, *collections, name)


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions,
    labels,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(mean average precision of chosen classes, update), two float64 scalars.

    top_k_predictions: (..., k) classes, the best first. ValueError if k is not known.
    """
    collections = metrics_collections, updates_collections
    name = name or "average_precision_at_top_k"
    return metrics_at_k._average_precision_at(
        labels, top_k_predictions, weights, *collections, name
    )


# ---- Values that are kept, and agreement


def streaming_concat(
    values,
    axis=0,
    max_size=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(all values so far along an axis, update operation), of at most max_size of them.

    values: of a shape that is known but for that axis, ValueError otherwise.
    """
    with variable_scope.variable_scope(name, "streaming_concat", (values,)):
        if values.shape.ndims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = values.shape.ndims
        axis = axis + rank if axis < 0 else axis
        if not 0 <= axis < rank:
            raise ValueError(f"axis = {axis!r} not in [0, {rank!r})")
        others = [size for i, size in enumerate(values.shape.as_list()) if i != axis]
        if None in others:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must "
                "have statically known size"
            )
        first = [0 if max_size is None else max_size, *others]
        kept = metrics._variable(first, values.dtype, "array", validate_shape=False)
        size = metrics._variable([], dtypes.int32, "size")
        seen = kept[:size]
        seen.set_shape([None, *others])
        back = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        value = array_ops.transpose(seen, back, name="concat")
        rows = array_ops.transpose(values, [axis, *(i for i in range(rank) if i != axis)])
        if max_size is not None:
            rows = rows[: max_size - size]
        new_size = size + array_ops.shape(rows)[0]
        if max_size is None:
            # The rows that are there, those that come, and half as many again to come cheaply.
            room = array_ops.shape(kept)[0]

            def grow():
                rest = array_ops.zeros(array_ops.stack([new_size // 2, *others]), values.dtype)
                longer = array_ops.concat([kept[:size], rows, rest], 0)
                return state_ops.assign(kept, longer, validate_shape=False).op

            def fill():
                return kept[size:new_size].assign(rows).op

            written = control_flow_ops.cond(new_size > room, grow, fill)
        else:
            written = kept[size:new_size].assign(rows)
        with control_dependencies([written]):
            update = size.assign(new_size)
        return metrics._collect(value, metrics_collections, update, updates_collections)


def _curve_area(labels, predictions, weights, curve):
    """The area under the curve that all values give, 0 where all labels are the same."""
    predictions, order = nn_ops.top_k(predictions, k=array_ops.size(predictions))
    weights = array_ops.gather(weights, order)
    holds = math_ops.greater(array_ops.gather(labels, order), 0)
    none = array_ops.zeros_like(weights)
    right = math_ops.cumsum(array_ops.where(holds, weights, none))
    wrong = math_ops.cumsum(array_ops.where(holds, none, weights))
    # Of equal predictions the last one counts: no threshold tells them apart.
    changes = math_ops.not_equal(predictions[:-1], predictions[1:])
    is_last = array_ops.concat([changes, array_ops.ones_like(predictions[:1], dtypes.bool)], 0)
    start = array_ops.zeros([1], dtypes.float64)
    right, wrong = (
        array_ops.concat([start, array_ops.boolean_mask(part, is_last)], 0)
        for part in (right, wrong)
    )
    recall = right / right[-1]
    if curve == "ROC":
        x, y = wrong / wrong[-1], recall
    else:
        first = array_ops.ones([1], dtypes.float64)
        x, y = recall, array_ops.concat([first, right[1:] / (right[1:] + wrong[1:])], 0)
    area = math_ops.reduce_sum((y[1:] + y[:-1]) / 2.0 * math_ops.abs(x[1:] - x[:-1]))
    both = math_ops.logical_and(right[-1] > 0, wrong[-1] > 0)
    return array_ops.where(both, area, array_ops.zeros_like(area))


def streaming_dynamic_auc(
    labels,
    predictions,
    curve="ROC",
    metrics_collections=(),
    updates_collections=(),
    name=None,
    weights=None,
):
    """(area under the curve of all values so far, update operation), a float64 scalar.

    labels: 0 or 1, InvalidArgumentError otherwise. predictions: of any range; all are kept. curve:
    "ROC" or "PR", else ValueError.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope.variable_scope(name, "dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        predictions = array_ops.reshape(math_ops.cast(predictions, dtypes.float64), [-1])
        labels = array_ops.reshape(math_ops.cast(labels, dtypes.int64), [-1])
        checks = [
            check_ops.assert_greater_equal(
                labels,
                array_ops.zeros_like(labels),
                message="labels must be 0 or 1, at least one is <0",
            ),
            check_ops.assert_less_equal(
                labels,
                array_ops.ones_like(labels),
                message="labels must be 0 or 1, at least one is >1",
            ),
        ]
        with control_dependencies(checks):
            parts = [("preds", predictions), ("labels", labels)]
            if weights is not None:
                flat = array_ops.reshape(math_ops.cast(weights, dtypes.float64), [-1])
                parts.append(("weights", flat))
            kept = [streaming_concat(part, name=f"concat_{kind}") for kind, part in parts]
            update = control_flow_ops.group(*[pair[1] for pair in kept])
        values = [pair[0] for pair in kept]
        if weights is None:
            values.append(array_ops.ones_like(values[0]))
        area = _curve_area(values[1], values[0], values[2], curve)
        return metrics._collect(area, metrics_collections, update, updates_collections)


def _kappa(agreed, rows, columns, name):
    agreed, total = math_ops.reduce_sum(agreed), math_ops.reduce_sum(rows)
    products = math_ops.cast(rows * columns, dtypes.float64)
    total = math_ops.cast(total, dtypes.float64)
    by_chance = math_ops.reduce_sum(math_ops.div_no_nan(products, total))
    above = math_ops.cast(agreed, dtypes.float64) - by_chance
    return math_ops.div_no_nan(above, total - by_chance, name=name)


def cohen_kappa(
    labels,
    predictions_idx,
    num_classes,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(Cohen's kappa, the agreement beyond chance, update), two float64 scalars.

    labels, predictions_idx: classes, (n,) or (n, 1). num_classes: 2 or more, ValueError otherwise.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels.shape.with_rank_at_most(2)
        if labels.shape.ndims == 2:
            labels = array_ops.squeeze(labels, axis=[-1])
        predictions_idx, labels, weights = metrics._fit(predictions_idx, labels, weights)
        predictions_idx.shape.assert_is_compatible_with(labels.shape)
        whole = weights is None or weights.dtype.is_integer
        counts = confusion_matrix(
            labels,
            predictions_idx,
            num_classes=num_classes,
            weights=weights,
            dtype=dtypes.int64 if whole else dtypes.float32,
            name="counts_in_table",
        )
        parts = (
            ("po", rearrange_ops.diag_part(counts)),
            ("pe_row", math_ops.reduce_sum(counts, axis=0)),
            ("pe_col", math_ops.reduce_sum(counts, axis=1)),
        )
        kept = [metrics._variable((num_classes,), counts.dtype, part) for part, _ in parts]
        updates = [state_ops.assign_add(v, amounts) for v, (_, amounts) in zip(kept, parts)]
        value, update = _kappa(*kept, name="value"), _kappa(*updates, name="update_op")
        return metrics._collect(value, metrics_collections, update, updates_collections)
