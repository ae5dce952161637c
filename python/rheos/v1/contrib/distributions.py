"""Probability distributions of tf.contrib.distributions."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1.distributions import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    Distribution,
    Exponential,
    Gamma,
    Laplace,
    Multinomial,
    Normal,
    RegisterKL,
    ReparameterizationType,
    StudentT,
    Uniform,
    kl_divergence,
)

__getattr__ = _attribute_of("tensorflow.contrib.distributions")
