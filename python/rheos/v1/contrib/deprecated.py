"""Summaries under the names that they had before TensorFlow 1.0."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1._legacy import (
    audio_summary,
    histogram_summary,
    image_summary,
    merge_all_summaries,
    merge_summary,
    scalar_summary,
)

__getattr__ = _attribute_of("tensorflow.contrib.deprecated")
