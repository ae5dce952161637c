"""Pictures in TensorFlow 2's form: at another size, counting from the centres of pixels."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1, op_results
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops
from rheos.ops.flow import functional_ops
from rheos.ops.math import math_ops
from rheos.ops.media import image_boxes, image_color, image_files, image_ops, image_quality
from rheos.ops.ragged.ragged_tensor import is_ragged
from rheos.ops.random import stateless_random_ops
from rheos.v2._forms import form

ssim = form(
    image_quality.ssim,
    "img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, "
    "return_index_map=False",
    return_index_map=None,
)


class ResizeMethod:
    """How resize() computes a pixel."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _scaled(kind, antialias):
    """A resizer by a kernel of its own; with antialias one that is wider for smaller pictures."""

    def resize(images, size, **unused):
        images = math_ops.cast(images, dtypes.float32)
        old = math_ops.cast(array_ops.shape(images)[1:3], dtypes.float32)
        scale = math_ops.cast(size, dtypes.float32) / old
        nothing = array_ops.zeros([2], dtypes.float32)
        return op1(
            "ScaleAndTranslate", None, images, size, scale, nothing, kernel_type=kind,
            antialias=antialias,
        )  # fmt: skip

    return resize


def _centred(function):
    def resize(images, size, **unused):
        return function(images, size, half_pixel_centers=True)

    return resize


def _area(images, size, **unused):
    return image_ops.resize_area(images, size)


_PLAIN = {
    "bilinear": _centred(image_ops.resize_bilinear),
    "nearest": _centred(image_ops.resize_nearest_neighbor),
    "bicubic": _centred(image_ops.resize_bicubic),
    "area": _area,
}
_SCALED = {
    "bilinear": "triangle",
    "bicubic": "keyscubic",
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
    "gaussian": "gaussian",
    "mitchellcubic": "mitchellcubic",
}


def _resizer(method, antialias):
    if method in _PLAIN and (not antialias or method not in _SCALED):
        return _PLAIN[method]
    if method in _SCALED:
        return _scaled(_SCALED[method], antialias)
    raise ValueError(f"Resize method {method!r} is not implemented.")


def resize(
    images,
    size,
    method=ResizeMethod.BILINEAR,
    preserve_aspect_ratio=False,
    antialias=False,
    name=None,
):
    """A picture, or each of a batch, at another size (height, width).

    antialias: whether a smaller picture is computed of all pixels of the larger one. Returns
    float32, except for the nearest pixel. images may be ragged: pictures of unlike sizes.

    >>> print(tf.image.resize(tf.ones([1, 4, 4, 3]), [2, 2]).shape)
    (1, 2, 2, 3)
    """
    size = convert_to_tensor(size, dtypes.int32) if not hasattr(size, "dtype") else size
    if is_ragged(images):
        return _resized_each(images, size, method, preserve_aspect_ratio, antialias)
    resized = image_ops.resize_by(
        images, size, _resizer(method, antialias), preserve_aspect_ratio, name
    )
    return resized if method == ResizeMethod.NEAREST_NEIGHBOR else _floats(resized)


def _floats(images):
    return math_ops.cast(images, dtypes.float32)


def _resized_each(images, size, method, preserve_aspect_ratio, antialias):
    """The pictures of a ragged tensor (batch, height, width, channels) at one size."""
    if images.shape.ndims != 4:
        raise ValueError("ragged images must be of rank 4")
    channels = images.shape.as_list()[-1]

    def resized(image):
        if is_ragged(image):
            image = image.to_tensor()
        image.set_shape([None, None, channels])
        return resize(image, size, method, preserve_aspect_ratio, antialias)

    dtype = images.dtype if method == ResizeMethod.NEAREST_NEIGHBOR else dtypes.float32
    return functional_ops.map_fn(resized, images, fn_output_signature=dtype)


def per_image_standardization(image):
    """A picture, or each of a batch, as float32 of mean 0 and standard deviation 1.

    The deviation counts as 1 / sqrt(elements) at least, so that a plain picture becomes zeros.
    """
    return image_color.per_image_standardization(_floats(convert_to_tensor(image)))


def stateless_sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """A box, chosen by `seed`, that covers enough of one of the boxes given.

    image_size: (height, width, channels). bounding_boxes: (batch, n, 4), shares of it. seed: two
    integers. Returns (begin, size, bboxes): two arguments for tf.slice, and the box as (1, 1, 4).
    """
    return op_results(
        "StatelessSampleDistortedBoundingBox",
        name,
        image_size,
        bounding_boxes,
        min_object_covered,
        seed,
        aspect_ratio_range=aspect_ratio_range or [0.75, 1.33],
        area_range=area_range or [0.05, 1.0],
        max_attempts=max_attempts or 100,
        use_image_if_no_bounding_boxes=bool(use_image_if_no_bounding_boxes),
    )


def resize_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False
):
    """A picture, or each of a batch, as large as it can be in a target size, padded with zeros."""

    def resizer(images, new_size):
        return resize(images, new_size, method, antialias=antialias)

    return image_ops.resize_and_pad(image, target_height, target_width, resizer)


crop_and_resize = form(
    image_ops.crop_and_resize,
    "image, boxes, box_indices, crop_size, method='bilinear', extrapolation_value=0.0, name=None",
)
draw_bounding_boxes = form(image_boxes.draw_bounding_boxes, "images, boxes, colors, name=None")


