"""Layers, initializers and regularizers of tf.contrib.layers."""

from rheos.v1._names import fill as _fill
from rheos.v1.contrib import _layers_utils as utils

_fill(__name__)
