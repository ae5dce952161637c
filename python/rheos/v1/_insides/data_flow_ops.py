"""Queues and their kin: tensorflow.python.ops.data_flow_ops."""

from rheos.ops.data_flow.accumulators import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
)
from rheos.ops.data_flow.data_flow_ops import (
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    QueueBase,
    RandomShuffleQueue,
)
from rheos.ops.data_flow.staging_ops import (
    Barrier,
    BaseStagingArea,
    MapStagingArea,
    RecordInput,
    StagingArea,
)
