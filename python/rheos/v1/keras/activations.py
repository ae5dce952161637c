"""Activation functions (tf.keras.activations)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.activations import (
    deserialize,
    elu,
    exponential,
    get,
    hard_sigmoid,
    linear,
    relu,
    selu,
    serialize,
    sigmoid,
    softmax,
    softplus,
    softsign,
    swish,
    tanh,
)

__getattr__ = _attribute_of("tensorflow.keras.activations")
