"""Initializers and regularizers of tf.contrib.layers."""

import math

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.dtypes import float32
from rheos.framework.graph import name_scope
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops
from rheos.ops.state.graph_keys import GraphKeys


def variance_scaling_initializer(
    factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=float32
):
    """An initializer of numbers whose variance is factor / n.

    mode: what n is: "FAN_IN" (inputs), "FAN_OUT" (outputs) or "FAN_AVG" (their mean). uniform:
    whether they are uniform instead of truncated normal.
    """
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape, dtype=dtype, partition_info=None):
        inputs = float(shape[-2]) if len(shape) > 1 else float(shape[-1])
        outputs = float(shape[-1])
        for size in shape[:-2]:
            inputs *= float(size)
            outputs *= float(size)
        n = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random_ops.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # 1.3 makes up for the tails cut off, nearly.
        deviation = math.sqrt(1.3 * factor / n)
        return random_ops.truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return initializer


def xavier_initializer(uniform=True, seed=None, dtype=float32):
    """An initializer of numbers whose variance is 2 / (inputs + outputs)."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def _scaled(scale, default_name, function):
    if not isinstance(scale, (int, float)):
        raise ValueError(f"scale must be a number, got {scale!r}")
    if isinstance(scale, int) and not isinstance(scale, bool) and scale != 0:
        raise ValueError(f"scale cannot be an integer: {scale}")
    if scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}.")
    if scale == 0.0:
        return lambda _: None

    def regularizer(weights, name=None):
        with name_scope(None, default_name, [weights]) as scope:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return math_ops.multiply(factor, function(weights), name=name or scope)

    return regularizer


def l2_regularizer(scale, scope=None):
    """A function of weights: scale times half the sum of their squares.

    scale: floating point, at least 0; ValueError otherwise. 0 gives a function that returns None.
    """
    return _scaled(scale, scope or "l2_regularizer", nn_ops.l2_loss)


def l1_regularizer(scale, scope=None):
    """A function of weights: scale times the sum of their absolute values; see l2_regularizer."""

    def sizes(weights):
        return math_ops.reduce_sum(math_ops.abs(weights))

    return _scaled(scale, scope or "l1_regularizer", sizes)


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    """A function of weights: the sum of l1_regularizer(scale_l1) and l2_regularizer(scale_l2)."""
    for scale in (scale_l1, scale_l2):
        if isinstance(scale, int):
            raise ValueError(f"scale cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list, scope=None):
    """A function of weights: the sum of several; None if there are none."""
    regularizers = [r for r in regularizer_list if r is not None]
    if not regularizers:
        return None

    def regularizer(weights):
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [r(weights) for r in regularizers]
            losses = [loss for loss in losses if loss is not None]
            return math_ops.add_n(losses, name=name) if losses else None

    return regularizer


def apply_regularization(regularizer, weights_list=None):
    """The sum of a regularizer over weights, which is added to REGULARIZATION_LOSSES.

    weights_list: by default the collection WEIGHTS; ValueError if there is none. A regularizer
    that gives None counts as 0.
    """
    graph = get_default_graph()
    if not weights_list:
        weights_list = graph.get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(w) for w in weights_list]
        penalties = [p if p is not None else constant(0.0) for p in penalties]
        for p in penalties:
            if p.shape.ndims != 0:
                raise ValueError("regularizer must return a scalar Tensor instead of a Tensor with "
                                 f"rank {p.shape.ndims}.")  # fmt: skip
        total = math_ops.add_n(penalties, name=scope)
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
