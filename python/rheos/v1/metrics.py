"""Metrics that are kept over many steps."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.metrics import (
    accuracy,
    auc,
    false_negatives,
    false_positives,
    mean,
    mean_absolute_error,
    mean_cosine_distance,
    mean_iou,
    mean_relative_error,
    mean_squared_error,
    percentage_below,
    precision,
    recall,
    root_mean_squared_error,
    true_negatives,
    true_positives,
)

__getattr__ = _attribute_of("tensorflow.metrics")
