"""Metrics of tf.contrib.metrics, from before they came to tf.metrics."""

from rheos.contrib.metrics import (
    accuracy,
    aggregate_metric_map,
    aggregate_metrics,
    count,
    streaming_accuracy,
    streaming_auc,
    streaming_covariance,
    streaming_false_negatives,
    streaming_false_positives,
    streaming_mean,
    streaming_mean_absolute_error,
    streaming_mean_cosine_distance,
    streaming_mean_iou,
    streaming_mean_relative_error,
    streaming_mean_squared_error,
    streaming_mean_tensor,
    streaming_pearson_correlation,
    streaming_percentage_less,
    streaming_precision,
    streaming_precision_at_thresholds,
    streaming_recall,
    streaming_recall_at_thresholds,
    streaming_root_mean_squared_error,
    streaming_true_negatives,
    streaming_true_positives,
)
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.statistics_ops import confusion_matrix

__getattr__ = _attribute_of("tensorflow.contrib.metrics")
