"""Layers, initializers and regularizers of tf.contrib.layers."""

from rheos.contrib.initializers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)
from rheos.contrib.layers_core import (
    avg_pool2d,
    avg_pool3d,
    convolution,
    convolution1d,
    convolution1d as conv1d,
    convolution2d,
    convolution2d as conv2d,
    convolution2d_in_plane,
    convolution2d_in_plane as conv2d_in_plane,
    convolution2d_transpose,
    convolution2d_transpose as conv2d_transpose,
    convolution3d,
    convolution3d as conv3d,
    convolution3d_transpose,
    convolution3d_transpose as conv3d_transpose,
    dropout,
    flatten,
    fully_connected,
    linear,
    max_pool2d,
    max_pool3d,
    relu,
    relu6,
    separable_convolution2d,
    separable_convolution2d as separable_conv2d,
)
from rheos.contrib.layers_more import (
    bias_add,
    bow_encoder,
    dense_to_sparse,
    embed_sequence,
    embedding_lookup_unique,
    images_to_sequence,
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
    maxout,
    one_hot_encoding,
    repeat,
    sequence_to_images,
    softmax,
    spatial_softmax,
    stack,
    unit_norm,
)
from rheos.contrib.layers_norm import batch_norm, group_norm, instance_norm, layer_norm
from rheos.contrib.optimizing import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    optimize_loss,
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
)
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.embedding_ops import safe_embedding_lookup_sparse
from rheos.ops.nn_ops import elu
from rheos.v1.contrib import _layers_utils as utils

__getattr__ = _attribute_of("tensorflow.contrib.layers")
