"""Random tensors."""

import types as _types

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.candidate_sampling_ops import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from rheos.ops.random_generators import (
    Generator as _Generator,
    create_rng_state as _create_rng_state,
    get_global_generator as _get_global_generator,
    set_global_generator as _set_global_generator,
)
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
from rheos.ops.stateless_random_ops import (
    stateless_categorical,
    stateless_multinomial,
    stateless_random_normal as stateless_normal,
    stateless_random_uniform as stateless_uniform,
    stateless_truncated_normal,
)

experimental = _types.SimpleNamespace(
    Generator=_Generator,
    create_rng_state=_create_rng_state,
    get_global_generator=_get_global_generator,
    set_global_generator=_set_global_generator,
)

__getattr__ = _attribute_of("tensorflow.random")
