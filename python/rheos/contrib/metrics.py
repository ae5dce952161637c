"""The metrics of tf.contrib.metrics: those of tf.metrics, predictions before labels."""

import inspect

from rheos.framework import dtypes
from rheos.framework.graph import control_dependencies, name_scope
from rheos.ops import array_ops, math_ops, metrics, state_ops, variable_scope


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
