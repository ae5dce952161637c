"""Random tensors."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.random_ops import (
    categorical,
    get_seed,
    multinomial,
    random_gamma as gamma,
    random_normal as normal,
    random_poisson as poisson,
    random_shuffle as shuffle,
    random_uniform as uniform,
    set_random_seed,
    truncated_normal,
)

__getattr__ = _attribute_of("tensorflow.random")
