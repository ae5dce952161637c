"""Convolutions, and what changes the size of lines, images and volumes."""

from rheos.framework import tensor_shape
from rheos.layers import base, convolutional, values
from rheos.layers.convolutional import check_format, numbers, op_format
from rheos.layers.input_spec import InputSpec
from rheos.layers.layer import Layer
from rheos.models import backend_ops, objects
from rheos.models.defaults import image_data_format
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.nn import nn_conv

_layer = objects.known("layer")

_ARGUMENTS = (
    "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
    "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer",
    "bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint",
)  # fmt: skip
_DEFAULTS = {
    "strides": 1,
    "padding": "valid",
    "data_format": None,
    "dilation_rate": 1,
    "activation": None,
    "use_bias": True,
    "kernel_initializer": "glorot_uniform",
    "depthwise_initializer": "glorot_uniform",
    "pointwise_initializer": "glorot_uniform",
    "bias_initializer": "zeros",
    "depth_multiplier": 1,
    "output_padding": None,
    "groups": 1,
}


class _Conv:
    """What convolutions take: arguments by name or in order, with their defaults."""

    _NAMES = _ARGUMENTS
    _REQUIRED = 2

    def __init__(self, *args, **kwargs):
        given = dict(zip(self._NAMES, args))
        if len(args) > len(self._NAMES):
            raise TypeError(f"{type(self).__name__}() takes at most {len(self._NAMES)} arguments")
        for name in self._NAMES:
            if name in kwargs:
                if name in given:
                    raise TypeError(f"{type(self).__name__}() got two values for '{name}'")
                given[name] = kwargs.pop(name)
        for name in self._NAMES[: self._REQUIRED]:
            if name not in given:
                raise TypeError(f"{type(self).__name__}() needs the argument '{name}'")
        for name in self._NAMES:
            given.setdefault(name, _DEFAULTS.get(name))
        if given["data_format"] is None:
            given["data_format"] = image_data_format()
        groups = kwargs.pop("groups", 1)
        self._note(given)
        super().__init__(**resolved(given), **kwargs)
        self.groups = values.check_positive("groups", groups)
        if "filters" in given and given["filters"] is not None and self.filters % groups:
            raise ValueError(
                "The number of filters must be evenly divisible by the number of groups. Received: "
                f"groups={groups}, filters={self.filters}"
            )

    def _note(self, given):
        """Takes what the body does not know from the arguments."""

    def _kernel_shape(self, channels):
        if self.groups > 1:
            if channels % self.groups:
                raise ValueError(
                    f"The number of input channels ({channels}) must be evenly divisible by the "
                    f"number of groups ({self.groups})."
                )
            channels //= self.groups
        return super()._kernel_shape(channels)

    def get_config(self):
        config = {**super().get_config(), **config_of(self, self._NAMES)}
        if self.groups > 1:
            config["groups"] = self.groups
        return config


@_layer("Convolution1D")
class Conv1D(_Conv, convolutional.ConvBody, Layer):
    """A convolution of lines (batch, width, channels)."""

    _rank = 1


@_layer("Convolution2D")
class Conv2D(_Conv, convolutional.ConvBody, Layer):
    """A convolution of images (batch, height, width, channels).

    >>> print(tf.keras.layers.Conv2D(8, 3, padding="same")(tf.ones([1, 6, 6, 3])).shape)
    (1, 6, 6, 8)
    """

    _rank = 2


@_layer("Convolution3D")
class Conv3D(_Conv, convolutional.ConvBody, Layer):
    """A convolution of volumes (batch, depth, height, width, channels)."""

    _rank = 3


