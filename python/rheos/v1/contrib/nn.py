"""Functions of tf.contrib.nn on networks."""

from rheos.contrib.nn import (
    alpha_dropout,
    deprecated_flipped_sigmoid_cross_entropy_with_logits,
    deprecated_flipped_softmax_cross_entropy_with_logits,
    deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
    scaled_softplus,
)
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.nn_conv import conv1d_transpose

__getattr__ = _attribute_of("tensorflow.contrib.nn")
