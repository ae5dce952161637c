"""Functions of neural networks in TensorFlow 2's form."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.ragged import ragged_too
from rheos.ops.array import embedding_ops, rearrange_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import candidate_sampling_ops, ctc_ops, nn_conv, nn_norm, nn_ops, nn_pool
from rheos.v2._forms import form

conv1d = form(
    nn_conv.conv1d,
    "input, filters, stride, padding, data_format='NWC', dilations=None, name=None",
    input="value",
)


def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """The convolution of images with filters; strides and dilations: a number or a list.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> box = tf.ones([2, 2, 1, 1])
    >>> print(tf.nn.conv2d(image, box, strides=1, padding="VALID")[0, :, :, 0].numpy())
    [[ 8. 12.]
     [20. 24.]]
    """
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
top_k = form(nn_ops.top_k, "input, k=1, sorted=True, index_type=None, name=None", index_type=None)
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


def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of a table, or of parts of one that hold them one after the other, at `ids`.

    >>> print(tf.nn.embedding_lookup([[0.0, 1.0], [2.0, 3.0]], [1, 1, 0]).numpy())
    [1. 1. 0.]
    """
    return embedding_ops.embedding_lookup(params, ids, "div", name, max_norm=max_norm)


def embedding_lookup_sparse(
    params,
    sp_ids,
    sp_weights,
    combiner=None,
    max_norm=None,
    name=None,
    allow_fast_lookup=False,
):
    """For each row of ids its rows of a table, or of parts of one as those of embedding_lookup()
    are, combined into one."""
    found = embedding_ops.embedding_lookup_sparse(
        params, sp_ids, sp_weights, "div", name, combiner, max_norm
    )
    table = params[0] if isinstance(params, (list, tuple)) else params
    dtype = dtypes.as_dtype(table.dtype).base_dtype if hasattr(table, "dtype") else found.dtype
    return found if found.dtype == dtype else math_ops.cast(found, dtype)


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


@ragged_too("elementwise")
def swish(features, beta=1.0):
    """x * sigmoid(beta * x)."""
    return nn_ops.swish(features) if beta == 1.0 else features * math_ops.sigmoid(beta * features)


silu = swish


@ragged_too("elementwise")
def gelu(features, approximate=False, name=None):
    """x * P(X <= x) of the normal distribution, or TensorFlow's approximation by tanh.

    >>> print(tf.nn.gelu([-1.0, 2.0]).numpy())
    [-0.15865526  1.9544997 ]
    """
    x = convert_to_tensor(features)
    if approximate:
        inner = 0.7978845608028654 * (x + 0.044715 * math_ops.pow(x, 3))
        return 0.5 * x * (1.0 + math_ops.tanh(inner))
    return 0.5 * x * (1.0 + math_ops.erf(x / 1.4142135623730951))


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """([decoded], score): the likeliest class at each time, without blanks, by default the last."""
    return ctc_ops.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank_index)


def batch_to_space(input, block_shape, crops, name=None):
    """Blocks of space that lie along the batch, put together again and cropped."""
    return rearrange_ops.batch_to_space_nd(input, block_shape, crops, name)


def space_to_batch(input, block_shape, paddings, name=None):
    """Space padded and cut into blocks that lie along the batch."""
    return rearrange_ops.space_to_batch_nd(input, block_shape, paddings, name)


batch_norm_with_global_normalization = form(
    nn_norm.batch_norm_with_global_normalization,
    "input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None",
)


def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    output_dtype="int64",
    include_batch_in_index=False,
    name=None,
):
    """The maxima of windows of pictures, and where they are in the flattened picture."""
    _check_channels_last(data_format)
    return nn_pool.max_pool_with_argmax(
        input,
        nn_conv.per_dimension(ksize, 2, 3, "ksize"),
        nn_conv.per_dimension(strides, 2, 3, "strides"),
        padding,
        output_dtype=output_dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """The maximum of pictures plus a filter, over windows; data_format is "NHWC"."""
    _check_channels_last(data_format)
    return nn_conv.dilation2d(input, filters, strides, dilations, padding, name)


def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """The minimum of pictures minus a filter, over windows; data_format is "NHWC"."""
    _check_channels_last(data_format)
    return nn_conv.erosion2d(value, filters, strides, dilations, padding, name)


def _check_channels_last(data_format):
    if data_format != "NHWC":
        raise ValueError(f"Data formats other than NHWC are not yet supported, got {data_format}")


def _ratios(pooling_ratio):
    if isinstance(pooling_ratio, (int, float)):
        return [1.0, pooling_ratio, pooling_ratio, 1.0]
    ratios = list(pooling_ratio)
    return [1.0, *(ratios * 2 if len(ratios) == 1 else ratios), 1.0] if len(ratios) < 4 else ratios


def _fractional(function):
    def pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
        return function(
            value,
            _ratios(pooling_ratio),
            pseudo_random,
            overlapping,
            deterministic=seed != 0,
            seed=seed,
            seed2=seed,
            name=name,
        )

    pool.__name__ = pool.__qualname__ = function.__name__
    pool.__doc__ = function.__doc__
    return pool


fractional_avg_pool = _fractional(nn_pool.fractional_avg_pool)
fractional_max_pool = _fractional(nn_pool.fractional_max_pool)


def nce_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=False, name="nce_loss",
):  # fmt: skip
    """The loss of noise-contrastive estimation, one for each example."""
    return candidate_sampling_ops.nce_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, "div", name,
    )  # fmt: skip


def sampled_softmax_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=True, seed=None, name="sampled_softmax_loss",
):  # fmt: skip
    """The cross entropy of a softmax over the labels and some other classes."""
    return candidate_sampling_ops.sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, "div", name, seed,
    )  # fmt: skip
