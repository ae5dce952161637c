"""Neural networks."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.nn_ops import (
    batch_normalization,
    bias_add,
    dropout,
    elu,
    embedding_lookup,
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
    selu,
    sigmoid,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    softplus,
    softsign,
    sparse_softmax_cross_entropy_with_logits,
    tanh,
    top_k,
    weighted_cross_entropy_with_logits,
    xw_plus_b,
    zero_fraction,
)

__getattr__ = _attribute_of("tensorflow.nn")
