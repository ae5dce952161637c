"""Pictures at another size: layers, and functions of tensors."""

import numpy as np

from rheos.framework import tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.defaults import floatx, image_data_format
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.media import image_ops

_layer = objects.known("layer")
_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic", "lanczos3": "lanczos3",
            "lanczos5": "lanczos5"}  # fmt: skip
INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic")


def _check_rank(images):
    if images.shape.ndims not in (3, 4):
        raise ValueError(
            "Expected image tensor to have rank 3 (single image) or 4 (batch of images). "
            f"Received: data.shape={images.shape}"
        )


def channels_last(images, data_format):
    """Pictures with the channels last."""
    if data_format != "channels_first":
        return images
    rank = images.shape.ndims
    return array_ops.transpose(images, [1, 2, 0] if rank == 3 else [0, 2, 3, 1])


def channels_back(images, data_format):
    """Pictures with the channels where the format has them, of such with the channels last."""
    if data_format != "channels_first":
        return images
    rank = images.shape.ndims
    return array_ops.transpose(images, [2, 0, 1] if rank == 3 else [0, 3, 1, 2])


def _scaled(images, size, method, antialias):
    """A batch of pictures at another size."""
    wanted = convert_to_tensor(np.asarray(size, "int32"))
    if method == "nearest":
        found = image_ops.resize_nearest_neighbor(images, wanted, half_pixel_centers=True)
    elif antialias or method.startswith("lanczos"):
        shape = math_ops.cast(array_ops.shape(images)[1:3], "float32")
        scale = math_ops.cast(wanted, "float32") / shape
        found = op1(
            "ScaleAndTranslate", None, images, wanted, scale, array_ops.zeros([2]),
            kernel_type=_KERNELS[method], antialias=antialias,
        )  # fmt: skip
    elif method == "bilinear":
        found = image_ops.resize_bilinear(images, wanted, half_pixel_centers=True)
    else:
        found = image_ops.resize_bicubic(images, wanted, half_pixel_centers=True)
    found.set_shape([images.shape.as_list()[0], *size, images.shape.as_list()[-1]])
    return found


def _sizes(images):
    """Height and width of pictures with the channels last: numbers, or tensors where unknown."""
    known = images.shape.as_list()[-3:-1]
    shape = array_ops.shape(images)
    rank = images.shape.ndims
    return [shape[rank - 3 + i] if d is None else d for i, d in enumerate(known)]


def _whole(x):
    """A number or tensor cut to a whole number."""
    return int(x) if isinstance(x, (int, float)) else math_ops.cast(x, "int32")


def _share(x, a, b):
    """x * a / b, cut."""
    if isinstance(x, int):
        return int(float(x * a) / b)
    return math_ops.cast(math_ops.cast(x * a, "float32") / float(b), "int32")


def _least(x, y):
    return min(x, y) if isinstance(x, int) and isinstance(y, int) else math_ops.minimum(x, y)


def _most(x, y):
    return max(x, y) if isinstance(x, int) and isinstance(y, int) else math_ops.maximum(x, y)


def cropped_to_aspect(images, size):
    """The middle of pictures, with the channels last, in the proportions of a size."""
    height, width = _sizes(images)
    tall = _most(_least(height, _share(width, size[0], size[1])), 1)
    wide = _most(_least(width, _share(height, size[1], size[0])), 1)
    top, left = (height - tall) // 2, (width - wide) // 2
    return images[..., top : top + tall, left : left + wide, :]


def _padded_to_aspect(images, size, value):
    """A batch of pictures in the middle of larger ones in the proportions of a size."""
    height, width = _sizes(images)
    tall = _most(height, _share(width, size[0], size[1]))
    wide = _most(width, _share(height, size[1], size[0]))
    top, left = (tall - height) // 2, (wide - width) // 2
    paddings = [[0, 0], [top, top], [left, left], [0, 0]]
    fill = math_ops.cast(convert_to_tensor(value), images.dtype.base_dtype)
    return op1("PadV2", None, images, convert_to_tensor(paddings), fill)


