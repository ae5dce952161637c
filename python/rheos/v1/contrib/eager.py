"""Eager execution of tf.contrib: names from before TensorFlow 1 had them elsewhere."""

from rheos.contrib import eager_metrics as metrics
from rheos.v1._names import fill as _fill

_fill(__name__)
