"""Layers that change pictures at random in training: turned, shifted, brighter and so on."""

import math

import numpy as np

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.models import objects, random_numbers
from rheos.models.layers.pictures import ImageLayer, channels_back, channels_last, resized
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops

_layer = objects.known("layer")
_FILLS = ("reflect", "wrap", "constant", "nearest")
_INTERPOLATIONS = ("nearest", "bilinear")


def _range_of(factor, low, high, name="factor", is_open=False):
    """(lowest, highest) of a factor: a number, or two; ValueError outside of low to high."""
    numbers = list(factor) if isinstance(factor, (tuple, list)) else [factor]
    is_wrong = not all(isinstance(x, (int, float)) for x in numbers)
    is_wrong = is_wrong or len(numbers) not in (1, 2)
    is_wrong = is_wrong or any(x > high or x < low or is_open and x == low for x in numbers)
    if is_wrong:
        raise ValueError(
            f"The `{name}` argument should be a number (or a list of two numbers) in the range "
            f"[{low}, {high}]. Received: {name}={factor}"
        )
    if isinstance(factor, (tuple, list)):
        if len(numbers) != 2:
            raise ValueError(f"The `{name}` argument takes one or two numbers: {factor}")
        return tuple(sorted(numbers))
    size = abs(factor)
    return max(-size, low), size


class _RandomLayer(ImageLayer):
    """A layer that draws what it does to pictures, in training."""

    _SETTINGS = ()

    def __init__(self, seed=None, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.seed = seed
        self.generator = random_numbers.SeedGenerator(seed)

    def _changed(self, images, training):
        images = self._as_floats(images)
        if not training:
            return images
        is_single = images.shape.ndims == 3
        batch = channels_last(images, self.data_format)
        batch = array_ops.expand_dims(batch, 0) if is_single else batch
        found = self._drawn(batch)
        found.set_shape(batch.shape)
        found = array_ops.squeeze(found, axis=[0]) if is_single else found
        return channels_back(found, self.data_format)

    def _drawn(self, images):
        """A batch of pictures, the channels last, changed."""
        raise NotImplementedError

    def _uniform(self, shape, low, high):
        return random_numbers.uniform(shape, low, high, "float32", self.generator)

    def get_config(self):
        names = (*self._SETTINGS, "seed")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}


