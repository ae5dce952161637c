"""Metrics of TensorFlow 1: kept over many steps in local variables.

Each returns (value, update): the value so far, and an operation that adds the step's numbers and
gives the value after. The variables are in the collections LOCAL_VARIABLES and METRIC_VARIABLES;
tf.local_variables_initializer() starts them over. `weights` fit the values as for tf.losses.
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies, count_operations
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow.control_flow_ops import cond
from rheos.ops.math import check_ops, math_ops, statistics_ops
from rheos.ops.nn import weights_broadcast_ops
from rheos.ops.state import state_ops, variable_scope
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variables import Variable

_EPSILON = 1e-7


def _variable(shape, dtype, name, validate_shape=True):
    """A local variable of zeros."""
    return Variable(
        lambda: array_ops.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
    )


def _collect(value, value_collections, update, update_collections):
    graph = get_default_graph()
    if value_collections:
        graph.add_to_collections(value_collections, value)
    if update_collections:
        graph.add_to_collections(update_collections, update)
    return value, update


def _fit(predictions, labels, weights):
    """Predictions, labels and weights without a last dimension of 1 that one has too many."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = statistics_ops.remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    have, wanted = weights.shape.ndims, predictions.shape.ndims
    if have == 0:
        return predictions, labels, weights
    if have is None or wanted is None:
        return predictions, labels, _fit_in_steps(weights, predictions)
    if have - wanted == 1:
        weights = array_ops.squeeze(weights, [-1])
    elif wanted - have == 1:
        weights = array_ops.expand_dims(weights, [-1])
    return predictions, labels, weights


def _fit_in_steps(weights, predictions):
    """Weights with a last dimension of 1 less or more, where a step shows that the ranks differ."""
    rank = array_ops.rank(weights)
    difference = rank - array_ops.rank(predictions)
    may_squeeze = weights.shape.ndims is None or weights.shape[-1:].is_compatible_with([1])

    def squeezed():
        return array_ops.squeeze(weights, [-1]) if may_squeeze else weights

    def expanded():
        more = math_ops.equal(difference, -1)
        return cond(more, lambda: array_ops.expand_dims(weights, [-1]), lambda: weights)

    def adjusted():
        return cond(math_ops.equal(difference, 1), squeezed, expanded)

    return cond(math_ops.equal(rank, 0), lambda: weights, adjusted)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """(mean, update) of all values seen so far, weighted; 0 before the first.

    values: any shape. Returns two scalars.
    """
    with variable_scope.variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total = _variable([], dtypes.float32, "total")
        count = _variable([], dtypes.float32, "count")
        if weights is None:
            number = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            values, _, weights = _fit(values, None, weights)
            weights = math_ops.cast(weights, dtypes.float32)
            weights = weights_broadcast_ops.broadcast_weights(weights, values)
            values = math_ops.multiply(values, weights)
            number = math_ops.reduce_sum(weights)
        total_update = state_ops.assign_add(total, math_ops.reduce_sum(values))
        with control_dependencies([values]):
            count_update = state_ops.assign_add(count, number)
        value = math_ops.div_no_nan(total, math_ops.maximum(count, 0), name="value")
        update = math_ops.div_no_nan(
            total_update, math_ops.maximum(count_update, 0), name="update_op"
        )
        return _collect(value, metrics_collections, update, updates_collections)


def accuracy(
    labels,
    predictions,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(accuracy, update): how often predictions equal labels, two scalars.

    labels, predictions: one shape; ValueError otherwise.

    >>> value, update = tf.metrics.accuracy(labels=[1, 0, 1], predictions=[1, 1, 1])
    >>> with tf.Session() as session:
    ...     session.run(tf.local_variables_initializer())
    ...     print(session.run(update))
    0.6666667
    """
    predictions, labels, weights = _fit(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels,
    predictions,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(mean of abs(predictions - labels), update), two scalars; see mean."""
    predictions, labels, weights = _fit(predictions, labels, weights)
    errors = math_ops.abs(predictions - labels)
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error"
    )


