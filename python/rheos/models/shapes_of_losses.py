"""Fitting labels, predictions and weights to each other, and reducing weighted losses."""

from rheos.framework import dtypes, replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import weights_broadcast_ops


class Reduction:
    """What becomes of the losses of the elements of a batch."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"
    MEAN_WITH_SAMPLE_WEIGHT = "mean_with_sample_weight"
    MEAN = "mean"

    @classmethod
    def all(cls):
        """All of them."""
        return ("auto", "none", "sum", "sum_over_batch_size", "mean", "mean_with_sample_weight")

    @classmethod
    def validate(cls, key):
        """ValueError unless there is such a reduction."""
        if key not in cls.all() and key is not None:
            raise ValueError(f"Invalid Reduction Key {key}.")


def squeeze_last(labels, predictions):
    """Labels and predictions, of which one loses a last dimension of 1 that the other lacks."""
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    label_rank, rank = labels.shape.ndims, predictions.shape.ndims
    if label_rank is not None and rank is not None:
        if rank - label_rank == 1 and predictions.shape[-1:].is_compatible_with([1]):
            predictions = array_ops.squeeze(predictions, [-1])
        elif label_rank - rank == 1 and labels.shape[-1:].is_compatible_with([1]):
            labels = array_ops.squeeze(labels, [-1])
    return labels, predictions


def fit_weights(values, weights):
    """Weights with the rank of values, or one less or more made so."""
    weights = convert_to_tensor(weights)
    rank, found = values.shape.ndims, weights.shape.ndims
    if found == 0 or rank is None:
        return weights
    if found is not None:
        if found - rank == 1:
            return array_ops.squeeze(weights, [-1])
        return array_ops.expand_dims(weights, [-1]) if rank - found == 1 else weights
    given = array_ops.rank(weights)
    return control_flow_ops.cond(
        math_ops.equal(given, rank - 1),
        lambda: array_ops.expand_dims(weights, -1),
        lambda: array_ops.identity(weights),
    )


def weighted(losses, weights):
    """Losses times weights, which are broadcast."""
    if weights is None:
        return losses
    weights = fit_weights(losses, math_ops.cast(convert_to_tensor(weights), losses.dtype))
    return math_ops.multiply(losses, weights)


def reduced(losses, reduction, weights=None):
    """Weighted losses, reduced."""
    if reduction in (Reduction.NONE, None):
        return losses
    total = math_ops.reduce_sum(losses)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN_WITH_SAMPLE_WEIGHT and weights is not None:
        weights = fit_weights(losses, math_ops.cast(convert_to_tensor(weights), losses.dtype))
        weights = weights_broadcast_ops.broadcast_weights(weights, losses)
        return math_ops.div_no_nan(total, math_ops.reduce_sum(weights))
    count = math_ops.cast(array_ops.size(losses), losses.dtype)
    return math_ops.div_no_nan(total, count)


# ---- As Keras 3 has it: masks, and weights that are only broadcast


def same_rank(first, second):
    """Two tensors of which the one with a last dimension of 1 too many fits the other.

    It loses that dimension, or a vector beside it gets one.
    """
    ranks = first.shape.ndims, second.shape.ndims
    if None in ranks or abs(ranks[0] - ranks[1]) != 1:
        return first, second
    if ranks[1] > ranks[0]:
        second, first = same_rank(second, first)
        return first, second
    if first.shape.as_list()[-1] == 1:
        if ranks[1] == 1:
            return first, array_ops.expand_dims(second, -1)
        return array_ops.squeeze(first, [-1]), second
    return first, second


def masked_weights(weights, mask, dtype, is_mean=False):
    """The weights of what is not masked; is_mean: so large that a mean over all is one of these."""
    if mask is None:
        return weights
    mask = math_ops.cast(convert_to_tensor(mask), dtype)
    if is_mean:
        count = math_ops.cast(array_ops.size(mask), dtype)
        mask = mask * math_ops.div_no_nan(count, math_ops.reduce_sum(mask))
    if weights is None:
        return mask
    mask, weights = same_rank(mask, math_ops.cast(convert_to_tensor(weights), dtype))
    return weights * mask


def mask_of(*tensors):
    """What is masked in none of some tensors; None where none of them has a mask."""
    found = None
    for x in tensors:
        mask = getattr(x, "_keras_mask", None)
        if mask is not None:
            found = mask if found is None else math_ops.logical_and(found, mask)
    return found


def reduced_with_mask(losses, reduction, weights=None, mask=None):
    """Losses times weights, reduced; with a mask the mean is of what is not masked."""
    is_mean = reduction in (Reduction.MEAN, Reduction.SUM_OVER_BATCH_SIZE)
    weights = masked_weights(weights, mask, losses.dtype, is_mean)
    if weights is not None:
        weights = math_ops.cast(convert_to_tensor(weights), losses.dtype)
        losses, weights = same_rank(losses, weights)
        losses = losses * weights
    if reduction in (Reduction.NONE, None) or losses.shape.ndims == 0:
        return losses
    total = math_ops.reduce_sum(losses)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN_WITH_SAMPLE_WEIGHT and weights is not None:
        count = math_ops.reduce_sum(weights)
    else:
        count = math_ops.cast(array_ops.size(losses), losses.dtype)
    return share_of_replica(math_ops.div_no_nan(total, count))


def share_of_replica(loss):
    """What the mean loss of a replica's batch is of that of all replicas, which is their sum."""
    strategy = replicas.several()
    return loss if strategy is None else loss * (1.0 / strategy.num_replicas_in_sync)


def without_share(loss):
    """The mean loss of a replica's batch, of its share of that of all replicas."""
    strategy = replicas.several()
    return loss if strategy is None else loss * float(strategy.num_replicas_in_sync)


def as_floats(x, dtype=None):
    """A tensor of floating point numbers; those that are stay."""
    x = convert_to_tensor(x)
    if dtype is not None:
        return math_ops.cast(x, dtype)
    return x if x.dtype.is_floating else math_ops.cast(x, dtypes.float32)
