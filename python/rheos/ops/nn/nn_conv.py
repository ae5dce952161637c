"""Convolutions: of images (batch, height, width, channels), of lines and of volumes.

`strides` and `dilations` are one number, one for each spatial dimension, or one for each dimension.
`padding` is "VALID", "SAME", or for conv2d a pair (before, after) for each dimension.
"""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.math import math_ops


def one_of(new_name, new, old_name, old):
    """The one of two spellings of an argument that was given."""
    if new is None:
        return old
    if old is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return new


def per_dimension(value, spatial, channel_index, name):
    """A number for each dimension of a batch; 1 for the batch and the channels."""
    if value is None:
        value = [1]
    elif not hasattr(value, "__len__"):
        value = [value]
    if len(value) == spatial + 2:
        return list(value)
    if len(value) == 1:
        value = list(value) * spatial
    elif len(value) != spatial:
        raise ValueError(
            f"{name} should be of length 1, {spatial} or {spatial + 2} but was {len(value)}"
        )
    value = list(value)
    return [1, 1, *value] if channel_index == 1 else [1, *value, 1]


def _channel_index(data_format, last):
    return 1 if data_format is not None and data_format.startswith("NC") else last


def _padding(padding):
    """(padding, explicit paddings) as attributes."""
    if isinstance(padding, str):
        if padding == "EXPLICIT":
            raise ValueError(
                '"EXPLICIT" is not a valid value for the padding parameter. To use explicit '
                "padding, the padding parameter must be a list."
            )
        return padding, []
    if not isinstance(padding, (list, tuple)):
        raise ValueError(f"padding must be a string or a list, got {padding!r}")
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)):
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple of size 2. "
                f"Element with index {i} of padding is not a list/tuple"
            )
        if len(pair) != 2:
            raise ValueError(
                "When padding is a list, each element of padding must be a list/tuple of size 2. "
                f"Element with index {i} of padding has size {len(pair)}"
            )
    flat = [n for pair in padding for n in pair]
    if len(flat) != 8:
        raise ValueError(
            "When padding is a list, it must be of length 4, but got a list of length "
            f"{len(padding)}"
        )
    return "EXPLICIT", flat


# ---- One op each


def conv2d(
    input,
    filter=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
    filters=None,
):
    """The convolution of images.

    input: (batch, height, width, channels), or (batch, channels, height, width) for the data_format
    "NCHW". filter: (rows, columns, channels, out channels). Returns (batch, out height, out width,
    out channels): a window at every stride, dilations apart. ValueError if the channels differ.
    """
    filter = one_of("filters", filters, "filter", filter)
    padding, explicit = _padding(padding)
    data_format = data_format or "NHWC"
    channel = _channel_index(data_format, 3)
    return op1(
        "Conv2D",
        name,
        input,
        filter,
        strides=per_dimension(strides, 2, channel, "strides"),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=per_dimension(dilations, 2, channel, "dilations"),
    )


def conv2d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of conv2d to its filter, of shape `filter_sizes` (a vector of 4)."""
    padding, explicit = _padding(padding)
    return op1(
        "Conv2DBackpropFilter",
        name,
        input,
        filter_sizes,
        out_backprop,
        strides=list(strides),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
    )


def conv2d_backprop_input(
    input_sizes,
    filter=None,
    out_backprop=None,
    strides=None,
    padding=None,
    use_cudnn_on_gpu=True,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
    filters=None,
):
    """The gradient of conv2d to its input, of shape `input_sizes` (a vector of 4)."""
    filter = one_of("filters", filters, "filter", filter)
    padding, explicit = _padding(padding)
    return op1(
        "Conv2DBackpropInput",
        name,
        input_sizes,
        filter,
        out_backprop,
        strides=list(strides),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
    )


def conv3d(
    input,
    filter=None,
    strides=None,
    padding=None,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
    name=None,
    filters=None,
):
    """The convolution of volumes.

    input: (batch, depth, height, width, channels). filter: (planes, rows, columns, channels, out
    channels). strides: 5 numbers. Returns (batch, out depth, out height, out width, out channels).
    """
    filter = one_of("filters", filters, "filter", filter)
    return op1(
        "Conv3D",
        name,
        input,
        filter,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
    )


def conv3d_backprop_filter_v2(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
    name=None,
):
    """The gradient of conv3d to its filter, of shape `filter_sizes` (a vector of 5)."""
    return op1(
        "Conv3DBackpropFilterV2",
        name,
        input,
        filter_sizes,
        out_backprop,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
    )


def depthwise_conv2d_native(
    input, filter, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1), name=None
):
    """Convolves each channel on its own.

    input: (batch, height, width, channels). filter: (rows, columns, channels, multiplier). strides:
    4 numbers. Returns (batch, out height, out width, channels * multiplier).
    """
    return op1(
        "DepthwiseConv2dNative",
        name,
        input,
        filter,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
    )


def depthwise_conv2d_native_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of depthwise_conv2d_native to its filter, of shape `filter_sizes`."""
    return op1(
        "DepthwiseConv2dNativeBackpropFilter",
        name,
        input,
        filter_sizes,
        out_backprop,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
    )


