"""Convolution layers.

`data_format` is "channels_last": inputs (batch, spatial..., channels), or "channels_first".
`padding` is "valid" or "same". Variables: kernel (spatial..., channels, filters), bias (filters,).
"""

from rheos.framework import tensor_shape
from rheos.layers import base, values
from rheos.ops.array import array_ops
from rheos.ops.nn import nn_conv, nn_ops
from rheos.ops.state import init_ops


def numbers(value, count, name):
    """A tuple of `count` whole numbers from one number or that many; ValueError for others."""
    if isinstance(value, int):
        return (value,) * count
    try:
        result = tuple(int(v) for v in value)
    except (TypeError, ValueError):
        result = ()
    if len(result) != count:
        raise ValueError(
            f"The `{name}` argument must be a tuple of {count} integers. Received: {value}"
        )
    return result


def check_format(data_format):
    """The data format in lower case; ValueError if there is no such."""
    data_format = data_format.lower()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {data_format}"
        )
    return data_format


def check_padding(padding):
    """The padding in lower case; ValueError if there is no such."""
    padding = padding.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError(
            f'The `padding` argument must be one of "valid", "same". Received: {padding}'
        )
    return padding


def op_format(data_format, rank):
    """The data format as operations spell it, for so many dimensions."""
    spatial = {3: "W", 4: "HW", 5: "DHW"}[rank]
    return f"N{spatial}C" if data_format == "channels_last" else f"NC{spatial}"


