"""Neural networks."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.dynamic_rnn import bidirectional_dynamic_rnn, dynamic_rnn, raw_rnn
from rheos.layers.rnn import (
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)
from rheos.ops.candidate_sampling_ops import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    nce_loss,
    sampled_softmax_loss,
    uniform_candidate_sampler,
)
from rheos.ops.ctc_ops import (
    collapse_repeated,
    ctc_beam_search_decoder,
    ctc_beam_search_decoder_v2,
    ctc_greedy_decoder,
    ctc_loss,
    ctc_loss_v2,
    ctc_unique_labels,
)
from rheos.ops.embedding_ops import (
    embedding_lookup,
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
)
from rheos.ops.nn_conv import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv3d,
    conv3d_backprop_filter_v2,
    conv3d_backprop_filter_v2 as conv3d_backprop_filter,
    conv3d_transpose,
    conv_transpose,
    convolution,
    depthwise_conv2d,
    depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_filter as depthwise_conv2d_backprop_filter,
    depthwise_conv2d_native_backprop_input,
    depthwise_conv2d_native_backprop_input as depthwise_conv2d_backprop_input,
    dilation2d,
    erosion2d,
    separable_conv2d,
    with_space_to_batch,
)
from rheos.ops.nn_norm import (
    batch_norm_with_global_normalization,
    fused_batch_norm,
    local_response_normalization,
    local_response_normalization as lrn,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
)
from rheos.ops.nn_ops import (
    batch_normalization,
    bias_add,
    compute_average_loss,
    crelu,
    dropout,
    elu,
    in_top_k,
    l2_loss,
    l2_normalize,
    leaky_relu,
    log_poisson_loss,
    log_softmax,
    moments,
    relu,
    relu6,
    relu_layer,
    scale_regularization_loss,
    selu,
    sigmoid,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    softplus,
    softsign,
    sparse_softmax_cross_entropy_with_logits,
    swish,
    tanh,
    top_k,
    weighted_cross_entropy_with_logits,
    xw_plus_b,
    zero_fraction,
)
from rheos.ops.nn_pool import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    avg_pool_v2,
    fractional_avg_pool,
    fractional_max_pool,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_v2,
    max_pool_with_argmax,
    pool,
)
from rheos.ops.rearrange_ops import depth_to_space, space_to_batch, space_to_depth
from rheos.v1 import rnn_cell

_absent = _attribute_of("tensorflow.nn")


def __getattr__(name):
    # Its name before TensorFlow 0.6, which dir() does not show.
    return conv2d_transpose if name == "deconv2d" else _absent(name)
