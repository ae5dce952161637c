"""Initializers (tf.keras.initializers)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.initializers import (
    Constant,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    Zeros,
    constant,
    deserialize,
    get,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    identity,
    lecun_normal,
    lecun_uniform,
    normal,
    ones,
    orthogonal,
    random_normal,
    random_uniform,
    serialize,
    truncated_normal,
    uniform,
    zeros,
)

__getattr__ = _attribute_of("tensorflow.keras.initializers")
