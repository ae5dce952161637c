"""Losses of TensorFlow 1: weighted, reduced, and kept in a collection.

`labels` and `predictions` have one shape. `weights` is a scalar, or has as many dimensions as the
losses, each 1 or equal; ValueError (or InvalidArgumentError when it runs) otherwise. `reduction` is
one of Reduction; the result is a scalar unless that is NONE. The result is added to the collection
`loss_collection` of the graph (None: to none).
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies, count_operations, name_scope
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops, statistics_ops
from rheos.ops.nn import nn_ops, weights_broadcast_ops
from rheos.ops.state.graph_keys import GraphKeys

_LOSSES = GraphKeys.LOSSES


class Reduction:
    """How the weighted losses become one.

    NONE: not at all. SUM. MEAN: the sum over the sum of the weights. SUM_OVER_BATCH_SIZE: over the
    number of losses. SUM_BY_NONZERO_WEIGHTS: over the number of losses with a weight other than 0.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        """All of them."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key):
        """ValueError unless this is one of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_USUAL = Reduction.SUM_BY_NONZERO_WEIGHTS


# ---- The collection


def add_loss(loss, loss_collection=_LOSSES):
    """Adds a loss to a collection of the default graph."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=_LOSSES):
    """The losses of a collection; scope: a pattern for the start of their names."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The losses that the regularizers of variables made."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the regularization losses, a scalar; 0 if there are none."""
    losses = get_regularization_losses(scope)
    return math_ops.add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses, a scalar; ValueError if there are none."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope=scope)
    return math_ops.add_n(losses, name=name)


# ---- Weights


def _safe_mean(losses, count):
    return math_ops.div_no_nan(math_ops.reduce_sum(losses), count, name="value")


def _num_present(losses, weights, per_batch=False):
    """The number of losses whose weight is not 0; if `per_batch`, for each row."""
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = math_ops.cast(weights, dtypes.float32)
        present = array_ops.where(
            math_ops.equal(weights, 0.0),
            array_ops.zeros_like(weights),
            array_ops.ones_like(weights),
        )
        present = weights_broadcast_ops.broadcast_weights(present, losses)
        if per_batch:
            axes = math_ops.range(1, array_ops.rank(present))
            return math_ops.reduce_sum(present, axis=axes, keepdims=True, name=scope)
        return math_ops.reduce_sum(present, name=scope)


def _num_elements(losses):
    with name_scope(None, "num_elements", [losses]) as scope:
        return math_ops.cast(array_ops.size(losses, name=scope), dtype=losses.dtype)


def compute_weighted_loss(
    losses, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_USUAL
):
    """Losses times weights, reduced, added to the collection, in the dtype of the losses."""
    Reduction.validate(reduction)
    get_default_graph()._last_loss_reduction = reduction
    with name_scope(scope, "weighted_loss", (losses, weights)):
        check = weights_broadcast_ops.assert_broadcastable(weights, losses)
        with control_dependencies([check]):
            losses = convert_to_tensor(losses)
            dtype = losses.dtype
            losses = math_ops.cast(losses, dtypes.float32)
            weights = math_ops.cast(weights, dtypes.float32)
            weighted = math_ops.multiply(losses, weights)
            if reduction == Reduction.NONE:
                loss = weighted
            else:
                loss = math_ops.reduce_sum(weighted)
                if reduction == Reduction.MEAN:
                    total = math_ops.reduce_sum(array_ops.ones_like(losses) * weights)
                    loss = _safe_mean(loss, total)
                elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                    loss = _safe_mean(loss, _num_present(losses, weights))
                elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                    loss = _safe_mean(loss, _num_elements(losses))
            loss = math_ops.cast(loss, dtype)
            add_loss(loss, loss_collection)
            return loss


# ---- Losses of predictions


def _both(labels, predictions, second="predictions"):
    if labels is None:
        raise ValueError("labels must not be None.")
    if predictions is None:
        raise ValueError(f"{second} must not be None.")


def _as_floats(labels, predictions):
    predictions = math_ops.cast(predictions, dtypes.float32)
    labels = math_ops.cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(
    labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_USUAL
):
    """abs(predictions - labels), weighted and reduced."""
    _both(labels, predictions)
    with name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        losses = math_ops.abs(math_ops.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_USUAL
):
    """(predictions - labels) squared, weighted and reduced.

    >>> with tf.Session() as session:
    ...     print(session.run(tf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])))
    2.0
    """
    _both(labels, predictions)
    with name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        losses = math_ops.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(
    labels,
    predictions,
    axis=None,
    weights=1.0,
    scope=None,
    loss_collection=_LOSSES,
    reduction=_USUAL,
    dim=None,
):
    """1 - the inner product along `axis`, which stays as 1: labels and predictions of norm 1."""
    axis = math_ops._one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _both(labels, predictions)
    with name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        products = math_ops.multiply(predictions, labels)
        losses = 1 - math_ops.reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_USUAL):
    """max(0, 1 - (2 labels - 1) logits) for labels of 0 and 1, weighted and reduced."""
    _both(labels, logits, "logits")
    with name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        labels, logits = _as_floats(labels, logits)
        ones = array_ops.ones_like(labels)
        signs = math_ops.subtract(2 * labels, ones)
        losses = nn_ops.relu(math_ops.subtract(ones, math_ops.multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels,
    predictions,
    weights=1.0,
    delta=1.0,
    scope=None,
    loss_collection=_LOSSES,
    reduction=_USUAL,
):
    """Half the square of differences up to `delta`, linear beyond, weighted and reduced."""
    _both(labels, predictions)
    with name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        error = math_ops.subtract(predictions, labels)
        size = math_ops.abs(error)
        quadratic = math_ops.minimum(size, delta)
        linear = math_ops.subtract(size, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        losses = math_ops.add(
            math_ops.multiply(half, math_ops.multiply(quadratic, quadratic)),
            math_ops.multiply(delta, linear),
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels,
    predictions,
    weights=1.0,
    epsilon=1e-7,
    scope=None,
    loss_collection=_LOSSES,
    reduction=_USUAL,
):
    """-labels log(predictions + e) - (1 - labels) log(1 - predictions + e), weighted, reduced."""
    _both(labels, predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        labels, predictions = _as_floats(labels, predictions)
        losses = -math_ops.multiply(
            labels, math_ops.log(predictions + epsilon)
        ) - math_ops.multiply((1 - labels), math_ops.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels, predictions, weights=1.0, scope=None, loss_collection=_LOSSES
):
    """The mean over rows of the squared differences between all pairs of a row's errors.

    labels, predictions: (batch, ...). weights: a scalar, or one for each row.
    """
    _both(labels, predictions)
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)) as scope:
        weights = math_ops.cast(weights, dtypes.float32)
        labels = math_ops.cast(labels, dtypes.float32)
        check = weights_broadcast_ops.assert_broadcastable(weights, labels)
        with control_dependencies([check]):
            predictions = math_ops.cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            errors = math_ops.subtract(predictions, labels)
            axes = math_ops.range(1, array_ops.rank(errors))
            squares = math_ops.reduce_sum(math_ops.square(errors), axis=axes, keepdims=True)
            count = _num_present(errors, weights, per_batch=True)
            less = math_ops.maximum(count - 1, 0)
            first = 2.0 * math_ops.div_no_nan(squares, less, name="value")
            total = math_ops.reduce_sum(errors, axis=axes, keepdims=True)
            pairs = math_ops.multiply(count, less)
            second = 2.0 * math_ops.div_no_nan(math_ops.square(total), pairs, name="value")
            weighted = math_ops.multiply(first - second, weights)
            loss = math_ops.reduce_sum(weighted)
            count_operations(4)  # sums and products of the two terms apart
            has_some = math_ops.reduce_sum(count) > 0
            mean = array_ops.where(has_some, loss, array_ops.zeros_like(loss), name="value")
            add_loss(mean, loss_collection)
            return mean


# ---- Cross entropies


def sigmoid_cross_entropy(
    multi_class_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection=_LOSSES,
    reduction=_USUAL,
):
    """The cross entropy of sigmoid(logits) with labels from 0 to 1, weighted and reduced.

    label_smoothing: how far the labels are moved towards 1/2.
    """
    _both(multi_class_labels, logits, "logits")
    with name_scope(
        scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)
    ) as scope:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_ops.sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection=_LOSSES,
    reduction=_USUAL,
):
    """The cross entropy of softmax(logits) with one-hot labels, weighted and reduced.

    onehot_labels, logits: (batch, classes). weights: a scalar or (batch,). label_smoothing: how far
    the labels are moved towards 1/classes.
    """
    _both(onehot_labels, logits, "logits")
    with name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[-1], logits.dtype)
            share = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + share
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
        losses = nn_ops.softmax_cross_entropy_with_logits_v2(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def _fit_weights(labels, weights):
    """The weights without a last dimension that the labels lack."""
    weights = convert_to_tensor(weights)
    a, b = weights.shape.ndims, labels.shape.ndims
    if a is not None and b is not None:
        return array_ops.squeeze(weights, [-1]) if a - b == 1 else weights
    if a is None or a > 0 and weights.shape[-1:].is_compatible_with([1]):
        difference = array_ops.rank(weights) - array_ops.rank(labels)
        return statistics_ops.without_last(weights, difference, 1)
    return weights


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, scope=None, loss_collection=_LOSSES, reduction=_USUAL
):
    """The cross entropy of softmax(logits) with the classes in `labels`, weighted and reduced.

    labels: (batch,), or (batch, 1). logits: (batch, classes). weights: a scalar or (batch,).
    """
    _both(labels, logits, "logits")
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits = statistics_ops.remove_squeezable_dimensions(
            labels, logits, expected_rank_diff=1
        )
        weights = _fit_weights(labels, weights)
        losses = nn_ops.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
