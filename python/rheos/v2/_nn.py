"""Functions of neural networks in TensorFlow 2's form."""

from rheos.framework.conversion import convert_to_tensor
from rheos.ops import (
    ctc_ops,
    embedding_ops,
    math_ops,
    nn_conv,
    nn_norm,
    nn_ops,
    nn_pool,
    rearrange_ops,
)
from rheos.v2._forms import form

conv1d = form(
    nn_conv.conv1d,
    "input, filters, stride, padding, data_format='NWC', dilations=None, name=None",
    input="value",
)


def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """The convolution of images with filters; strides and dilations: a number or a list."""
    return nn_conv.conv2d(
        input,
        filters,
        nn_conv.per_dimension(strides, 2, _channel(data_format), "strides"),
        padding,
        data_format=data_format,
        dilations=nn_conv.per_dimension(dilations or 1, 2, _channel(data_format), "dilations"),
        name=name,
    )


def _channel(data_format):
    return 1 if data_format.startswith("NC") else len(data_format) - 1


def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """The convolution of volumes with filters; strides and dilations: a number or a list."""
    channel = _channel(data_format)
    return nn_conv.conv3d(
        input,
        filters,
        nn_conv.per_dimension(strides, 3, channel, "strides"),
        padding,
        data_format=data_format,
        dilations=nn_conv.per_dimension(dilations or 1, 3, channel, "dilations"),
        name=name,
    )


conv2d_transpose = form(
    nn_conv.conv2d_transpose,
    "input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, "
    "name=None",
    input="value",
    filters="filter",
)
conv3d_transpose = form(
    nn_conv.conv3d_transpose,
    "input, filters, output_shape, strides, padding='SAME', data_format='NDHWC', dilations=None, "
    "name=None",
    input="value",
    filters="filter",
)
depthwise_conv2d = form(
    nn_conv.depthwise_conv2d,
    "input, filter, strides, padding, data_format=None, dilations=None, name=None",
    dilations="rate",
)
separable_conv2d = form(
    nn_conv.separable_conv2d,
    "input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, "
    "dilations=None, name=None",
    dilations="rate",
)
convolution = form(
    nn_conv.convolution,
    "input, filters, strides=None, padding='VALID', data_format=None, dilations=None, name=None",
    filters="filter",
    dilations="dilation_rate",
)
max_pool = nn_pool.max_pool_v2
avg_pool = nn_pool.avg_pool_v2
avg_pool2d = form(
    nn_pool.avg_pool, "input, ksize, strides, padding, data_format='NHWC', name=None", input="value"
)
pool = form(
    nn_pool.pool,
    "input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None, "
    "dilations=None, name=None",
    dilations="dilation_rate",
)
dropout = nn_ops.dropout_v2
moments = form(nn_ops.moments, "x, axes, shift=None, keepdims=False, name=None")
weighted_moments = form(
    nn_norm.weighted_moments, "x, axes, frequency_weights, keepdims=False, name=None"
)
sufficient_statistics = form(
    nn_norm.sufficient_statistics, "x, axes, shift=None, keepdims=False, name=None"
)
crelu = form(nn_ops.crelu, "features, axis=-1, name=None")
top_k = form(
    nn_ops.top_k, "input, k=1, sorted=True, index_type=None, name=None", index_type=None
)
in_top_k = form(nn_ops.in_top_k, "targets, predictions, k, name=None")
softmax_cross_entropy_with_logits = form(
    nn_ops.softmax_cross_entropy_with_logits_v2, "labels, logits, axis=-1, name=None"
)
sparse_softmax_cross_entropy_with_logits = form(
    nn_ops.sparse_softmax_cross_entropy_with_logits, "labels, logits, name=None"
)
sigmoid_cross_entropy_with_logits = form(
    nn_ops.sigmoid_cross_entropy_with_logits, "labels=None, logits=None, name=None"
)
weighted_cross_entropy_with_logits = form(
    nn_ops.weighted_cross_entropy_with_logits, "labels, logits, pos_weight, name=None"
)
embedding_lookup = form(
    embedding_ops.embedding_lookup, "params, ids, max_norm=None, name=None"
)
embedding_lookup_sparse = form(
    embedding_ops.embedding_lookup_sparse,
    "params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None",
)
safe_embedding_lookup_sparse = form(
    embedding_ops.safe_embedding_lookup_sparse,
    "embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None, "
    "max_norm=None, name=None, allow_fast_lookup=False",
    allow_fast_lookup=None,
)
space_to_depth = form(
    rearrange_ops.space_to_depth, "input, block_size, data_format='NHWC', name=None"
)
depth_to_space = form(
    rearrange_ops.depth_to_space, "input, block_size, data_format='NHWC', name=None"
)


def swish(features, beta=1.0):
    """x * sigmoid(beta * x)."""
    return nn_ops.swish(features) if beta == 1.0 else features * math_ops.sigmoid(beta * features)


silu = swish


def gelu(features, approximate=False, name=None):
    """x * P(X <= x) of the normal distribution, or TensorFlow's approximation by tanh."""
    x = convert_to_tensor(features)
    if approximate:
        inner = 0.7978845608028654 * (x + 0.044715 * math_ops.pow(x, 3))
        return 0.5 * x * (1.0 + math_ops.tanh(inner))
    return 0.5 * x * (1.0 + math_ops.erf(x / 1.4142135623730951))


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """([decoded], score): the likeliest class at each time, without blanks, by default the last."""
    return ctc_ops.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank_index)