def depthwise_conv2d_native_backprop_input(
    input_sizes,
    filter,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of depthwise_conv2d_native to its input, of shape `input_sizes`."""
    return op1(
        "DepthwiseConv2dNativeBackpropInput",
        name,
        input_sizes,
        filter,
        out_backprop,
        strides=list(strides),
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
    )


def dilation2d(
    input,
    filter=None,
    strides=None,
    rates=None,
    padding=None,
    name=None,
    filters=None,
    dilations=None,
):
    """The grayscale dilation: the maximum over windows of input + filter.

    input: (batch, height, width, depth). filter: (rows, columns, depth). strides, rates:
    [1, rows, columns, 1].
    """
    filter = one_of("filters", filters, "filter", filter)
    rates = one_of("dilations", dilations, "rates", rates)
    return op1("Dilation2D", name, input, filter, strides=strides, rates=rates, padding=padding)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """The grayscale erosion: the minimum over windows of value - kernel; see dilation2d."""
    with name_scope(name, "erosion2d", [value, kernel]) as name:
        turned = op1(
            "Dilation2D",
            None,
            math_ops.negative(value),
            array_ops.reverse(kernel, [0, 1]),
            strides=strides,
            rates=rates,
            padding=padding,
        )
        return math_ops.negative(turned, name=name)


# ---- Lines


def conv1d(
    value=None,
    filters=None,
    stride=None,
    padding=None,
    use_cudnn_on_gpu=None,
    data_format=None,
    name=None,
    input=None,
    dilations=None,
):
    """The convolution of lines.

    value: (batch, width, channels), or (batch, channels, width) for the data_format "NCW". filters:
    (columns, channels, out channels). Returns (batch, out width, out channels).
    """
    value = one_of("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as name:
        if data_format in (None, "NHWC", "NWC"):
            data_format, place, channel = "NHWC", 1, 2
        elif data_format in ("NCHW", "NCW"):
            data_format, place, channel = "NCHW", 2, 1
        else:
            raise ValueError('data_format must be "NWC" or "NCW".')
        strides = [1, *per_dimension(stride, 1, channel, "stride")]
        dilations = [1, *per_dimension(dilations, 1, channel, "dilations")]
        value = array_ops.expand_dims(value, place)
        filters = array_ops.expand_dims(filters, 0)
        result = conv2d(
            value,
            filters,
            strides,
            padding,
            use_cudnn_on_gpu=True if use_cudnn_on_gpu is None else use_cudnn_on_gpu,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return array_ops.squeeze(result, [place])


# ---- Transposed


def conv2d_transpose(
    value=None,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
):
    """The transpose of conv2d, often called deconvolution.

    value: (batch, height, width, channels). filter: (rows, columns, out channels, channels).
    output_shape: the shape of the result, (batch, out height, out width, out channels).
    ValueError if the shapes do not fit.

    >>> spread = tf.nn.conv2d_transpose(
    ...     tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], strides=2)
    >>> print(spread.shape)
    (1, 4, 4, 1)
    """
    value = one_of("input", input, "value", value)
    filter = one_of("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NHWC"
        channel = _channel_index(data_format, 3)
        return conv2d_backprop_input(
            input_sizes=output_shape,
            filter=filter,
            out_backprop=value,
            strides=per_dimension(strides, 2, channel, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_dimension(dilations, 2, channel, "dilations"),
            name=name,
        )


def conv3d_transpose(
    value,
    filter=None,
    output_shape=None,
    strides=None,
    padding="SAME",
    data_format="NDHWC",
    name=None,
    input=None,
    filters=None,
    dilations=None,
):
    """The transpose of conv3d; see conv2d_transpose."""
    value = one_of("input", input, "value", value)
    filter = one_of("filters", filters, "filter", filter)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as name:
        data_format = data_format or "NDHWC"
        channel = _channel_index(data_format, 4)
        return op1(
            "Conv3DBackpropInputV2",
            name,
            output_shape,
            filter,
            value,
            strides=per_dimension(strides, 3, channel, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=per_dimension(dilations, 3, channel, "dilations"),
        )


def conv1d_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NWC",
    dilations=None,
    name=None,
):
    """The transpose of conv1d; see conv2d_transpose."""
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as name:
        if data_format in (None, "NHWC", "NWC"):
            data_format, place, channel = "NHWC", 1, 2
        elif data_format in ("NCHW", "NCW"):
            data_format, place, channel = "NCHW", 2, 1
        else:
            raise ValueError('data_format must be "NWC" or "NCW".')
        strides = [1, *per_dimension(strides, 1, channel, "stride")]
        dilations = [1, *per_dimension(dilations, 1, channel, "dilations")]
        input = array_ops.expand_dims(input, place)
        filters = array_ops.expand_dims(filters, 0)
        if not isinstance(output_shape, Tensor):
            output_shape = list(output_shape)
        before = output_shape[:place]
        output_shape = array_ops.concat([before, [1], output_shape[place:]], 0)
        result = conv2d_backprop_input(
            input_sizes=output_shape,
            filter=filters,
            out_backprop=input,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return array_ops.squeeze(result, place)


def conv_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format=None,
    dilations=None,
    name=None,
):
    """conv1d_transpose, conv2d_transpose or conv3d_transpose, as `output_shape` tells."""
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as name:
        if not isinstance(output_shape, Tensor) and not hasattr(output_shape, "__len__"):
            raise ValueError("output_shape must be a tensor or sized collection.")
        if isinstance(output_shape, Tensor):
            size = output_shape.shape.size_at(0)
        else:
            size = len(output_shape)
        functions = {3: conv1d_transpose, 4: conv2d_transpose, 5: conv3d_transpose}
        if size not in functions:
            raise ValueError("output_shape must be of length 3, 4 or 5 but was {}.".format(size))
        formats = {3: "NWC", 4: "NHWC", 5: "NDHWC"}
        return functions[size](
            input,
            filters,
            output_shape,
            strides,
            padding=padding,
            data_format=data_format or formats[size],
            dilations=dilations,
            name=name,
        )


# ---- Dilated, through batches of parts


def _base_paddings(filter_shape, rate):
    """What "SAME" adds around each dimension for a filter whose taps lie `rate` apart."""
    taps = filter_shape - 1
    around = taps * rate
    before = around // 2
    return before, around - before


def _adjusted(values, fill, spatial_dims):
    """Rows for the dimensions from 1 on; `fill` where a dimension is not spatial."""
    known = constant_value(values) if isinstance(values, Tensor) else np.asarray(values)
    last = max(spatial_dims)
    if known is not None:
        result = np.full([last, *known.shape[1:]], fill, dtype=np.int32)
        for row, dim in zip(known, spatial_dims):
            result[dim - 1] = row
        return result
    rest = values.shape[1:].as_list()
    if spatial_dims == list(range(1, last + 1)):
        return values
    parts, at = [], 1
    for i, dim in enumerate(spatial_dims):
        if dim > at:
            parts.append(array_ops.fill([dim - at, *rest], fill))
        parts.append(values[i : i + 1])
        at = dim + 1
    return array_ops.concat(parts, 0)


def with_space_to_batch(
    input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None
):
    """Calls op(input, number of spatial dimensions, padding) on a batch of dilated parts.

    dilation_rate: (n,), how far apart the parts' elements lie. With a rate of 1 everywhere, `op` is
    called once with `input`. filter_shape: (n,) or more, needed for the padding "SAME".
    """
    input = convert_to_tensor(input, name="input")
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    rate.shape.with_rank(1)
    if not rate.shape.is_fully_defined():
        raise ValueError("rate must have known shape")
    count = rate.shape.size_at(0)
    starts_with_nc = data_format is not None and data_format.startswith("NC")
    if spatial_dims is None:
        first = 2 if starts_with_nc else 1
        spatial_dims = list(range(first, first + count))
    spatial_dims = sorted({int(d) for d in spatial_dims})
    known_rate = constant_value(rate)
    if known_rate is not None:
        if (known_rate <= 0).any():
            raise ValueError("dilation_rate must be positive")
        if (known_rate == 1).all():
            return op(input, count, padding)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"Invalid padding method {padding!r}")
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding")
        filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
        known_filter = constant_value(filter_shape)
        shape = known_filter if known_filter is not None else filter_shape
        rates = known_rate if known_rate is not None and known_filter is not None else rate
        before, after = _base_paddings(shape[:count], rates)
        if isinstance(before, np.ndarray):
            base = array_ops.stack(np.stack([before, after], axis=1))
        else:
            base = array_ops.stack([[before[i], after[i]] for i in range(count)])
    else:
        base = np.zeros([count, 2], np.int32)
    known = [input.shape.size_at(d) for d in spatial_dims] if input.shape.ndims else [None]
    if all(d is not None for d in known):
        spatial_shape = np.array(known, np.int32)
    else:
        whole = array_ops.shape(input)
        spatial_shape = array_ops.stack([whole[d] for d in spatial_dims])
    paddings, crops = rearrange_ops.required_space_to_batch_paddings(
        input_shape=spatial_shape, base_paddings=base, block_shape=rate
    )
    block = _adjusted(rate, 1, spatial_dims)
    paddings = _adjusted(paddings, 0, spatial_dims)
    crops = _adjusted(crops, 0, spatial_dims)
    parts = rearrange_ops.space_to_batch_nd(input, block_shape=block, paddings=paddings)
    result = op(parts, count, "VALID")
    joined = rearrange_ops.batch_to_space_nd(result, block_shape=block, crops=crops)
    if input.shape.ndims is not None and result.shape.ndims is not None:
        channels = result.shape.size_at(1 if starts_with_nc else -1)
        dims = [input.shape.size_at(0)] + [None] * (result.shape.ndims - 1)
        dims[1 if starts_with_nc else -1] = channels
        joined.set_shape(dims)
    return joined


def _each(spatial, sizes):
    """A list of a number for each spatial dimension, of which one may be given for all."""
    if isinstance(sizes, (int, np.integer)):
        return [sizes] * spatial
    sizes = sizes if isinstance(sizes, Tensor) else list(sizes)
    return sizes * spatial if isinstance(sizes, list) and len(sizes) == 1 else sizes


def _rates(spatial, strides, dilation_rate):
    strides = _each(spatial, 1 if strides is None else strides)
    rates = _each(spatial, 1 if dilation_rate is None else dilation_rate)
    if len(strides) != spatial:
        raise ValueError(f"len(strides)={len(strides)} but should be {spatial}")
    if any(s < 1 for s in strides):
        raise ValueError("all values of strides must be positive")
    known = rates if not isinstance(rates, Tensor) else constant_value(rates)
    if known is not None:
        if len(known) != spatial:
            raise ValueError(f"len(dilation_rate)={len(known)} but should be {spatial}")
        if any(r < 1 for r in known):
            raise ValueError("all values of dilation_rate must be positive")
        if any(s > 1 for s in strides) and any(r > 1 for r in known):
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    return strides, rates


def convolution(
    input,
    filter,
    padding,
    strides=None,
    dilation_rate=None,
    name=None,
    data_format=None,
    filters=None,
    dilations=None,
):
    """The convolution of 1, 2 or 3 spatial dimensions, as the shapes tell.

    input: (batch, spatial..., channels). filter: (spatial..., channels, out channels). strides,
    dilation_rate: one number for each spatial dimension; not both above 1.
    ValueError if the shapes do not fit.
    """
    filter = one_of("filters", filters, "filter", filter)
    dilation_rate = one_of("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, filter]) as name:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(filter, name="filter")
        if dilation_rate is not None and _is_one(dilation_rate):
            dilation_rate = None
        return apply_convolution(input, filter, padding, strides, dilation_rate, name, data_format)


def _are_channels_of(channels, of_filter):
    """Whether so many channels may be convolved: in one group, or several, by such a filter."""
    return channels is None or of_filter is None or (of_filter > 0 and channels % of_filter == 0)


def _is_one(rates):
    """Whether rates of dilation are known to be 1."""
    if isinstance(rates, Tensor):
        return False
    return all(r == 1 for r in (rates if hasattr(rates, "__len__") else [rates]))


def apply_convolution(
    input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None
):
    """convolution() of tensors, without a name scope of its own: `name` is the operation's."""
    if dilation_rate is not None and input._is_eager and _is_one(dilation_rate):
        dilation_rate = None  # graphs have TensorFlow's nodes
    if filter.shape.ndims is not None:
        spatial = filter.shape.ndims - 2
    elif input.shape.ndims is not None:
        spatial = input.shape.ndims - 2
    else:
        raise ValueError("rank of input or filter must be known")
    input.shape.with_rank(spatial + 2)
    channels_first = data_format is not None and data_format.startswith("NC")
    channels = input.shape.dimension_at(1 if channels_first else spatial + 1)
    if not _are_channels_of(channels.value, filter.shape.size_at(spatial)):
        raise ValueError(
            "number of input channels does not match corresponding dimension of filter, "
            f"{channels} != {filter.shape[spatial]}"
        )
    strides, rates = _rates(spatial, strides, dilation_rate)

    def convolve(parts, _, its_padding):
        return _convolve(parts, filter, strides, its_padding, data_format, name, spatial)

    if dilation_rate is None:
        return convolve(input, spatial, padding)
    return with_space_to_batch(
        input,
        rates,
        padding,
        convolve,
        filter_shape=filter.shape.as_list()
        if filter.shape.is_fully_defined()
        else array_ops.shape(filter),
        data_format=data_format,
    )