class ConvBody:
    """A convolution of `_rank` spatial dimensions, which the subclass says."""

    _rank = None

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format="channels_last",
        dilation_rate=1,
        activation=None,
        use_bias=True,
        kernel_initializer=None,
        bias_initializer=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        rank = self.rank = self._rank
        self.filters = filters
        self.kernel_size = numbers(kernel_size, rank, "kernel_size")
        self.strides = numbers(strides, rank, "strides")
        self.padding = check_padding(padding)
        self.data_format = check_format(data_format)
        self.dilation_rate = numbers(dilation_rate, rank, "dilation_rate")
        for name in ("kernel_size", "strides", "dilation_rate"):
            values.check_positive(name, getattr(self, name))
        if filters is not None:
            values.check_within("filters", filters, 1)
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer or init_ops.zeros_initializer()
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.kernel = None
        self.bias = None
        self.input_spec = base.InputSpec(ndim=rank + 2)

    @property
    def _channel_axis(self):
        return 1 if self.data_format == "channels_first" else -1

    def _kernel_shape(self, channels):
        return [*self.kernel_size, channels, self.filters]

    def build(self, input_shape):
        channels = base.channel_count(input_shape, self._channel_axis)
        self._build_kernel(channels)
        self._build_bias()
        self.input_spec = base.InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        self.built = True

    def _build_kernel(self, channels):
        self.kernel = self.add_weight(
            "kernel",
            shape=self._kernel_shape(channels),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )

    def _build_bias(self):
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.filters],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def call(self, inputs):
        return self._finish(self._convolve(inputs))

    def _convolve(self, inputs):
        padding = self.padding
        if padding == "causal":
            if self.rank != 1 or self.data_format == "channels_first":
                raise ValueError("Causal padding is only supported for `Conv1D`.")
            before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs = array_ops.pad(inputs, [[0, 0], [before, 0], [0, 0]])
            padding = "valid"
        return nn_conv.apply_convolution(
            inputs,
            self.kernel,
            padding.upper(),
            strides=self.strides,
            dilation_rate=self.dilation_rate,
            data_format=op_format(self.data_format, self.rank + 2),
        )

    def _finish(self, outputs):
        if self.use_bias:
            if self.data_format == "channels_last":
                outputs = nn_ops.bias_add(outputs, self.bias)
            elif self.rank == 1:
                outputs += array_ops.reshape(self.bias, (1, self.filters, 1))
            else:
                outputs = nn_ops.bias_add(outputs, self.bias, data_format="NCHW")
        return outputs if self.activation is None else self.activation(outputs)

    def _out_length(self, size, i):
        if size is None:
            return None
        taps = (self.kernel_size[i] - 1) * self.dilation_rate[i] + 1
        if self.padding == "valid":
            size -= taps - 1
        return -(-size // self.strides[i])

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        space = [self._out_length(dims[first + i], i) for i in range(self.rank)]
        if first == 2:
            return tensor_shape.TensorShape([dims[0], self.filters, *space])
        return tensor_shape.TensorShape([dims[0], *space, self.filters])


class Conv1D(ConvBody, base.Layer):
    """A convolution of lines (batch, width, channels)."""

    _rank = 1


class Conv2D(ConvBody, base.Layer):
    """A convolution of images (batch, height, width, channels)."""

    _rank = 2


class Conv3D(ConvBody, base.Layer):
    """A convolution of volumes (batch, depth, height, width, channels)."""

    _rank = 3


class ConvTransposeBody(ConvBody):
    """A transposed convolution; the kernel is (spatial..., filters, channels)."""

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format="channels_last",
        activation=None,
        use_bias=True,
        kernel_initializer=None,
        bias_initializer=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )

    def _kernel_shape(self, channels):
        return [*self.kernel_size, self.filters, channels]

    def _full_length(self, size, i):
        length = size * self.strides[i]
        if self.padding == "valid":
            length += max(self.kernel_size[i] - self.strides[i], 0)
        return length

    def _convolve(self, inputs):
        shape = array_ops.shape(inputs)
        first = 2 if self.data_format == "channels_first" else 1
        batch = shape[0]
        sizes = [shape[first + i] for i in range(self.rank)]
        space = [self._full_length(s, i) for i, s in enumerate(sizes)]
        if first == 2:
            output_shape = (batch, self.filters, *space)
            strides = (1, 1, *self.strides)
        else:
            output_shape = (batch, *space, self.filters)
            strides = (1, *self.strides, 1)
        output_shape = array_ops.stack(output_shape)
        if self.rank == 2:
            # Nobody reads it; but seeds are made of the number of operations before.
            output_shape[0]
        function = nn_conv.conv2d_transpose if self.rank == 2 else nn_conv.conv3d_transpose
        outputs = function(
            inputs,
            self.kernel,
            output_shape,
            strides,
            padding=self.padding.upper(),
            data_format=op_format(self.data_format, self.rank + 2),
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        space = [
            None if dims[first + i] is None else self._full_length(dims[first + i], i)
            for i in range(self.rank)
        ]
        if first == 2:
            return tensor_shape.TensorShape([dims[0], self.filters, *space])
        return tensor_shape.TensorShape([dims[0], *space, self.filters])


class Conv2DTranspose(ConvTransposeBody, base.Layer):
    """A transposed convolution of images, often called deconvolution."""

    _rank = 2


class Conv3DTranspose(ConvTransposeBody, base.Layer):
    """A transposed convolution of volumes."""

    _rank = 3


class SeparableConvBody(ConvBody):
    """A convolution of each channel, then one that mixes the channels.

    Variables: depthwise_kernel (spatial..., channels, depth_multiplier), pointwise_kernel
    (1..., channels * depth_multiplier, filters), bias.
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format="channels_last",
        dilation_rate=1,
        depth_multiplier=1,
        activation=None,
        use_bias=True,
        depthwise_initializer=None,
        pointwise_initializer=None,
        bias_initializer=None,
        depthwise_regularizer=None,
        pointwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        pointwise_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = values.check_within("depth_multiplier", depth_multiplier, 1)
        self.depthwise_initializer = depthwise_initializer
        self.pointwise_initializer = pointwise_initializer
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint
        self.depthwise_kernel = None
        self.pointwise_kernel = None

    def _build_kernel(self, channels):
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel",
            shape=[*self.kernel_size, channels, self.depth_multiplier],
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel",
            shape=[1] * self.rank + [self.depth_multiplier * channels, self.filters],
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
        )

    def _convolve(self, inputs):
        first = 2 if self.data_format == "channels_first" else 1
        depthwise, pointwise = self.depthwise_kernel, self.pointwise_kernel
        strides, rate = self.strides, self.dilation_rate
        if self.rank == 1:
            # A line is an image of one row. Its strides are equal, as the operation wants them.
            inputs = array_ops.expand_dims(inputs, first)
            depthwise = array_ops.expand_dims(depthwise, 0)
            pointwise = array_ops.expand_dims(pointwise, 0)
            strides, rate = strides * 2, (1, *rate)
        outputs = nn_conv.separable_conv2d(
            inputs,
            depthwise,
            pointwise,
            strides=(1, 1, *strides) if first == 2 else (1, *strides, 1),
            padding=self.padding.upper(),
            rate=rate,
            data_format=op_format(self.data_format, 4),
        )
        return outputs

    def _finish(self, outputs):
        if self.rank == 2:
            return super()._finish(outputs)
        first = 2 if self.data_format == "channels_first" else 1
        if self.use_bias:
            outputs = nn_ops.bias_add(
                outputs, self.bias, data_format=op_format(self.data_format, 4)
            )
        outputs = array_ops.squeeze(outputs, [first])
        return outputs if self.activation is None else self.activation(outputs)


class SeparableConv1D(SeparableConvBody, base.Layer):
    """A separable convolution of lines."""

    _rank = 1


class SeparableConv2D(SeparableConvBody, base.Layer):
    """A separable convolution of images."""

    _rank = 2


def conv1d(
    inputs,
    filters,
    kernel_size,
    strides=1,
    padding="valid",
    data_format="channels_last",
    dilation_rate=1,
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=None,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """A convolution of lines: inputs (batch, width, channels), returns (batch, width, filters).

    name: of the variable scope with `kernel` (..., channels, filters) and `bias` (filters,).
    reuse: whether they have to exist already. ValueError if the channels are not known.
    """
    return base.apply_once(Conv1D, locals())


def conv2d(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1),
    padding="valid",
    data_format="channels_last",
    dilation_rate=(1, 1),
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=None,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """A convolution of images (batch, height, width, channels).

    name: of the variable scope with `kernel` (..., channels, filters) and `bias` (filters,).
    reuse: whether they have to exist already. ValueError if the channels are not known.

    >>> print(tf.layers.conv2d(tf.zeros([1, 8, 8, 3]), 4, 3, padding="same").shape)
    (1, 8, 8, 4)
    """
    return base.apply_once(Conv2D, locals())


def conv3d(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1, 1),
    padding="valid",
    data_format="channels_last",
    dilation_rate=(1, 1, 1),
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=None,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """A convolution of volumes (batch, depth, height, width, channels).

    name: of the variable scope with `kernel` (..., channels, filters) and `bias` (filters,).
    reuse: whether they have to exist already. ValueError if the channels are not known.
    """
    return base.apply_once(Conv3D, locals())


def conv2d_transpose(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1),
    padding="valid",
    data_format="channels_last",
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=None,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """A transposed convolution of images (batch, height, width, channels).

    name: of the variable scope with `kernel` (..., filters, channels) and `bias` (filters,).
    reuse: whether they have to exist already. ValueError if the channels are not known.
    """
    return base.apply_once(Conv2DTranspose, locals())


def conv3d_transpose(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1, 1),
    padding="valid",
    data_format="channels_last",
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=None,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """A transposed convolution of volumes.

    name: of the variable scope with `kernel` (..., filters, channels) and `bias` (filters,).
    reuse: whether they have to exist already. ValueError if the channels are not known.
    """
    return base.apply_once(Conv3DTranspose, locals())


def separable_conv1d(
    inputs,
    filters,
    kernel_size,
    strides=1,
    padding="valid",
    data_format="channels_last",
    dilation_rate=1,
    depth_multiplier=1,
    activation=None,
    use_bias=True,
    depthwise_initializer=None,
    pointwise_initializer=None,
    bias_initializer=None,
    depthwise_regularizer=None,
    pointwise_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    depthwise_constraint=None,
    pointwise_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """A convolution of each channel of lines (batch, width, channels), then a mix.

    name: of the variable scope with `depthwise_kernel` (..., channels, depth_multiplier),
    `pointwise_kernel` (1..., channels * depth_multiplier, filters) and `bias` (filters,).
    """
    return base.apply_once(SeparableConv1D, locals())


def separable_conv2d(
    inputs,
    filters,
    kernel_size,
    strides=(1, 1),
    padding="valid",
    data_format="channels_last",
    dilation_rate=(1, 1),
    depth_multiplier=1,
    activation=None,
    use_bias=True,
    depthwise_initializer=None,
    pointwise_initializer=None,
    bias_initializer=None,
    depthwise_regularizer=None,
    pointwise_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    depthwise_constraint=None,
    pointwise_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """A convolution of each channel of images (batch, height, width, channels), then a mix.

    name: of the variable scope with `depthwise_kernel` (..., channels, depth_multiplier),
    `pointwise_kernel` (1..., channels * depth_multiplier, filters) and `bias` (filters,).
    """
    return base.apply_once(SeparableConv2D, locals())
