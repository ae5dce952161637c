"""The losses of tf.contrib.losses: those of tf.losses, predictions before labels."""

from rheos.contrib.arg_scope import add_arg_scope
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import losses as _losses, nn_ops
from rheos.ops.nn.losses import (
    get_losses,  # noqa: F401
    get_regularization_losses,  # noqa: F401
    get_total_loss,  # noqa: F401
)

add_loss = add_arg_scope(_losses.add_loss)


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The sum of the weighted losses over the number of weights other than 0, a scalar."""
    return _losses.compute_weighted_loss(losses, weights, scope)


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """The mean of abs(predictions - labels), weighted; see compute_weighted_loss."""
    return _losses.absolute_difference(labels, predictions, weights, scope)


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The mean of the squares of predictions - labels, weighted; see compute_weighted_loss."""
    return _losses.mean_squared_error(labels, predictions, weights, scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The mean of the squares of differences between pairs of errors; weights: (batch,)."""
    return _losses.mean_pairwise_squared_error(labels, predictions, weights, scope)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """The cross entropy of probabilities with labels, weighted; see compute_weighted_loss."""
    return _losses.log_loss(labels, predictions, weights, epsilon, scope)


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """The mean of 1 - the inner product along `axis`, weighted; see compute_weighted_loss."""
    return _losses.cosine_distance(labels, predictions, dim if axis is None else axis, weights,
                                   scope)  # fmt: skip


def hinge_loss(logits, labels=None, scope=None):
    """max(0, 1 - (2 * labels - 1) * logits) for each element: neither reduced nor collected.

    labels: 0 or 1. ValueError if the shapes differ.
    """
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        ones = array_ops.ones_like(labels)
        signs = math_ops.subtract(2 * labels, ones)
        return nn_ops.relu(math_ops.subtract(ones, math_ops.multiply(signs, logits)))


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """The cross entropy of sigmoid(logits) with labels, weighted; see compute_weighted_loss."""
    return _losses.sigmoid_cross_entropy(
        multi_class_labels, logits, weights, label_smoothing, scope
    )


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """The cross entropy of softmax(logits) with labels, weighted; see compute_weighted_loss."""
    return _losses.softmax_cross_entropy(onehot_labels, logits, weights, label_smoothing, scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """The cross entropy of softmax(logits) with classes, weighted; see compute_weighted_loss."""
    return _losses.sparse_softmax_cross_entropy(labels, logits, weights, scope)
