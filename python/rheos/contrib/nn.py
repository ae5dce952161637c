"""Functions of tf.contrib.nn on networks."""

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops


def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout that keeps mean and variance of what selu() gives.

    keep_prob: in (0, 1], ValueError otherwise. noise_shape: which dimensions are dropped together.
    """
    with name_scope(name, "alpha_dropout", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1.0:
            raise ValueError(
                f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob}"
            )
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype.base_dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        shape = array_ops.shape(x) if noise_shape is None else noise_shape
        noise = random_ops.random_uniform(shape, seed=seed, dtype=x.dtype.base_dtype)
        kept = math_ops.cast(noise >= 1 - keep_prob, x.dtype)
        # What selu() goes to for large negative inputs.
        least = -1.7580993408473766
        x = x * kept + least * (1 - kept)
        a = (keep_prob + least**2 * keep_prob * (1 - keep_prob)) ** -0.5
        b = -a * least * (1 - keep_prob)
        return a * x + b


def scaled_softplus(x, alpha, clip=None, name=None):
    """alpha * softplus(x / alpha), at most `clip`; alpha: positive, not necessarily a number."""
    with name_scope(name, "scaled_softplus", [x, alpha]):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype.base_dtype, name="alpha")
        y = alpha * nn_ops.softplus(x / alpha)
        if clip is not None:
            y = math_ops.minimum(y, convert_to_tensor(clip, dtype=x.dtype.base_dtype))
        return y


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """tf.nn.sigmoid_cross_entropy_with_logits, the arguments in the order of before 1.0."""
    return nn_ops.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """tf.nn.softmax_cross_entropy_with_logits, the arguments in the order of before 1.0."""
    return nn_ops.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim,
                                                    name=name)  # fmt: skip


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits, the arguments in the order of before 1.0."""
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
