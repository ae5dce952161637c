"""How alike two pictures are."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.media.image_color import convert_image_dtype
from rheos.ops.nn import nn_conv, nn_ops
from rheos.ops.nn.nn_pool import avg_pool


def _check_alike(a, b):
    """Assertions that two pictures have shapes that can be compared."""
    known = a.shape.with_rank_at_least(3), b.shape.with_rank_at_least(3)
    known[0][-3:].assert_is_compatible_with(known[1][-3:])
    shapes = array_ops.shape_n([a, b])
    return [
        control_flow_ops.Assert(
            math_ops.reduce_all(math_ops.equal(shapes[0][-3:], shapes[1][-3:])),
            shapes,
            summarize=10,
        )
    ]


def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio in decibels of two pictures, or of each of two batches.

    max_val: the largest value that a pixel can have. Returns float32 without the last three
    dimensions.
    """
    with name_scope(name, "PSNR", [a, b]):
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        max_val = math_ops.cast(max_val, a.dtype)
        max_val = convert_image_dtype(max_val, dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        mse = math_ops.reduce_mean(math_ops.squared_difference(a, b), [-3, -2, -1])
        value = math_ops.subtract(
            20 * math_ops.log(max_val) / math_ops.log(10.0),
            np.float32(10 / np.log(10)) * math_ops.log(mse),
            name="psnr",
        )
        with _dependencies(_check_alike(a, b)):
            return array_ops.identity(value)


def _dependencies(operations):
    return control_dependencies(operations)


def _gaussian(size, sigma):
    """(size, size, 1, 1), of sum 1."""
    places = math_ops.cast(math_ops.range(size), dtypes.float32)
    places -= math_ops.cast(size - 1, dtypes.float32) / 2.0
    line = math_ops.square(places) * (-0.5 / sigma**2)
    plane = array_ops.reshape(line, [1, -1]) + array_ops.reshape(line, [-1, 1])
    plane = nn_ops.softmax(array_ops.reshape(plane, [1, -1]))
    return array_ops.reshape(plane, [size, size, 1, 1])


def _ssim_per_channel(a, b, max_val, filter_size, filter_sigma, k1, k2):
    size = constant(filter_size, dtypes.int32)
    sigma = constant(filter_sigma, a.dtype)
    shapes = array_ops.shape_n([a, b])
    checks = [
        control_flow_ops.Assert(
            math_ops.reduce_all(math_ops.greater_equal(s[-3:-1], size)), [s, size], summarize=8
        )
        for s in shapes
    ]
    with _dependencies(checks):
        a = array_ops.identity(a)
    kernel = array_ops.tile(_gaussian(size, sigma), [1, 1, shapes[0][-1], 1])

    def blurred(x):
        shape = array_ops.shape(x)
        x = array_ops.reshape(x, array_ops.concat([[-1], shape[-3:]], 0))
        y = nn_conv.depthwise_conv2d(x, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return array_ops.reshape(y, array_ops.concat([shape[:-3], array_ops.shape(y)[1:]], 0))

    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_a, mean_b = blurred(a), blurred(b)
    product, squares = mean_a * mean_b * 2.0, math_ops.square(mean_a) + math_ops.square(mean_b)
    luminance = (product + c1) / (squares + c1)
    covariance = blurred(a * b) * 2.0
    variances = blurred(math_ops.square(a) + math_ops.square(b))
    structure = (covariance - product + c2) / (variances - squares + c2)
    axes = constant([-3, -2], dtypes.int32)
    return (
        math_ops.reduce_mean(luminance * structure, axes),
        math_ops.reduce_mean(structure, axes),
    )


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """The structural similarity of two pictures (Wang et al., 2004), or of each of two batches.

    Returns float32 without the last three dimensions, at most 1. Pictures must be as large as the
    filter.
    """
    img1 = convert_to_tensor(img1, name="img1")
    img2 = convert_to_tensor(img2, name="img2")
    with _dependencies(_check_alike(img1, img2)):
        img1 = array_ops.identity(img1)
    max_val = math_ops.cast(max_val, img1.dtype)
    max_val = convert_image_dtype(max_val, dtypes.float32)
    img1 = convert_image_dtype(img1, dtypes.float32)
    img2 = convert_image_dtype(img2, dtypes.float32)
    per_channel, _ = _ssim_per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2)
    return math_ops.reduce_mean(per_channel, [-1])


_SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1,
    img2,
    max_val,
    power_factors=_SCALE_WEIGHTS,
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
):
    """The structural similarity over several scales, each half of the one before.

    power_factors: the weights of the scales. Pictures must be as large as the filter at the last.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1 = convert_to_tensor(img1, name="img1")
        img2 = convert_to_tensor(img2, name="img2")
        with _dependencies(_check_alike(img1, img2)):
            img1 = array_ops.identity(img1)
        max_val = math_ops.cast(max_val, img1.dtype)
        max_val = convert_image_dtype(max_val, dtypes.float32)
        pictures = [convert_image_dtype(x, dtypes.float32) for x in (img1, img2)]
        heads = [array_ops.shape(x)[:-3] for x in pictures]
        factors = []
        for k in range(len(power_factors)):
            if k > 0:
                pictures = [_halved(x, head) for x, head in zip(pictures, heads)]
            whole, structure = _ssim_per_channel(
                *pictures, max_val, filter_size, filter_sigma, k1, k2
            )
            factors.append(nn_ops.relu(structure))
        factors[-1] = nn_ops.relu(whole)
        stacked = array_ops.stack(factors, axis=-1)
        product = math_ops.reduce_prod(math_ops.pow(stacked, power_factors), [-1])
        return math_ops.reduce_mean(product, [-1])


def _halved(x, head):
    """Means of two by two pixels; an odd last row or column counts twice."""
    flat = array_ops.reshape(x, array_ops.concat([[-1], array_ops.shape(x)[-3:]], 0))
    odd = math_ops.mod(array_ops.shape(flat)[1:3], 2)
    ends = array_ops.stack([0, odd[0], odd[1], 0])
    paddings = array_ops.stack([array_ops.zeros([4], dtypes.int32), ends], axis=1)
    flat = array_ops.pad(flat, paddings, mode="SYMMETRIC")
    pooled = avg_pool(flat, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return array_ops.reshape(pooled, array_ops.concat([head, array_ops.shape(pooled)[1:]], 0))
