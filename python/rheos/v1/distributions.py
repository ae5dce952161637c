"""Probability distributions."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.continuous_distributions import (
    Beta,
    Dirichlet,
    Exponential,
    Gamma,
    Laplace,
    Normal,
    StudentT,
    Uniform,
)
from rheos.ops.discrete_distributions import (
    Bernoulli,
    Categorical,
    DirichletMultinomial,
    Multinomial,
)
from rheos.ops.distribution import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Distribution,
    RegisterKL,
    ReparameterizationType,
    kl_divergence,
)

__getattr__ = _attribute_of("tensorflow.distributions")