class _ConvTranspose(_Conv):
    """What transposed convolutions have beside: output_padding, dilation."""

    _NAMES = (*_ARGUMENTS[:4], "output_padding", *_ARGUMENTS[4:])

    def _note(self, given):
        rank = self._rank
        padding = given.pop("output_padding")
        self.output_padding = None if padding is None else numbers(padding, rank, "output_padding")
        self._dilation = numbers(given.pop("dilation_rate"), rank, "dilation_rate")
        strides = numbers(given["strides"], rank, "strides")
        for stride, more in zip(strides, self.output_padding or ()):
            if stride <= more:
                raise ValueError(
                    f"Stride {strides} must be greater than output padding {self.output_padding}"
                )

    def build(self, input_shape):
        self.dilation_rate = self._dilation
        super().build(input_shape)

    def _full_length(self, size, i):
        taps = (self.kernel_size[i] - 1) * self._dilation[i] + 1
        if self.output_padding is None:
            length = size * self.strides[i]
            return length + max(taps - self.strides[i], 0) if self.padding == "valid" else length
        pad = taps // 2 if self.padding == "same" else 0
        return (size - 1) * self.strides[i] + taps - 2 * pad + self.output_padding[i]

    def _convolve(self, inputs):
        if set(self._dilation) == {1}:
            return super()._convolve(inputs)
        first = 2 if self.data_format == "channels_first" else 1
        dims = array_ops.shape(inputs)
        space = [self._full_length(dims[first + i], i) for i in range(self.rank)]
        sizes = (dims[0], self.filters, *space) if first == 2 else (dims[0], *space, self.filters)
        outputs = nn_conv.conv2d_backprop_input(
            array_ops.stack(sizes),
            self.kernel,
            inputs,
            (1, 1, *self.strides) if first == 2 else (1, *self.strides, 1),
            self.padding.upper(),
            data_format=op_format(self.data_format, self.rank + 2),
            dilations=(1, 1, *self._dilation) if first == 2 else (1, *self._dilation, 1),
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def get_config(self):
        self.dilation_rate = self._dilation
        config = super().get_config()
        if self._rank == 3 and values.runs_in_session():
            del config["dilation_rate"]
        return config


@_layer("Convolution2DTranspose")
class Conv2DTranspose(_ConvTranspose, convolutional.ConvTransposeBody, Layer):
    """A transposed convolution of images, often called deconvolution."""

    _rank = 2


@_layer("Convolution3DTranspose")
class Conv3DTranspose(_ConvTranspose, convolutional.ConvTransposeBody, Layer):
    """A transposed convolution of volumes."""

    _rank = 3


@_layer("Convolution1DTranspose")
class Conv1DTranspose(_ConvTranspose, convolutional.ConvTransposeBody, Layer):
    """A transposed convolution of lines."""

    _rank = 1

    def _convolve(self, inputs):
        first = self.data_format == "channels_first"
        axis = 2 if first else 1
        dims = array_ops.shape(inputs)
        length = self._full_length(dims[axis], 0)
        sizes = (dims[0], self.filters, 1, length) if first else (dims[0], 1, length, self.filters)
        strides = (1, 1, 1, *self.strides) if first else (1, 1, *self.strides, 1)
        outputs = nn_conv.conv2d_transpose(
            array_ops.expand_dims(inputs, axis),
            array_ops.expand_dims(self.kernel, 0),
            array_ops.stack(sizes),
            strides,
            padding=self.padding.upper(),
            data_format=op_format(self.data_format, 4),
        )
        outputs = array_ops.squeeze(outputs, [axis])
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs


_SEPARABLE = (
    "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate",
    "depth_multiplier", "activation", "use_bias", "depthwise_initializer",
    "pointwise_initializer", "bias_initializer", "depthwise_regularizer",
    "pointwise_regularizer", "bias_regularizer", "activity_regularizer",
    "depthwise_constraint", "pointwise_constraint", "bias_constraint",
)  # fmt: skip


class _Separable(_Conv):
    """What separable convolutions have beside, in the configurations of TensorFlow 1."""

    def get_config(self):
        config = super().get_config()
        if values.runs_in_session():
            names = ("kernel_initializer", "kernel_regularizer", "kernel_constraint")
            unused = resolved({name: _DEFAULTS.get(name) for name in names})
            config.update({name: objects.serialize(unused[name]) for name in names})
        return config


@_layer("SeparableConvolution1D")
class SeparableConv1D(_Separable, convolutional.SeparableConvBody, Layer):
    """A separable convolution of lines."""

    _rank = 1
    _NAMES = _SEPARABLE

    def _convolve(self, inputs):
        if self.padding == "causal":
            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs = array_ops.pad(inputs, [[0, 0], [before, 0], [0, 0]])
            self.padding = "valid"
            try:
                return super()._convolve(inputs)
            finally:
                self.padding = "causal"
        return super()._convolve(inputs)


@_layer("SeparableConvolution2D")
class SeparableConv2D(_Separable, convolutional.SeparableConvBody, Layer):
    """A separable convolution of images."""

    _rank = 2
    _NAMES = _SEPARABLE


class _DepthwiseConv(_Conv):
    """A convolution of each channel by itself; the kernel is (..., channels, multiplier)."""

    _NAMES = (
        "kernel_size", "strides", "padding", "depth_multiplier", "data_format", "dilation_rate",
        "activation", "use_bias", "depthwise_initializer", "bias_initializer",
        "depthwise_regularizer", "bias_regularizer", "activity_regularizer",
        "depthwise_constraint", "bias_constraint",
    )  # fmt: skip
    _REQUIRED = 1

    def _note(self, given):
        multiplier = given.pop("depth_multiplier")
        self.depth_multiplier = values.check_within("depth_multiplier", multiplier, 1)
        for name in ("initializer", "regularizer", "constraint"):
            given[f"kernel_{name}"] = given.pop(f"depthwise_{name}")
        given["filters"] = None

    @property
    def depthwise_initializer(self):
        """What the kernel starts as."""
        return self.kernel_initializer

    @property
    def depthwise_regularizer(self):
        """The regularizer of the kernel."""
        return self.kernel_regularizer

    @property
    def depthwise_constraint(self):
        """The constraint of the kernel."""
        return self.kernel_constraint

    def build(self, input_shape):
        self.filters = self.depth_multiplier * base.channel_count(input_shape, self._channel_axis)
        super().build(input_shape)

    def _build_kernel(self, channels):
        self.depthwise_kernel = self.kernel = self.add_weight(
            "depthwise_kernel",
            shape=[*self.kernel_size, channels, self.depth_multiplier],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )

    def compute_output_shape(self, input_shape):
        if self.filters is None:
            channels = base.channel_count(input_shape, self._channel_axis)
            self.filters = self.depth_multiplier * channels
        return super().compute_output_shape(input_shape)


@_layer("DepthwiseConvolution2D")
class DepthwiseConv2D(_DepthwiseConv, convolutional.ConvBody, Layer):
    """A convolution of each channel of images by itself."""

    _rank = 2

    def _convolve(self, inputs):
        first = self.data_format == "channels_first"
        return nn_conv.depthwise_conv2d(
            inputs,
            self.kernel,
            strides=(1, 1, *self.strides) if first else (1, *self.strides, 1),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=op_format(self.data_format, 4),
        )


@_layer("DepthwiseConvolution1D")
class DepthwiseConv1D(_DepthwiseConv, convolutional.ConvBody, Layer):
    """A convolution of each channel of lines by itself."""

    _rank = 1

    def _convolve(self, inputs):
        first = self.data_format == "channels_first"
        axis = 2 if first else 1
        if self.padding == "causal":
            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs = array_ops.pad(inputs, [[0, 0], [before, 0], [0, 0]])
        padding = "VALID" if self.padding == "causal" else self.padding.upper()
        strides = self.strides * 2
        outputs = nn_conv.depthwise_conv2d(
            array_ops.expand_dims(inputs, axis),
            array_ops.expand_dims(self.kernel, 0),
            strides=(1, 1, *strides) if first else (1, *strides, 1),
            padding=padding,
            rate=(1, *self.dilation_rate),
            data_format=op_format(self.data_format, 4),
        )
        return array_ops.squeeze(outputs, [axis])


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D


# ---- Sizes


class _Sized(Layer):
    """A layer of lines, images or volumes that has one setting, and mostly a data format."""

    _RANK = None
    _SETTING = None

    def __init__(self, data_format, **kwargs):
        super().__init__(**kwargs)
        self.data_format = check_format(data_format or image_data_format())
        self.input_spec = InputSpec(ndim=self._RANK + 2)

    @property
    def _first(self):
        return 2 if self.data_format == "channels_first" and self._RANK > 1 else 1

    def _space(self, input_shape, change):
        dims = tensor_shape.as_shape(input_shape).as_list()
        for i in range(self._RANK):
            at = self._first + i
            dims[at] = None if dims[at] is None else change(dims[at], i)
        return tensor_shape.TensorShape(dims)

    def get_config(self):
        config = {**super().get_config(), self._SETTING: getattr(self, self._SETTING)}
        if self._RANK > 1:
            config["data_format"] = self.data_format
        return config


class _UpSampling(_Sized):
    """Repeats rows, columns and so on."""

    _SETTING = "size"

    def __init__(self, size=2, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        count = self._RANK
        size = size if count == 1 else numbers(size, count, "size")
        values.check_positive("size", size)
        self.size = int(size) if count == 1 else size

    def _factors(self):
        return (self.size,) if self._RANK == 1 else self.size

    def call(self, inputs):
        outputs = inputs
        for i, factor in enumerate(self._factors()):
            outputs = rearrange_ops.repeat(outputs, factor, axis=self._first + i)
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        factors = self._factors()
        return self._space(input_shape, lambda size, i: size * factors[i])


@_layer
class UpSampling1D(_UpSampling):
    """Repeats each step."""

    _RANK = 1

    def __init__(self, size=2, **kwargs):
        super().__init__(size, **kwargs)


@_layer
class UpSampling2D(_UpSampling):
    """Repeats rows and columns, or interpolates between them."""

    _RANK = 2

    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(size, data_format, **kwargs)
        if interpolation not in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"):
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or `"bilinear"`.'
            )
        self.interpolation = interpolation

    def call(self, inputs):
        return backend_ops.resize_images(
            inputs, *self.size, self.data_format, interpolation=self.interpolation
        )

    def get_config(self):
        return {**super().get_config(), "interpolation": self.interpolation}


@_layer
class UpSampling3D(_UpSampling):
    """Repeats planes, rows and columns."""

    _RANK = 3

    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(size, data_format, **kwargs)


def _pairs(value, rank, name):
    """A pair for each dimension of a number, of numbers or of pairs; ValueError for others."""
    if isinstance(value, int):
        return ((value, value),) * rank
    try:
        if rank == 1 and len(value) == 2 and all(isinstance(v, int) for v in value):
            return (tuple(value),)
        if len(value) != rank:
            raise TypeError
        return tuple(numbers(v, 2, name) for v in value)
    except TypeError:
        raise ValueError(
            f"`{name}` should be a number, {rank} numbers, or {rank} pairs. Found: {value}"
        ) from None


class _Padding(_Sized):
    """Zeros around."""

    _SETTING = "padding"

    def __init__(self, padding=1, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        pairs = _pairs(padding, self._RANK, "padding")
        for pair in pairs:
            values.check_within("padding", min(pair), 0)
        self._pairs = pairs
        self.padding = pairs[0] if self._RANK == 1 else pairs

    def call(self, inputs):
        pairs = [(0, 0)] * (self._RANK + 2)
        pairs[self._first : self._first + self._RANK] = self._pairs
        return array_ops.pad(inputs, [list(p) for p in pairs])

    def compute_output_shape(self, input_shape):
        return self._space(input_shape, lambda size, i: size + sum(self._pairs[i]))


@_layer
class ZeroPadding1D(_Padding):
    """Zeros before and after lines."""

    _RANK = 1

    def __init__(self, padding=1, **kwargs):
        super().__init__(padding, **kwargs)


@_layer
class ZeroPadding2D(_Padding):
    """Zeros around images."""

    _RANK = 2

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(padding, data_format, **kwargs)


@_layer
class ZeroPadding3D(_Padding):
    """Zeros around volumes."""

    _RANK = 3

    def __init__(self, padding=(1, 1, 1), data_format=None, **kwargs):
        super().__init__(padding, data_format, **kwargs)


class _Cropping(_Sized):
    """Takes away what is at the sides."""

    _SETTING = "cropping"

    def __init__(self, cropping=1, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self._pairs = _pairs(cropping, self._RANK, "cropping")
        for pair in self._pairs:
            values.check_within("cropping", min(pair), 0)
        self.cropping = self._pairs[0] if self._RANK == 1 else self._pairs

    def call(self, inputs):
        kept = [slice(None)] * (self._RANK + 2)
        for i, (before, after) in enumerate(self._pairs):
            kept[self._first + i] = slice(before, -after if after else None)
        return inputs[tuple(kept)]

    def compute_output_shape(self, input_shape):
        return self._space(input_shape, lambda size, i: size - sum(self._pairs[i]))


@_layer
class Cropping1D(_Cropping):
    """Takes away the first and last steps."""

    _RANK = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(cropping, **kwargs)


@_layer
class Cropping2D(_Cropping):
    """Takes away rows and columns at the sides."""

    _RANK = 2

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)


@_layer
class Cropping3D(_Cropping):
    """Takes away planes, rows and columns at the sides."""

    _RANK = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)
