"""Random numbers that a seed alone decides, of tf.contrib.stateless."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.stateless_random_ops import (
    stateless_multinomial,
    stateless_random_normal,
    stateless_random_uniform,
    stateless_truncated_normal,
)

__getattr__ = _attribute_of("tensorflow.contrib.stateless")