def resized(
    images,
    size,
    interpolation="bilinear",
    antialias=False,
    crop_to_aspect_ratio=False,
    pad_to_aspect_ratio=False,
    fill_value=0.0,
    data_format="channels_last",
):
    """Pictures, or one, at a size (height, width): stretched, or first cropped or padded."""
    if interpolation not in INTERPOLATIONS:
        raise ValueError(
            "Invalid value for argument `interpolation`. Expected of one "
            f"{INTERPOLATIONS}. Received: interpolation={interpolation}"
        )
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ValueError(
            "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`."
        )
    images = convert_to_tensor(images)
    _check_rank(images)
    is_single = images.shape.ndims == 3
    images = channels_last(images, data_format)
    images = array_ops.expand_dims(images, 0) if is_single else images
    if crop_to_aspect_ratio:
        images = cropped_to_aspect(images, size)
    elif pad_to_aspect_ratio:
        images = _padded_to_aspect(images, size, fill_value)
    found = _scaled(images, [int(d) for d in size], interpolation, antialias)
    found = array_ops.squeeze(found, axis=[0]) if is_single else found
    return channels_back(found, data_format)


def smart_resize(
    x, size, interpolation="bilinear", data_format="channels_last", backend_module=None
):
    """A picture, or a batch, at a size, of the middle in its proportions; of arrays an array."""
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers, but got: {size}.")
    found = resized(x, size, interpolation, crop_to_aspect_ratio=True, data_format=data_format)
    return found.numpy() if isinstance(x, np.ndarray) else found


class ImageLayer(Layer):
    """A layer of pictures: one (height, width, channels), or a batch, or a dict with "images"."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**{"dtype": floatx(), **kwargs})
        self.data_format = data_format or image_data_format()
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                "The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
                f"Received: data_format={data_format}"
            )

    def call(self, inputs, training=True):
        if isinstance(inputs, dict):
            lost = [k for k in inputs if k not in ("images", "labels")]
            if lost:
                raise NotImplementedError(
                    f"{type(self).__name__} of dicts changes images only, not {lost}"
                )
            return {**inputs, "images": self.call(inputs["images"], training=training)}
        images = convert_to_tensor(inputs)
        _check_rank(images)
        return self._changed(images, training)

    def _changed(self, images, training):
        """What the layer makes of a picture, or a batch."""
        raise NotImplementedError

    def _as_floats(self, images):
        return math_ops.cast(images, self.compute_dtype)

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def _resized_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        at = -2 if self.data_format == "channels_first" else -3
        dims[at], dims[at + 1] = self.height, self.width
        return tensor_shape.TensorShape(dims)


@_layer
class Resizing(ImageLayer):
    """Pictures at another size; whole numbers stay such, rounded."""

    def __init__(
        self,
        height,
        width,
        interpolation="bilinear",
        crop_to_aspect_ratio=False,
        pad_to_aspect_ratio=False,
        fill_mode="constant",
        fill_value=0.0,
        antialias=False,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format, **kwargs)
        if fill_mode != "constant":
            raise ValueError(
                "Invalid value for argument `fill_mode`. Only `'constant'` is supported. "
                f"Received: fill_mode={fill_mode}"
            )
        self.height, self.width, self.interpolation = height, width, interpolation
        self.crop_to_aspect_ratio = crop_to_aspect_ratio
        self.pad_to_aspect_ratio = pad_to_aspect_ratio
        self.fill_mode, self.fill_value = fill_mode, fill_value
        self.antialias = bool(antialias)

    def _changed(self, images, training):
        dtype = images.dtype.base_dtype
        found = resized(
            images,
            (self.height, self.width),
            self.interpolation,
            self.antialias,
            self.crop_to_aspect_ratio,
            self.pad_to_aspect_ratio,
            self.fill_value,
            self.data_format,
        )
        if found.dtype.base_dtype == dtype:
            return found
        if dtype.is_integer:
            found = math_ops.round(found)
        return math_ops.saturate_cast(found, dtype)

    def compute_output_shape(self, input_shape):
        return self._resized_shape(input_shape)

    def get_config(self):
        names = (
            "height", "width", "interpolation", "crop_to_aspect_ratio", "pad_to_aspect_ratio",
            "fill_mode", "fill_value", "antialias", "data_format",
        )  # fmt: skip
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


@_layer
class CenterCrop(ImageLayer):
    """The middle of pictures; of smaller ones what has its proportions, enlarged."""

    def __init__(self, height, width, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.height, self.width = height, width

    def _changed(self, images, training):
        images = channels_last(self._as_floats(images), self.data_format)
        height, width = _sizes(images)
        more = height - self.height, width - self.width
        if any(isinstance(d, int) and d < 0 for d in more):
            found = resized(images, (self.height, self.width), crop_to_aspect_ratio=True)
        else:
            top, left = (d // 2 for d in more)
            found = images[..., top : top + self.height, left : left + self.width, :]
        return channels_back(found, self.data_format)

    def compute_output_shape(self, input_shape):
        return self._resized_shape(input_shape)

    def get_config(self):
        names = ("height", "width", "data_format")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
