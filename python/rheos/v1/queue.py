"""Queues."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.data_flow_ops import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)

__getattr__ = _attribute_of("tensorflow.queue")
