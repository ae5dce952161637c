"""Probability distributions of tf.contrib.distributions."""

from rheos.v1._names import fill as _fill
from rheos.v1.contrib import _bijectors as bijectors

_fill(__name__)
