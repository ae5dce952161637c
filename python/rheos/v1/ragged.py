"""Ragged tensors."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.ragged_ops import (
    boolean_mask,
    constant,
    constant_value,
    map_flat_values,
    placeholder,
    range,
    stack,
)
from rheos.ops.ragged_shaping import stack_dynamic_partitions
from rheos.ops.ragged_tensor import (
    RaggedTensorValue,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
)

__getattr__ = _attribute_of("tensorflow.ragged")
