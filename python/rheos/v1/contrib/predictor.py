"""Saved models as functions of arrays."""

from rheos.contrib.predictor import from_saved_model
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.predictor")
