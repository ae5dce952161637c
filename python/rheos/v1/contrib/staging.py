"""Staging areas of tf.contrib."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.staging_ops import StagingArea

__getattr__ = _attribute_of("tensorflow.contrib.staging")
