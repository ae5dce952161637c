"""Estimators of tf.contrib.tpu, where they run without a TPU."""

from rheos.contrib.tpu import (
    CrossShardOptimizer,
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
)
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.tpu")
