"""Summaries and event files for TensorBoard."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.summary_ops import (
    audio,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from rheos.v1._summary import FileWriter, FileWriterCache

__getattr__ = _attribute_of("tensorflow.summary")
