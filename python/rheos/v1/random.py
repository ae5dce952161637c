"""Random tensors."""

from rheos.ops.random_ops import (
    categorical,
    multinomial,
    random_normal as normal,
    random_shuffle as shuffle,
    random_uniform as uniform,
    set_random_seed,
    truncated_normal,
)