def mean_squared_error(
    labels,
    predictions,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(mean of (predictions - labels) squared, update), two scalars; see mean."""
    predictions, labels, weights = _fit(predictions, labels, weights)
    errors = math_ops.squared_difference(labels, predictions)
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_squared_error"
    )


def root_mean_squared_error(
    labels,
    predictions,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(root of the mean squared error, update), two scalars; see mean."""
    predictions, labels, weights = _fit(predictions, labels, weights)
    square, update = mean_squared_error(
        labels, predictions, weights, None, None, name or "root_mean_squared_error"
    )
    value = math_ops.sqrt(square)
    update = math_ops.sqrt(update)
    return _collect(value, metrics_collections, update, updates_collections)


def mean_relative_error(
    labels,
    predictions,
    normalizer,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(mean of abs(labels - predictions) / normalizer, 0 where that is 0, update); see mean."""
    predictions, labels, weights = _fit(predictions, labels, weights)
    predictions, normalizer = statistics_ops.remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = array_ops.where(
        math_ops.equal(normalizer, 0.0),
        array_ops.zeros_like(labels),
        math_ops.div(math_ops.abs(labels - predictions), normalizer),
    )
    return mean(
        errors, weights, metrics_collections, updates_collections, name or "mean_relative_error"
    )


def percentage_below(
    values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """(the fraction of values below the threshold, update), two scalars; see mean."""
    below = math_ops.cast(math_ops.less(values, threshold), dtypes.float32)
    return mean(below, weights, metrics_collections, updates_collections,
                name or "percentage_below_threshold")  # fmt: skip


# ---- Counts of right and wrong predictions


def _count(condition, weights, metrics_collections, updates_collections):
    check_ops.assert_type(condition, dtypes.bool)
    count = _variable([], dtypes.float32, "count")
    values = math_ops.cast(condition, dtypes.float32)
    if weights is not None:
        weights = math_ops.cast(weights, dtypes.float32)
        check = weights_broadcast_ops.assert_broadcastable(weights, values)
        with control_dependencies([check]):
            values = math_ops.multiply(values, weights)
    value = array_ops.identity(count)
    update = state_ops.assign_add(count, math_ops.reduce_sum(values))
    return _collect(value, metrics_collections, update, updates_collections)


def _counter(function_name, label, prediction, doc):
    def function(
        labels,
        predictions,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        with variable_scope.variable_scope(name, function_name, (predictions, labels, weights)):
            predictions, labels, weights = _fit(
                math_ops.cast(predictions, dtypes.bool),
                math_ops.cast(labels, dtypes.bool),
                weights,
            )
            condition = math_ops.logical_and(
                math_ops.equal(labels, label), math_ops.equal(predictions, prediction)
            )
            return _count(condition, weights, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = f"(number of {doc}, update), two scalars. All are cast to bool first."
    return function


true_positives = _counter("true_positives", True, True, "labels that hold and were predicted")
false_positives = _counter(
    "false_positives", False, True, "labels that do not hold but were predicted"
)
true_negatives = _counter(
    "true_negatives", False, False, "labels that do not hold and were not predicted"
)
false_negatives = _counter(
    "false_negatives", True, False, "labels that hold but were not predicted"
)


def _rate(labels, predictions, weights, others, name, collections):
    """(true positives over true positives and others, update)."""
    right, right_update = true_positives(labels, predictions, weights)
    wrong, wrong_update = others(labels, predictions, weights)

    def quotient(a, b, label):
        return array_ops.where(math_ops.greater(a + b, 0), math_ops.div(a, a + b), 0, label)

    value = quotient(right, wrong, "value")
    update = quotient(right_update, wrong_update, "update_op")
    return _collect(value, collections[0], update, collections[1])


def precision(
    labels,
    predictions,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the fraction of predicted labels that hold, update), two scalars; 0 before the first."""
    with variable_scope.variable_scope(name, "precision", (predictions, labels, weights)):
        predictions, labels, weights = _fit(
            math_ops.cast(predictions, dtypes.bool), math_ops.cast(labels, dtypes.bool), weights
        )
        collections = metrics_collections, updates_collections
        return _rate(labels, predictions, weights, false_positives, name, collections)


def recall(
    labels,
    predictions,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the fraction of labels that hold that were predicted, update), two scalars."""
    with variable_scope.variable_scope(name, "recall", (predictions, labels, weights)):
        predictions, labels, weights = _fit(
            math_ops.cast(predictions, dtypes.bool), math_ops.cast(labels, dtypes.bool), weights
        )
        collections = metrics_collections, updates_collections
        return _rate(labels, predictions, weights, false_negatives, name, collections)


# ---- By thresholds

_KINDS = ("tp", "fn", "tn", "fp")
_NAMES = {
    "tp": "true_positives",
    "fn": "false_negatives",
    "tn": "true_negatives",
    "fp": "false_positives",
}


def _counts_at(labels, predictions, thresholds, weights, wanted=_KINDS):
    """({kind: counts}, {kind: updates}) of predictions above each threshold."""
    predictions = convert_to_tensor(predictions)
    with control_dependencies(
        [
            check_ops.assert_greater_equal(
                predictions,
                math_ops.cast(0.0, dtype=predictions.dtype),
                message="predictions must be in [0, 1]",
            ),
            check_ops.assert_less_equal(
                predictions,
                math_ops.cast(1.0, dtype=predictions.dtype),
                message="predictions must be in [0, 1]",
            ),
        ]
    ):
        predictions, labels, weights = _fit(
            math_ops.cast(predictions, dtypes.float32),
            math_ops.cast(labels, dtypes.bool),
            weights,
        )
    count = len(thresholds)
    column = array_ops.reshape(predictions, [-1, 1])
    row = array_ops.reshape(labels, [1, -1])
    size = column.shape.size_at(0)
    size = array_ops.shape(column)[0] if size is None else size
    limits = array_ops.tile(
        array_ops.expand_dims(array_ops.constant(thresholds), [1]), array_ops.stack([1, size])
    )
    above = math_ops.greater(array_ops.tile(array_ops.transpose(column), [count, 1]), limits)
    below = math_ops.logical_not(above) if {"fn", "tn"} & set(wanted) else None
    holds = array_ops.tile(row, [count, 1])
    fails = math_ops.logical_not(holds) if {"fp", "tn"} & set(wanted) else None
    if weights is not None:
        weights = weights_broadcast_ops.broadcast_weights(
            math_ops.cast(weights, dtypes.float32), predictions
        )
        weights = array_ops.tile(array_ops.reshape(weights, [1, -1]), [count, 1])
    pairs = {"tp": (holds, above), "fn": (holds, below), "tn": (fails, below), "fp": (fails, above)}
    values, updates = {}, {}
    for kind in _KINDS:
        if kind not in wanted:
            continue
        variable = _variable([count], dtypes.float32, _NAMES[kind])
        found = math_ops.cast(math_ops.logical_and(*pairs[kind]), dtypes.float32)
        if weights is not None:
            found *= weights
        updates[kind] = state_ops.assign_add(variable, math_ops.reduce_sum(found, 1))
        values[kind] = variable
    return values, updates


def _interpolated_area(tp, fn, fp, name):
    """The area below the curve of precision and recall, between whose points true and false
    positives grow together (Davis and Goadrich, "The relationship between precision-recall and
    ROC curves", 2006), integrated exactly.
    """
    count_operations(12)  # slices made anew for each use
    last = tp.shape.size_at(0) - 1
    positives = tp + fp
    more, less = positives[:last], math_ops.maximum(positives[1:], 0)
    new_tp = tp[:last] - tp[1:]
    slope = math_ops.div_no_nan(new_tp, math_ops.maximum(more - positives[1:], 0))
    offset = tp[1:] - slope * positives[1:]
    ratio = array_ops.where(
        math_ops.logical_and(more > 0, positives[1:] > 0),
        math_ops.div_no_nan(more, less),
        array_ops.ones_like(less),
    )
    area = slope * (new_tp + offset * math_ops.log(ratio))
    relevant = math_ops.maximum(tp[1:] + fn[1:], 0)
    return math_ops.reduce_sum(math_ops.div_no_nan(area, relevant), name=name)


def _area(tp, fn, tn, fp, curve, method, name):
    """The area below a curve of counts."""
    if method == "careful_interpolation":
        return _interpolated_area(tp, fn, fp, name)
    rate = math_ops.div(tp + _EPSILON, tp + fn + _EPSILON)
    if curve == "ROC":
        x, y = math_ops.div(fp, fp + tn + _EPSILON), rate
    else:
        x, y = rate, math_ops.div(tp + _EPSILON, tp + fp + _EPSILON)
    last = len(tp.shape) and tp.shape.size_at(0) - 1
    width = x[:last] - x[1:]
    if method == "trapezoidal":
        height = (y[:last] + y[1:]) / 2.0
    elif method == "minoring":
        height = math_ops.minimum(y[:last], y[1:])
    else:
        height = math_ops.maximum(y[:last], y[1:])
    return math_ops.reduce_sum(math_ops.multiply(width, height), name=name)


def auc(
    labels,
    predictions,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    curve="ROC",
    name=None,
    summation_method="trapezoidal",
    thresholds=None,
):
    """(area under the curve, update), two scalars, from counts at `num_thresholds` thresholds.

    labels: cast to bool. predictions: floating point in [0, 1], InvalidArgumentError otherwise.
    curve: "ROC" or "PR". summation_method: "trapezoidal", "minoring", "majoring" or, for "PR" only,
    "careful_interpolation"; ValueError for others.
    """
    with variable_scope.variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        methods = ("trapezoidal", "minoring", "majoring")
        if curve == "PR":
            methods += ("careful_interpolation",)
        if summation_method not in methods:
            raise ValueError(f"Invalid summation_method: {summation_method}")
        if thresholds is None:
            limits = _limits(num_thresholds)
        else:
            limits = [0.0 - _EPSILON, *sorted(thresholds), 1.0 + _EPSILON]
        predictions = convert_to_tensor(predictions)
        values, updates = _counts_at(labels, predictions, limits, weights)
        values = {k: convert_to_tensor(v) for k, v in values.items()}
        value = _area(**values, curve=curve, method=summation_method, name="value")
        update = _area(**updates, curve=curve, method=summation_method, name="update_op")
        return _collect(value, metrics_collections, update, updates_collections)


# ---- Classes


def mean_iou(
    labels,
    predictions,
    num_classes,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the mean over classes of intersection over union, update).

    labels, predictions: classes below `num_classes`, of any shape. Returns a scalar, and an
    operation that adds to the confusion matrix (num_classes, num_classes).
    """
    with variable_scope.variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = _variable([num_classes, num_classes], dtypes.float64, "total_confusion_matrix")
        labels = math_ops.cast(labels, dtypes.int64)
        predictions = math_ops.cast(predictions, dtypes.int64)
        if predictions.shape.ndims != 1:
            predictions = array_ops.reshape(predictions, [-1])
        if labels.shape.ndims != 1:
            labels = array_ops.reshape(labels, [-1])
        if weights is not None and convert_to_tensor(weights).shape.ndims not in (0, 1):
            weights = array_ops.reshape(weights, [-1])
        found = statistics_ops.confusion_matrix(
            labels, predictions, num_classes, weights=weights, dtype=dtypes.float64
        )
        update = state_ops.assign_add(total, found)
        rows = math_ops.cast(math_ops.reduce_sum(total, 0), dtypes.float32)
        columns = math_ops.cast(math_ops.reduce_sum(total, 1), dtypes.float32)
        diagonal = math_ops.cast(_diagonal(total), dtypes.float32)
        unions = rows + columns - diagonal
        present = math_ops.not_equal(unions, 0)
        count = math_ops.reduce_sum(math_ops.cast(present, dtypes.float32))
        unions = array_ops.where(math_ops.greater(unions, 0), unions, array_ops.ones_like(unions))
        ratios = math_ops.div(diagonal, unions)
        value = array_ops.where(
            math_ops.greater(count, 0),
            math_ops.reduce_sum(ratios) / count,
            0,
            "mean_iou",
        )
        return _collect(value, metrics_collections, update, updates_collections)


def _diagonal(matrix):
    return rearrange_ops.diag_part(matrix)


def mean_cosine_distance(
    labels,
    predictions,
    dim,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(mean of 1 - the inner product along `dim`, update), two scalars; see mean."""
    predictions, labels, weights = _fit(predictions, labels, weights)
    products = math_ops.multiply(predictions, labels)
    distances = math_ops.reduce_sum(products, axis=[dim], keepdims=True)
    value, update = mean(distances, weights, None, None, name or "mean_cosine_distance")
    value = math_ops.subtract(1.0, value)
    update = math_ops.subtract(1.0, update)
    return _collect(value, metrics_collections, update, updates_collections)


def mean_per_class_accuracy(
    labels,
    predictions,
    num_classes,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the mean over classes of how often predictions are right, update).

    labels, predictions: classes below `num_classes`, of one shape. Returns a scalar, and an
    operation that gives the accuracy of each class after the step, (num_classes,).
    """
    with variable_scope.variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = math_ops.cast(labels, dtypes.int64)
        if labels.shape.ndims != 1:
            labels = array_ops.reshape(labels, [-1])
        predictions = convert_to_tensor(predictions)
        if predictions.shape.ndims != 1:
            predictions = array_ops.reshape(predictions, [-1])
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = _variable([num_classes], dtypes.float32, "total")
        count = _variable([num_classes], dtypes.float32, "count")
        ones = array_ops.ones([array_ops.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = math_ops.cast(predictions, labels.dtype)
        right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            if convert_to_tensor(weights).shape.ndims != 1:
                weights = array_ops.reshape(weights, [-1])
            weights = math_ops.cast(weights, dtypes.float32)
            right *= weights
            ones *= weights
        total_update = state_ops.scatter_add(total, labels, ones)
        count_update = state_ops.scatter_add(count, labels, right)
        each = math_ops.div_no_nan(count, math_ops.maximum(total, 0))
        value = math_ops.reduce_mean(each, name="mean_accuracy")
        update = math_ops.div_no_nan(
            count_update, math_ops.maximum(total_update, 0), name="update_op"
        )
        return _collect(value, metrics_collections, update, updates_collections)


def mean_tensor(
    values, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """(mean, update) of each element over all steps, weighted: the shape of `values`."""
    with variable_scope.variable_scope(name, "mean", (values, weights)):
        values = math_ops.cast(values, dtypes.float32)
        total = _variable(values.shape, dtypes.float32, "total_tensor")
        count = _variable(values.shape, dtypes.float32, "count_tensor")
        number = array_ops.ones_like(values)
        if weights is not None:
            values, _, weights = _fit(values, None, weights)
            weights = math_ops.cast(weights, dtypes.float32)
            weights = weights_broadcast_ops.broadcast_weights(weights, values)
            values = math_ops.multiply(values, weights)
            number = math_ops.multiply(number, weights)
        total_update = state_ops.assign_add(total, values)
        with control_dependencies([values]):
            count_update = state_ops.assign_add(count, number)
        value = math_ops.div_no_nan(total, math_ops.maximum(count, 0), name="value")
        update = math_ops.div_no_nan(
            total_update, math_ops.maximum(count_update, 0), name="update_op"
        )
        return _collect(value, metrics_collections, update, updates_collections)


# ---- More by thresholds


def _counter_at(function_name, kind):
    def function(
        labels,
        predictions,
        thresholds,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        with variable_scope.variable_scope(name, _NAMES[kind], (predictions, labels, weights)):
            values, updates = _counts_at(labels, predictions, thresholds, weights, (kind,))
            value = array_ops.identity(values[kind])
            return _collect(value, metrics_collections, updates[kind], updates_collections)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (
        f"(number of {_COUNTED[kind]} at each threshold, update), (len(thresholds),).\n\n"
        "    predictions: floating point in [0, 1], InvalidArgumentError otherwise.\n    "
    )
    return function


# What is counted, by kind.
_COUNTED = {
    "tp": "labels that hold and were predicted",
    "fp": "labels that do not hold but were predicted",
    "tn": "labels that do not hold and were not predicted",
    "fn": "labels that hold but were not predicted",
}
true_positives_at_thresholds = _counter_at("true_positives_at_thresholds", "tp")
false_positives_at_thresholds = _counter_at("false_positives_at_thresholds", "fp")
true_negatives_at_thresholds = _counter_at("true_negatives_at_thresholds", "tn")
false_negatives_at_thresholds = _counter_at("false_negatives_at_thresholds", "fn")


def _rate_at(function_name, other, label, doc):
    def function(
        labels,
        predictions,
        thresholds,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        with variable_scope.variable_scope(name, function_name, (predictions, labels, weights)):
            values, updates = _counts_at(labels, predictions, thresholds, weights, ("tp", other))

            def rate(counts, name):
                right, wrong = counts["tp"], counts[other]
                return math_ops.div(right, _EPSILON + right + wrong, name=f"{label}_{name}")

            value, update = rate(values, "value"), rate(updates, "update_op")
            return _collect(value, metrics_collections, update, updates_collections)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (
        f"({doc} at each threshold, update), (len(thresholds),).\n\n"
        "    predictions: floating point in [0, 1], InvalidArgumentError otherwise.\n    "
    )
    return function


precision_at_thresholds = _rate_at(
    "precision_at_thresholds", "fp", "precision", "the fraction of predicted labels that hold"
)
recall_at_thresholds = _rate_at(
    "recall_at_thresholds", "fn", "recall", "the fraction of labels that hold that were predicted"
)


def _limits(num_thresholds):
    inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


def sensitivity_at_specificity(
    labels,
    predictions,
    specificity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(sensitivity at the threshold with nearest that specificity, update), two scalars.

    specificity: in [0, 1], ValueError otherwise. predictions: floating point in [0, 1].
    """
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with variable_scope.variable_scope(
        name, "sensitivity_at_specificity", (predictions, labels, weights)
    ):
        values, updates = _counts_at(labels, predictions, _limits(num_thresholds), weights)

        def sensitivity(tp, tn, fp, fn, name):
            found = math_ops.div(tn, tn + fp + _EPSILON)
            at = math_ops.argmin(math_ops.abs(found - specificity), 0)
            at = math_ops.cast(at, dtypes.int32)
            return math_ops.div(tp[at], tp[at] + fn[at] + _EPSILON, name)

        value, update = (
            sensitivity(**values, name="value"),
            sensitivity(**updates, name="update_op"),
        )
        return _collect(value, metrics_collections, update, updates_collections)


def specificity_at_sensitivity(
    labels,
    predictions,
    sensitivity,
    weights=None,
    num_thresholds=200,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(specificity at the threshold with nearest that sensitivity, update), two scalars.

    Of several equally near the last one. sensitivity: in [0, 1], ValueError otherwise. predictions:
    floating point in [0, 1].
    """
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with variable_scope.variable_scope(
        name, "specificity_at_sensitivity", (predictions, labels, weights)
    ):
        values, updates = _counts_at(labels, predictions, _limits(num_thresholds), weights)

        def specificity(tp, tn, fp, fn, name):
            found = math_ops.div(tp, tp + fn + _EPSILON)
            nearest = math_ops.reduce_min(math_ops.abs(found - sensitivity))
            is_near = math_ops.equal(math_ops.abs(found - sensitivity), nearest)
            is_near = math_ops.cast(is_near, dtypes.int64)
            at = math_ops.argmax(math_ops.cumsum(is_near), 0)
            at = math_ops.cast(at, dtypes.int32)
            return math_ops.div(tn[at], tn[at] + fp[at] + _EPSILON, name)

        value, update = (
            specificity(**values, name="value"),
            specificity(**updates, name="update_op"),
        )
        return _collect(value, metrics_collections, update, updates_collections)