@_layer
class RandomFlip(_RandomLayer):
    """Half of the pictures mirrored: left and right, up and down, or both."""

    _SETTINGS = ("mode", "data_format")

    def __init__(self, mode="horizontal_and_vertical", seed=None, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        if mode not in ("horizontal", "vertical", "horizontal_and_vertical"):
            raise ValueError(f"RandomFlip has no mode {mode!r}")
        self.mode = mode

    def _drawn(self, images):
        count = array_ops.shape(images)[0]
        is_turned = math_ops.less_equal(self._uniform([count, 1, 1, 1], 0.0, 1.0), 0.5)
        for name, axis in (("horizontal", 2), ("vertical", 1)):
            if name in self.mode:
                mirrored = array_ops.reverse(images, axis=[axis])
                images = op1("SelectV2", None, is_turned, mirrored, images)
        return images


class _AffineLayer(_RandomLayer):
    """A layer that moves pixels: by a matrix for each picture, and what fills the rest."""

    def __init__(self, fill_mode, interpolation, fill_value, seed, data_format, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        for name, value, allowed in (
            ("fill_mode", fill_mode, _FILLS),
            ("interpolation", interpolation, _INTERPOLATIONS),
        ):
            if value not in allowed:
                raise NotImplementedError(f"Unknown `{name}` {value}. Expected of one {allowed}.")
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def _matrix(self, count, height, width):
        """Six columns: those of the coordinates' first two rows."""
        raise NotImplementedError

    def _drawn(self, images):
        shape = array_ops.shape(images)
        height, width = (math_ops.cast(shape[i], "float32") for i in (1, 2))
        columns = self._matrix(shape[0], height, width)
        zeros = array_ops.zeros_like(columns[0])
        matrix = array_ops.concat([*columns, zeros, zeros], axis=1)
        return op1(
            "ImageProjectiveTransformV3", None, images, matrix, shape[1:3],
            convert_to_tensor(float(self.fill_value)), interpolation=self.interpolation.upper(),
            fill_mode=self.fill_mode.upper(),
        )  # fmt: skip


@_layer
class RandomRotation(_AffineLayer):
    """Pictures turned by up to a share of a full turn."""

    _SETTINGS = ("factor", "data_format", "fill_mode", "fill_value", "interpolation")

    def __init__(self, factor, fill_mode="reflect", interpolation="bilinear", seed=None,
                 fill_value=0.0, data_format=None, **kwargs):  # fmt: skip
        super().__init__(fill_mode, interpolation, fill_value, seed, data_format, **kwargs)
        self.factor = _range_of(factor, -1, 1)

    def _matrix(self, count, height, width):
        low, high = (bound * 360.0 for bound in self.factor)
        angle = self._uniform([count], low, high) * np.float32(math.pi / 180.0)
        angle = array_ops.expand_dims(angle, 1)
        x, y = 0.5 * (width - 1), 0.5 * (height - 1)
        cos, sin = math_ops.cos(angle), math_ops.sin(angle)
        return [cos, -sin, x - x * cos + y * sin, sin, cos, y - x * sin - y * cos]


@_layer
class RandomTranslation(_AffineLayer):
    """Pictures shifted by up to shares of their height and width."""

    _SETTINGS = ("height_factor", "width_factor", "fill_mode", "interpolation", "fill_value",
                 "data_format")  # fmt: skip

    def __init__(self, height_factor, width_factor, fill_mode="reflect", interpolation="bilinear",
                 seed=None, fill_value=0.0, data_format=None, **kwargs):  # fmt: skip
        super().__init__(fill_mode, interpolation, fill_value, seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._ranges = (
            _range_of(height_factor, -1.0, 1.0, "height_factor"),
            _range_of(width_factor, -1.0, 1.0, "width_factor"),
        )

    def _matrix(self, count, height, width):
        down, right = (
            self._uniform([count, 1], *bounds) * size
            for bounds, size in zip(self._ranges, (height, width))
        )
        ones, zeros = array_ops.ones_like(down), array_ops.zeros_like(down)
        return [ones, zeros, -right, zeros, ones, -down]


@_layer
class RandomZoom(_AffineLayer):
    """Pictures nearer (below 0) or farther, by shares of height and width."""

    _SETTINGS = RandomTranslation._SETTINGS

    def __init__(self, height_factor, width_factor=None, fill_mode="reflect",
                 interpolation="bilinear", seed=None, fill_value=0.0, data_format=None,
                 **kwargs):  # fmt: skip
        super().__init__(fill_mode, interpolation, fill_value, seed, data_format, **kwargs)
        self.height_factor, self.width_factor = height_factor, width_factor
        given = [("height_factor", height_factor), ("width_factor", width_factor)]
        self._ranges = [
            _range_of(factor, -1.0, 1.0, name, is_open=True)
            for name, factor in given
            if factor is not None
        ]

    def _matrix(self, count, height, width):
        drawn = [self._uniform([count, 1], 1.0 + low, 1.0 + high) for low, high in self._ranges]
        down, right = drawn[0], drawn[-1]
        zeros = array_ops.zeros_like(down)
        x = (width - 1.0) / 2.0 * (1.0 - right)
        y = (height - 1.0) / 2.0 * (1.0 - down)
        return [right, zeros, x, zeros, down, y]


@_layer
class RandomShear(_AffineLayer):
    """Pictures slanted by shares of their size along x and y."""

    _SETTINGS = ("x_factor", "y_factor", "fill_mode", "interpolation", "fill_value",
                 "data_format")  # fmt: skip

    def __init__(self, x_factor=0.0, y_factor=0.0, interpolation="bilinear", fill_mode="reflect",
                 fill_value=0.0, data_format=None, seed=None, **kwargs):  # fmt: skip
        super().__init__(fill_mode, interpolation, fill_value, seed, data_format, **kwargs)
        self.x_factor, self.y_factor = x_factor, y_factor
        self._ranges = []
        for name, factor in (("y_factor", y_factor), ("x_factor", x_factor)):
            bounds = _range_of(factor, 0, 1, name)
            self._ranges.append(bounds if isinstance(factor, (tuple, list)) else
                                (-bounds[1], bounds[1]))  # fmt: skip

    def _matrix(self, count, height, width):
        is_back = math_ops.greater(self._uniform([count, 1], 0.0, 1.0), 0.5)
        y, x = (self._uniform([count, 1], *bounds) for bounds in self._ranges)
        y, x = (op1("SelectV2", None, is_back, -drawn, drawn) for drawn in (y, x))
        ones, zeros = array_ops.ones_like(x), array_ops.zeros_like(x)
        return [ones, x, zeros, y, ones, zeros]


@_layer
class RandomCrop(_RandomLayer):
    """In training a part of pictures, anywhere; of smaller ones the middle, enlarged."""

    _SETTINGS = ("height", "width", "data_format")

    def __init__(self, height, width, seed=None, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.height, self.width = height, width

    def _changed(self, images, training):
        if not training:
            return self._as_floats(images)
        images = channels_last(self._as_floats(images), self.data_format)
        height, width = images.shape.as_list()[-3:-1]
        if height is None or width is None:
            raise ValueError(
                "RandomCrop requires the input to have a fully defined height and width. "
                f"Received: images.shape={images.shape}"
            )
        if height > self.height and width > self.width:
            top, left = (
                math_ops.cast(self._uniform([], 0.0, float(have - want + 1)), "int32")
                for have, want in ((height, self.height), (width, self.width))
            )
            found = images[..., top : top + self.height, left : left + self.width, :]
            found.set_shape([*images.shape.as_list()[:-3], self.height, self.width, None])
        else:
            found = self._middle(images, height, width)
        return channels_back(found, self.data_format)

    def _middle(self, images, height, width):
        tall = max(min(height, int(width * self.height / self.width)), 1)
        wide = max(min(width, int(height * self.width / self.height)), 1)
        top, left = (height - tall) // 2, (width - wide) // 2
        found = images[..., top : top + self.height, left : left + self.width, :]
        return self._as_floats(resized(found, (self.height, self.width)))

    def compute_output_shape(self, input_shape):
        return self._resized_shape(input_shape)


def _clipped(images, bounds):
    return math_ops.minimum(math_ops.maximum(images, float(bounds[0])), float(bounds[1]))


@_layer
class RandomContrast(_RandomLayer):
    """Pictures with less or more contrast, by up to a factor."""

    _SETTINGS = ("factor", "value_range")

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self.factor = _range_of(factor, 0, 1)
        self.value_range = value_range

    def _drawn(self, images):
        count = array_ops.shape(images)[0]
        low, high = self.factor
        factor = self._uniform([count, 1, 1, 1], 1.0 - low, 1.0 + high)
        mean = math_ops.reduce_mean(images, axis=[1], keepdims=True)
        mean = math_ops.reduce_mean(mean, axis=[2], keepdims=True)
        factor = math_ops.cast(factor, images.dtype)
        return _clipped((images - mean) * factor + mean, self.value_range)


@_layer
class RandomBrightness(_RandomLayer):
    """Pictures brighter or darker, by up to a share of the range of values."""

    _SETTINGS = ("factor", "value_range")

    def __init__(self, factor, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        self.factor = _range_of(factor, -1, 1)
        if not isinstance(value_range, (tuple, list)) or len(value_range) != 2:
            raise ValueError(
                "The `value_range` argument should be a list of two numbers. Received: "
                f"value_range={value_range}"
            )
        self.value_range = sorted(value_range)

    def _drawn(self, images):
        count = array_ops.shape(images)[0]
        low, high = self.value_range
        more = self._uniform([count, 1, 1, 1], *self.factor) * float(high - low)
        return _clipped(images + math_ops.cast(more, images.dtype), self.value_range)
