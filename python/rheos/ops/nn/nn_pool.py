"""Pooling: the maximum or the mean over windows.

`ksize` and `strides` are one number, one for each spatial dimension, or one for each dimension.
"""

from rheos.framework import dtypes, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_results
from rheos.ops.array import array_ops
from rheos.ops.nn import nn_conv
from rheos.ops.nn.nn_conv import _channel_index, one_of, per_dimension


def _pool(op_type, value, ksize, strides, padding, data_format, name, spatial):
    channel = _channel_index(data_format, spatial + 1)
    return op1(
        op_type,
        name,
        value,
        ksize=per_dimension(ksize, spatial, channel, "ksize"),
        strides=per_dimension(strides, spatial, channel, "strides"),
        padding=padding,
        data_format=data_format,
    )


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The maximum of windows of images.

    value: (batch, height, width, channels), or as data_format says. padding: "VALID" or "SAME".
    Returns (batch, out height, out width, channels).
    """
    value = one_of("input", input, "value", value)
    with name_scope(name, "MaxPool", [value]) as name:
        return _pool("MaxPool", value, ksize, strides, padding, data_format or "NHWC", name, 2)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The mean of windows of images; the shapes are those of max_pool.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> print(tf.nn.avg_pool2d(image, 2, 2, "VALID")[0, :, :, 0].numpy())
    [[ 2.5  4.5]
     [10.5 12.5]]
    """
    value = one_of("input", input, "value", value)
    with name_scope(name, "AvgPool", [value]) as name:
        return _pool("AvgPool", value, ksize, strides, padding, data_format or "NHWC", name, 2)


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The maximum of windows of images; see max_pool.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> print(tf.nn.max_pool2d(image, 2, 2, "VALID")[0, :, :, 0].numpy())
    [[ 5.  7.]
     [13. 15.]]
    """
    with name_scope(name, "MaxPool2d", [input]) as name:
        return _pool("MaxPool", input, ksize, strides, padding, data_format or "NHWC", name, 2)


avg_pool2d = avg_pool


def _pool_lines(op_type, default_name, input, ksize, strides, padding, data_format, name):
    with name_scope(name, default_name, [input]) as name:
        data_format = data_format or "NWC"
        channel = _channel_index(data_format, 2)
        ksize = [1, *per_dimension(ksize, 1, channel, "ksize")]
        strides = [1, *per_dimension(strides, 1, channel, "strides")]
        place = 1 if data_format == "NWC" else 2
        wide = array_ops.expand_dims(input, place)
        result = op1(
            op_type,
            name,
            wide,
            ksize=ksize,
            strides=strides,
            padding=padding,
            data_format="NHWC" if data_format == "NWC" else "NCHW",
        )
        return array_ops.squeeze(result, place)


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The maximum of windows of lines (batch, width, channels)."""
    return _pool_lines("MaxPool", "MaxPool1d", input, ksize, strides, padding, data_format, name)


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """The mean of windows of lines (batch, width, channels)."""
    return _pool_lines("AvgPool", "AvgPool1D", input, ksize, strides, padding, data_format, name)


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The maximum of windows of volumes (batch, depth, height, width, channels)."""
    with name_scope(name, "MaxPool3D", [input]) as name:
        data_format = data_format or "NDHWC"
        return _pool("MaxPool3D", input, ksize, strides, padding, data_format, name, 3)


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """The mean of windows of volumes (batch, depth, height, width, channels)."""
    with name_scope(name, "AvgPool3D", [input]) as name:
        data_format = data_format or "NDHWC"
        return _pool("AvgPool3D", input, ksize, strides, padding, data_format, name, 3)


def _any_pool(functions, input, ksize, strides, padding, data_format, name):
    rank = tensor_shape.as_shape(input.shape).ndims
    if rank is not None:
        spatial = rank - 2
    elif data_format is not None:
        spatial = len(data_format) - 2
    else:
        raise ValueError("The input must have a rank or a data format must be given.")
    if not 1 <= spatial <= 3:
        raise ValueError("Input tensor must be of rank 3, 4 or 5 but was {}.".format(spatial + 2))
    format_of = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
    return functions[spatial - 1](
        input, ksize, strides, padding, data_format or format_of[spatial], name
    )


def max_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """max_pool1d, max_pool2d or max_pool3d, as the rank of the input tells."""
    functions = (max_pool1d, max_pool, max_pool3d)
    return _any_pool(functions, input, ksize, strides, padding, data_format, name)


def avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None):
    """avg_pool1d, avg_pool2d or avg_pool3d, as the rank of the input tells."""
    functions = (avg_pool1d, avg_pool, avg_pool3d)
    return _any_pool(functions, input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    Targmax=None,
    name=None,
    output_dtype=None,
    include_batch_in_index=False,
):
    """(output, argmax): max_pool, and where each maximum was found.

    input: (batch, height, width, channels); other data formats give ValueError. argmax: the index
    (row * width + column) * channels + channel, plus the batch's share if `include_batch_in_index`.
    """
    if data_format != "NHWC":
        raise ValueError("data_format values other  than 'NHWC' are not supported")
    Targmax = one_of("output_dtype", output_dtype, "Targmax", Targmax)
    return op_results(
        "MaxPoolWithArgmax",
        name,
        input,
        ksize=list(ksize),
        strides=list(strides),
        padding=padding,
        Targmax=dtypes.int64 if Targmax is None else Targmax,
        include_batch_in_index=include_batch_in_index,
    )


def _fractional(op_type, value, pooling_ratio, settings, name):
    return op_results(op_type, name, value, pooling_ratio=pooling_ratio, **settings)


def fractional_max_pool(
    value,
    pooling_ratio,
    pseudo_random=False,
    overlapping=False,
    deterministic=False,
    seed=0,
    seed2=0,
    name=None,
):
    """(output, row_pooling_sequence, col_pooling_sequence): max pooling of random windows.

    value: (batch, height, width, channels). pooling_ratio: [1, rows, columns, 1], by which the
    height and width shrink.
    """
    settings = {
        "pseudo_random": pseudo_random,
        "overlapping": overlapping,
        "deterministic": deterministic,
        "seed": seed,
        "seed2": seed2,
    }
    return _fractional("FractionalMaxPool", value, pooling_ratio, settings, name)


def fractional_avg_pool(
    value,
    pooling_ratio,
    pseudo_random=False,
    overlapping=False,
    deterministic=False,
    seed=0,
    seed2=0,
    name=None,
):
    """Like fractional_max_pool, with means."""
    settings = {
        "pseudo_random": pseudo_random,
        "overlapping": overlapping,
        "deterministic": deterministic,
        "seed": seed,
        "seed2": seed2,
    }
    return _fractional("FractionalAvgPool", value, pooling_ratio, settings, name)


def pool(
    input,
    window_shape,
    pooling_type,
    padding,
    dilation_rate=None,
    strides=None,
    name=None,
    data_format=None,
    dilations=None,
):
    """Pooling of 1, 2 or 3 spatial dimensions.

    input: (batch, spatial..., channels). window_shape, strides, dilation_rate: one number for each
    spatial dimension. pooling_type: "AVG" or "MAX". padding: "VALID" or "SAME".
    """
    dilation_rate = one_of("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        spatial = len(window_shape)
        if spatial < 1 or spatial > 3:
            raise ValueError("It is required that 1 <= num_spatial_dims <= 3.")
        input.shape.with_rank(spatial + 2)
        strides, rates = nn_conv._rates(spatial, strides, dilation_rate)
        if padding == "SAME" and any(r > 1 for r in rates):
            raise ValueError("pooling with 'SAME' padding is not implemented for dilation_rate > 1")
        if any(s > w for s, w in zip(strides, window_shape)):
            raise ValueError(
                "strides > window_shape not supported due to inconsistency between CPU"
                " and GPU implementations"
            )
        kinds = {
            ("MAX", 1): "MaxPool", ("MAX", 2): "MaxPool", ("MAX", 3): "MaxPool3D",
            ("AVG", 1): "AvgPool", ("AVG", 2): "AvgPool", ("AVG", 3): "AvgPool3D",
        }  # fmt: skip
        if (pooling_type, spatial) not in kinds:
            raise ValueError(f"{spatial}-D {pooling_type} pooling is not supported")
        kind = kinds[pooling_type, spatial]
        channels_first = data_format is not None and data_format.startswith("NC")
        place = 2 if channels_first else 1
        if spatial == 1:
            # A line is an image of one row.
            data_format = "NCHW" if channels_first else "NHWC"
            window_shape, strides = [1, *window_shape], [1, *strides]
        window = [1, 1, *window_shape] if channels_first else [1, *window_shape, 1]
        steps = [1, 1, *strides] if channels_first else [1, *strides, 1]

        def pooled(parts, _, its_padding):
            if spatial == 1:
                parts = array_ops.expand_dims(parts, place)
            result = op1(
                kind,
                scope,
                parts,
                ksize=window,
                strides=steps,
                padding=its_padding,
                data_format=data_format or ("NDHWC" if spatial == 3 else "NHWC"),
            )
            return array_ops.squeeze(result, [place]) if spatial == 1 else result

        return nn_conv.with_space_to_batch(
            input, rates, padding, pooled, filter_shape=window_shape, data_format=data_format,
        )  # fmt: skip