def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_to_max_output_size=False,
    name=None,
    sorted_input=False,
    canonicalized_coordinates=False,
    tile_size=512,
):
    """non_max_suppression of a fixed length, also of each picture of batches.

    boxes: (..., n, 4). scores: (..., n). Of batches the length has to be fixed. The last three
    tell what is known of the input, and how to go about it: the result is the same. Returns
    (indices, how many of them count), of batches each with the dimensions of these.
    """

    def of_one(boxes, scores, name=None):
        return image_boxes.non_max_suppression_padded(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size,
            name,
        )

    boxes = convert_to_tensor(boxes, dtype_hint=dtypes.float32)
    scores = convert_to_tensor(scores, dtype_hint=boxes.dtype)
    if boxes.shape.ndims is None or boxes.shape.ndims <= 2:
        return of_one(boxes, scores, name)
    if not pad_to_max_output_size:
        raise ValueError(
            f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be True for batched "
            "input"
        )
    batch = array_ops.shape(scores)[:-1]
    count = boxes.shape[-2]
    flat = (
        array_ops.reshape(boxes, [-1, array_ops.shape(boxes)[-2], 4]),
        array_ops.reshape(scores, [-1, array_ops.shape(scores)[-1]]),
    )
    flat[0].set_shape([None, count, 4])
    indices, valid = functional_ops.map_fn(
        lambda one: tuple(of_one(*one)), flat, fn_output_signature=(dtypes.int32, dtypes.int32)
    )
    shape = array_ops.concat([batch, [max_output_size]], 0)
    return array_ops.reshape(indices, shape), array_ops.reshape(valid, batch)


adjust_jpeg_quality = form(
    image_files.adjust_jpeg_quality,
    "image, jpeg_quality, dct_method='', name=None",
    dct_method=None,
)
sample_distorted_bounding_box = form(
    image_boxes.sample_distorted_bounding_box,
    "image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None, "
    "area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None",
)


def extract_glimpse(
    input, size, offsets, centered=True, normalized=True, noise="uniform", name=None
):
    """Windows of `size` (height, width) of a batch of pictures, about `offsets` (batch, 2).

    noise: "uniform", "gaussian" or "zero", what is outside of a picture.
    """
    return op1(
        "ExtractGlimpseV2", name, input, size, offsets, centered=centered, normalized=normalized,
        noise=noise, uniform_noise=False,
    )  # fmt: skip


# ---- Changed at random, by two seeds


def _between(low, high, seed, dtype=dtypes.float32):
    return stateless_random_ops.stateless_random_uniform([], seed, low, high, dtype)


def _check_delta(max_delta, most=None):
    if max_delta < 0 or (most is not None and max_delta > most):
        within = "non-negative" if most is None else f"in the interval [0, {most}]"
        raise ValueError(f"max_delta must be {within}.")


def _check_range(lower, upper):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


@ragged_too("elementwise")
def stateless_random_brightness(image, max_delta, seed):
    """adjust_brightness by a number from -max_delta to max_delta."""
    _check_delta(max_delta)
    return image_color.adjust_brightness(image, _between(-max_delta, max_delta, seed))


def stateless_random_contrast(image, lower, upper, seed):
    """adjust_contrast by a number from `lower` to `upper`."""
    _check_range(lower, upper)
    return image_color.adjust_contrast(image, _between(lower, upper, seed))


def stateless_random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a number from `lower` to `upper`."""
    _check_range(lower, upper)
    return image_color.adjust_saturation(image, _between(lower, upper, seed))


def stateless_random_hue(image, max_delta, seed):
    """adjust_hue by a number from -max_delta to max_delta, which is 0.5 at most."""
    _check_delta(max_delta, 0.5)
    return image_color.adjust_hue(image, _between(-max_delta, max_delta, seed))


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """adjust_jpeg_quality by a whole number from the least to below the most."""
    if not 0 <= min_jpeg_quality < max_jpeg_quality <= 100:
        raise ValueError("min_jpeg_quality must be less than max_jpeg_quality, both in [0, 100].")
    quality = _between(min_jpeg_quality, max_jpeg_quality, seed, dtypes.int32)
    return image_files.adjust_jpeg_quality(image, quality)


def _flipped(image, seed, axis):
    image = convert_to_tensor(image)
    rank = image.shape.ndims
    if rank not in (3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    shape = [] if rank == 3 else [array_ops.shape(image)[0]]
    numbers = stateless_random_ops.stateless_random_uniform(shape, seed)
    is_flipped = math_ops.less(numbers, 0.5)
    if rank == 4:  # TensorFlow asks the other way round there
        is_flipped = array_ops.reshape(math_ops.greater(numbers, 0.5), [-1, 1, 1, 1])
    backwards = array_ops.reverse(image, [axis + rank - 3])
    return op1("SelectV2", None, is_flipped, backwards, image)


def stateless_random_flip_left_right(image, seed):
    """A picture, or each of a batch, with its columns backwards in one of two cases."""
    return _flipped(image, seed, 1)


def stateless_random_flip_up_down(image, seed):
    """A picture, or each of a batch, with its rows backwards in one of two cases."""
    return _flipped(image, seed, 0)


def stateless_random_crop(value, size, seed, name=None):
    """A part of shape `size` of a tensor, from a place that follows from the seeds."""
    value, size = convert_to_tensor(value), convert_to_tensor(size, dtypes.int32)
    limit = array_ops.shape(value) - size + 1
    most = dtypes.int32.max
    numbers = stateless_random_ops.stateless_random_uniform(
        array_ops.shape(limit), seed, 0, most, dtypes.int32
    )
    return array_ops.slice(value, math_ops.floormod(numbers, limit), size, name=name)
