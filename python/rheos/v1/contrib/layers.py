"""Initializers and regularizers of tf.contrib.layers; its layers are not in Rheos yet."""

import math as _math

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.dtypes import float32 as _float32
from rheos.framework.graph import convert_to_tensor as _convert_to_tensor, name_scope as _name_scope
from rheos.ops import math_ops as _math_ops, nn_ops as _nn_ops, random_ops as _random_ops


def variance_scaling_initializer(
    factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=_float32
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
            limit = _math.sqrt(3.0 * factor / n)
            return _random_ops.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # 1.3 makes up for the tails cut off, nearly.
        deviation = _math.sqrt(1.3 * factor / n)
        return _random_ops.truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return initializer


def xavier_initializer(uniform=True, seed=None, dtype=_float32):
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
        with _name_scope(None, default_name, [weights]) as scope:
            factor = _convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return _math_ops.multiply(factor, function(weights), name=name or scope)

    return regularizer


def l2_regularizer(scale, scope=None):
    """A function of weights: scale times half the sum of their squares.

    scale: floating point, at least 0; ValueError otherwise. 0 gives a function that returns None.
    """
    return _scaled(scale, scope or "l2_regularizer", _nn_ops.l2_loss)


def l1_regularizer(scale, scope=None):
    """A function of weights: scale times the sum of their absolute values; see l2_regularizer."""

    def sizes(weights):
        return _math_ops.reduce_sum(_math_ops.abs(weights))

    return _scaled(scale, scope or "l1_regularizer", sizes)




__getattr__ = _attribute_of("tensorflow.contrib.layers")