def _convolve(input, filter, strides, padding, data_format, name, spatial):
    """One convolution without dilation."""
    channels_first = data_format is not None and data_format.startswith("NC")
    if spatial == 1:
        return conv1d(
            input,
            filter,
            stride=strides[0],
            padding=padding,
            data_format="NCW" if channels_first else "NWC",
            name=name,
        )
    strides = [1, 1, *strides] if channels_first else [1, *strides, 1]
    if spatial == 2:
        return conv2d(
            input,
            filter,
            strides,
            padding,
            data_format=data_format or "NHWC",
            name=name,
        )
    if spatial == 3:
        return conv3d(
            input, filter, strides, padding, data_format=data_format or "NDHWC", name=name
        )
    raise ValueError(f"num_spatial_dims must be 1, 2, or 3 but was {spatial}.")


def atrous_conv2d(value, filters, rate, padding, name=None):
    """conv2d with filters whose taps lie `rate` apart; see convolution for the shapes."""
    return convolution(
        input=value,
        filter=filters,
        padding=padding,
        dilation_rate=[int(rate)] * 2 if np.isscalar(rate) else rate,
        name=name,
    )


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of atrous_conv2d.

    value: (batch, height, width, channels). filters: (rows, columns, out channels, channels).
    output_shape: (batch, out height, out width, out channels).
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as name:
        value = convert_to_tensor(value, name="value")
        filters = convert_to_tensor(filters, name="filters")
        if not value.shape.dimension_at(3).is_compatible_with(filters.shape[3]):
            raise ValueError(
                "value's input channels does not match filters' input channels, {} != {}".format(
                    value.shape[3], filters.shape[3]
                )
            )
        if rate < 1:
            raise ValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return conv2d_transpose(
                value, filters, output_shape, strides=[1, 1, 1, 1], padding=padding
            )
        output_shape = convert_to_tensor(output_shape, name="output_shape")
        if padding == "SAME":
            rows, columns = filters.shape.size_at(0), filters.shape.size_at(1)
            around = [(rows - 1) * rate, (columns - 1) * rate]
            before = [n // 2 for n in around]
            after = [n - b for n, b in zip(around, before)]
        elif padding == "VALID":
            before = after = [0, 0]
        else:
            raise ValueError("padding must be either VALID or SAME: {}".format(padding))
        full = [output_shape[i + 1] + before[i] + after[i] for i in range(2)]
        more = [(rate - full[i] % rate) % rate for i in range(2)]
        crop = [[before[i], after[i] + more[i]] for i in range(2)]
        in_shape = [
            rate * rate * output_shape[0],
            (full[0] + more[0]) // rate,
            (full[1] + more[1]) // rate,
            output_shape[3],
        ]
        value = rearrange_ops.space_to_batch(
            value, [[0, _more(value, 1, rate)], [0, _more(value, 2, rate)]], block_size=rate
        )
        result = conv2d_backprop_input(
            input_sizes=array_ops.stack(in_shape),
            filter=filters,
            out_backprop=value,
            strides=[1, 1, 1, 1],
            padding="VALID",
        )
        return rearrange_ops.batch_to_space(
            result, crops=math_ops.cast(array_ops.stack(crop), dtypes.int32), block_size=rate
        )


def _more(value, dim, rate):
    """How many elements a dimension lacks to be a multiple of the rate."""
    size = value.shape.size_at(dim)
    if size is None:
        size = array_ops.shape(value)[dim]
    return (rate - size % rate) % rate


# ---- Channel by channel


def depthwise_conv2d(
    input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None
):
    """Convolves each channel with filters of its own.

    input: (batch, height, width, channels). filter: (rows, columns, channels, multiplier). strides:
    4 numbers. rate: the dilation of rows and columns. Returns (batch, out height, out width,
    channels * multiplier).

    >>> images, filters = tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 2])
    >>> print(tf.nn.depthwise_conv2d(images, filters, [1, 1, 1, 1], "VALID").shape)
    (1, 3, 3, 6)
    """
    rate = one_of("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")

        def convolve(parts, _, its_padding):
            return depthwise_conv2d_native(
                parts, filter, strides, its_padding, data_format or "NHWC", name=name
            )

        return with_space_to_batch(
            input,
            [1, 1] if rate is None else rate,
            padding,
            convolve,
            filter_shape=array_ops.shape(filter),
            data_format=data_format,
        )


def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    rate=None,
    name=None,
    data_format=None,
    dilations=None,
):
    """depthwise_conv2d, and then a 1x1 convolution that mixes the channels.

    input: (batch, height, width, channels). depthwise_filter: (rows, columns, channels,
    multiplier). pointwise_filter: (1, 1, channels * multiplier, out channels). strides: 4 numbers.
    """
    rate = one_of("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as name:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        shape = pointwise_filter.shape.with_rank(4)
        shape.dims[0].assert_is_compatible_with(1)
        shape.dims[1].assert_is_compatible_with(1)

        def convolve(parts, _, its_padding):
            return depthwise_conv2d_native(
                parts, depthwise_filter, strides, its_padding, data_format or "NHWC",
                name="depthwise",
            )  # fmt: skip

        depthwise = with_space_to_batch(
            input,
            [1, 1] if rate is None else rate,
            padding,
            convolve,
            filter_shape=array_ops.shape(depthwise_filter),
            data_format=data_format,
        )
        return conv2d(
            depthwise,
            pointwise_filter,
            [1, 1, 1, 1],
            padding="VALID",
            data_format=data_format or "NHWC",
            name=name,
        )
