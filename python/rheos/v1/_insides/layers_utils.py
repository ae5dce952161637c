"""Sizes of convolutions and of their arguments: tensorflow.python.layers.utils."""

from rheos.ops.flow.smart_cond import smart_cond, smart_constant_value as constant_value


def normalize_tuple(value, n, name):
    """A tuple of `n` integers, from one integer or from `n` of them. ValueError otherwise."""
    wrong = ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")
    if isinstance(value, int):
        return (value,) * n
    try:
        values = tuple(value)
        if len(values) == n:
            return tuple(int(v) and v or 0 for v in values)
    except (TypeError, ValueError):
        pass
    raise wrong


def normalize_data_format(value):
    """channels_first or channels_last, in small letters."""
    found = value.lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {value}"
        )
    return found


def normalize_padding(value):
    """valid or same, in small letters."""
    found = value.lower()
    if found not in ("valid", "same"):
        raise ValueError(
            f'The `padding` argument must be one of "valid", "same". Received: {found}'
        )
    return found


def convert_data_format(data_format, ndim):
    """NHWC and the like, for images of `ndim` dimensions with batch and channels."""
    last = {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    if ndim not in last:
        raise ValueError(f"Input rank not supported: {ndim}")
    return last[ndim][data_format == "channels_first"]


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """How many places a window of a convolution has; None if the input's length is not known."""
    if input_length is None:
        return None
    reach = filter_size + (filter_size - 1) * (dilation - 1)
    if padding == "valid":
        input_length -= reach - 1
    elif padding == "full":
        input_length += reach - 1
    return (input_length + stride - 1) // stride


def deconv_output_length(input_length, filter_size, padding, stride):
    """The length that a transposed convolution makes; None if the input's is not known."""
    if input_length is None:
        return None
    length = input_length * stride
    if padding == "valid":
        return length + max(filter_size - stride, 0)
    return length - (stride + filter_size - 2) if padding == "full" else length
