"""Summaries and event files for TensorBoard."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.summary_ops import (
    audio,
    get_summary_description,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from rheos.training.summary import FileWriter, FileWriterCache

_MESSAGES = (
    "Event",
    "SessionLog",
    "Summary",
    "SummaryDescription",
    "TaggedRunMetadata",
)
__getattr__ = _attribute_of("tensorflow.summary", _MESSAGES)


def __dir__():
    return sorted({*(n for n in globals() if not n.startswith("_")), *_MESSAGES})
