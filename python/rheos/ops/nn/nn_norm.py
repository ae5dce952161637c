"""Statistics of batches, and normalization by them."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_list
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.nn.nn_conv import one_of
from rheos.ops.nn.nn_ops import batch_normalization

_SMALLEST_EPSILON = 1.001e-5


def fused_batch_norm(
    x,
    scale,
    offset,
    mean=None,
    variance=None,
    epsilon=0.001,
    data_format="NHWC",
    is_training=True,
    name=None,
):
    """(y, mean, variance): batch normalization of images in one operation.

    x: (batch, height, width, channels), or as data_format says. scale, offset, mean, variance:
    (channels,). In training the statistics are those of the batch, and `mean` and `variance` must
    not be given (ValueError); else they are those given.
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constant([]) if mean is None else mean
    variance = constant([]) if variance is None else variance
    outputs = op_list(
        "FusedBatchNormV3",
        name,
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, _SMALLEST_EPSILON),
        data_format=data_format,
        is_training=is_training,
    )
    return outputs[0], outputs[1], outputs[2]


def batch_norm_with_global_normalization(
    t=None,
    m=None,
    v=None,
    beta=None,
    gamma=None,
    variance_epsilon=None,
    scale_after_normalization=None,
    name=None,
    input=None,
    mean=None,
    variance=None,
):
    """(t - m) / sqrt(v + epsilon), times gamma if `scale_after_normalization`, plus beta.

    t: (..., channels). m, v, beta, gamma: (channels,).
    """
    return batch_normalization(
        one_of("input", input, "t", t),
        one_of("mean", mean, "m", m),
        one_of("variance", variance, "v", v),
        beta,
        gamma if scale_after_normalization else None,
        variance_epsilon,
        name,
    )


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """(count, sum, sum of squares, shift) of x over `axes`: what normalize_moments needs.

    shift: subtracted from x first, so that the sums stay accurate; None for nothing.
    """
    axes = sorted(set(axes))
    keep = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        known = x.shape
        if known.ndims is not None and all(known.size_at(d) is not None for d in axes):
            count = 1
            for d in axes:
                count *= known.size_at(d)
            count = constant(count, dtype=x.dtype)
        else:
            dims = array_ops.gather(math_ops.cast(array_ops.shape(x), x.dtype), axes)
            count = math_ops.reduce_prod(dims, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            sums = math_ops.subtract(x, shift)
            squares = math_ops.squared_difference(x, shift)
        else:
            sums, squares = x, math_ops.square(x)
        sums = math_ops.reduce_sum(sums, axes, keepdims=keep, name="mean_ss")
        squares = math_ops.reduce_sum(squares, axes, keepdims=keep, name="var_ss")
    return count, sums, squares, shift


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) from what sufficient_statistics gives."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = math_ops.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = math_ops.multiply(mean_ss, divisor, name="shifted_mean")
            mean = math_ops.add(shifted, shift, name="mean")
        else:
            shifted = math_ops.multiply(mean_ss, divisor, name="mean")
            mean = shifted
        variance = math_ops.subtract(
            math_ops.multiply(variance_ss, divisor), math_ops.square(shifted), name="variance"
        )
    return mean, variance


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """(mean, variance) of x over `axes`; each element counts as often as its weight says.

    frequency_weights: a shape that broadcasts with x.
    """
    keep = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        needs_cast = x.dtype == dtypes.float16
        if needs_cast:
            x = math_ops.cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = math_ops.cast(weights, x.dtype)
        weighted = math_ops.reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        # The weights of all elements that a mean is over, also where the weights broadcast.
        wide = weights + array_ops.zeros_like(x)
        total = math_ops.reduce_sum(wide, axes, name="sum_of_weights", keepdims=True)
        divisor = math_ops.reciprocal(total, name="inv_weight_sum")
        mean = math_ops.multiply(weighted, divisor)
        distance = math_ops.reduce_sum(
            weights * math_ops.squared_difference(x, mean),
            axes,
            name="weighted_distsq",
            keepdims=True,
        )
        variance = math_ops.multiply(distance, divisor)
        if not keep:
            mean = array_ops.squeeze(mean, axis=axes)
            variance = array_ops.squeeze(variance, axis=axes)
        if needs_cast:
            mean = math_ops.cast(mean, dtypes.float16)
            variance = math_ops.cast(variance, dtypes.float16)
        return mean, variance


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """input / (bias + alpha * sum of squares of near channels) ** beta.

    input: (batch, height, width, channels). depth_radius: how many channels to each side are near.
    """
    return op1(
        "LRN",
        name,
        input,
        depth_radius=depth_radius,
        bias=float(bias),
        alpha=float(alpha),
        beta=float(beta),
    )
