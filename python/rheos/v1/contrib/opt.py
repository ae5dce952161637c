"""Optimizers of tf.contrib.opt."""

from rheos.contrib.external_optimizer import (
    ExternalOptimizerInterface,
    ScipyOptimizerInterface,
)
from rheos.contrib.optimizers import (
    AdaMaxOptimizer,
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    LazyAdamOptimizer,
    MomentumWOptimizer,
    MovingAverageOptimizer,
    NadamOptimizer,
    extend_with_decoupled_weight_decay,
)
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.opt")
