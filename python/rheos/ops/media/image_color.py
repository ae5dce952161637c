"""Colors of pictures: dtypes and their ranges, brightness, contrast, hue, saturation, color spaces.

Integers stand for a share of their dtype's largest value, floats for themselves.
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.math.special_math_ops import reduce_std
from rheos.ops.media.image_ops import _check, _checked_picture
from rheos.ops.random import random_ops


@ragged_too("elementwise")
def convert_image_dtype(image, dtype, saturate=False, name=None):
    """`image` in another dtype, scaled between an integer's range and 0 to 1 where it has to be.

    saturate: clip what is out of range instead of letting it wrap.

    >>> print(tf.image.convert_image_dtype(np.uint8([0, 255]), tf.float32).numpy())
    [0. 1.]
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if dtype == image.dtype:
        return array_ops.identity(image, name=name)
    to_dtype = math_ops.saturate_cast if saturate else math_ops.cast
    with name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_floating and dtype.is_floating:
            return math_ops.cast(image, dtype, name=name)
        if image.dtype.is_floating:
            # Half a step more, so that 1 is the largest value and is not rounded out of range.
            scaled = math_ops.multiply(image, dtype.max + 0.5)
            return to_dtype(scaled, dtype, name=name)
        if dtype.is_floating:
            floats = math_ops.cast(image, dtype)
            return math_ops.multiply(floats, 1.0 / image.dtype.max, name=name)
        most, new_most = int(image.dtype.max), int(dtype.max)
        if most > new_most:
            scaled = math_ops.div(image, (most + 1) // (new_most + 1))
            return to_dtype(scaled, dtype, name=name)
        wide = to_dtype(image, dtype)
        return math_ops.multiply(wide, (new_most + 1) // (most + 1), name=name)


def _floats(image):
    """`image` as floats: itself if it is float16 or float32."""
    if image.dtype in (dtypes.float16, dtypes.float32):
        return image
    return convert_image_dtype(image, dtypes.float32)


# ---- Adjusting


def per_image_standardization(image):
    """A picture, or each of a batch, of mean 0 and standard deviation 1.

    The deviation counts as 1 / sqrt(elements) at least, so that a plain picture becomes zeros.
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = _checked_picture(convert_to_tensor(image, name="image"))
        dtype = image.dtype
        image = _floats(image)
        count = math_ops.reduce_prod(array_ops.shape(image)[-3:])
        mean = math_ops.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = math_ops.rsqrt(math_ops.cast(count, image.dtype))
        deviation = math_ops.maximum(deviation, least)
        image -= mean
        image = math_ops.div(image, deviation, name=scope)
        return convert_image_dtype(image, dtype, saturate=True)


@ragged_too("elementwise")
def adjust_brightness(image, delta):
    """`image` with `delta` added; for integers `delta` is a share of their largest value."""
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        floats = _floats(image)
        adjusted = math_ops.add(floats, math_ops.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images, contrast_factor):
    """Each channel's differences from its mean, times `contrast_factor`."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        adjusted = op1("AdjustContrastv2", name, _floats(images), contrast_factor)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


@ragged_too("elementwise")
def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma. ValueError for a negative gamma."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        floats = _floats(image)
        checks = _check(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = control_flow_ops.with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


def _adjust(op_type, image, amount, name, scope_name):
    with name_scope(name, scope_name, [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(op1(op_type, None, _floats(image), amount), image.dtype)


def adjust_hue(image, delta, name=None):
    """RGB pictures with their hue turned by `delta`, a share of the circle."""
    return _adjust("AdjustHue", image, delta, name, "adjust_hue")


def adjust_saturation(image, saturation_factor, name=None):
    """RGB pictures with their saturation multiplied."""
    return _adjust("AdjustSaturation", image, saturation_factor, name, "adjust_saturation")


@ragged_too("elementwise")
def random_brightness(image, max_delta, seed=None):
    """adjust_brightness by a number from -max_delta to max_delta."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image, lower, upper, seed=None):
    """adjust_contrast by a factor from lower to upper."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_contrast(image, random_ops.random_uniform([], lower, upper, seed=seed))


def random_hue(image, max_delta, seed=None):
    """adjust_hue by a number from -max_delta to max_delta; max_delta is at most 0.5."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a factor from lower to upper."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_saturation(image, random_ops.random_uniform([], lower, upper, seed=seed))


# ---- Color spaces


def rgb_to_grayscale(images, name=None):
    """RGB in the last dimension to one gray channel, in the same dtype.

    >>> print(tf.image.rgb_to_grayscale(tf.ones([2, 2, 3])).shape)
    (2, 2, 1)
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        gray = math_ops.tensordot(floats, [0.2989, 0.5870, 0.1140], [-1, -1])
        return convert_image_dtype(array_ops.expand_dims(gray, -1), images.dtype, name=name)


def grayscale_to_rgb(images, name=None):
    """One gray channel in the last dimension to three alike."""
    with name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = convert_to_tensor(images, name="images")
        known = images.shape
        if known.ndims is not None and known.ndims < 2:
            raise ValueError("A grayscale image must be at least two-dimensional.")
        if known.ndims is not None and known.as_list()[-1:] not in ([1], [None]):
            raise ValueError("Last dimension of a grayscale image should be size 1.")
        images = control_flow_ops.with_dependencies([], images)
        front = array_ops.expand_dims(array_ops.rank(images) - 1, 0)
        ones = array_ops.ones(front, dtype=dtypes.int32)
        multiples = array_ops.concat([ones, array_ops.expand_dims(3, 0)], 0)
        rgb = array_ops.tile(images, multiples, name=name)
        if known.ndims is not None:
            rgb.set_shape(known[:-1].concatenate([3]))
        return rgb


def rgb_to_hsv(images, name=None):
    """Red, green, blue in the last dimension to hue, saturation, value, all from 0 to 1."""
    return op1("RGBToHSV", name, images)


def hsv_to_rgb(images, name=None):
    """Hue, saturation, value in the last dimension to red, green, blue, all from 0 to 1."""
    return op1("HSVToRGB", name, images)


# What red, green and blue each add to the three channels.
_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_FROM_YIQ = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _through(images, matrix):
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(matrix, dtype=images.dtype, name="kernel")
    return math_ops.tensordot(images, kernel, axes=[[images.shape.ndims - 1], [0]])


def rgb_to_yiq(images):
    """Red, green, blue in the last dimension to luma, in-phase, quadrature."""
    return _through(images, _TO_YIQ)


def yiq_to_rgb(images):
    """Luma, in-phase, quadrature in the last dimension to red, green, blue."""
    return _through(images, _FROM_YIQ)


def rgb_to_yuv(images):
    """Red, green, blue in the last dimension to luma and two color differences."""
    return _through(images, _TO_YUV)


def yuv_to_rgb(images):
    """Luma and two color differences in the last dimension to red, green, blue."""
    return _through(images, _FROM_YUV)
