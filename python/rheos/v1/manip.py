"""Moving elements about."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.array_ops import gather_nd, reshape, reverse, scatter_nd, tile
from rheos.ops.rearrange_ops import batch_to_space_nd, roll, space_to_batch_nd

__getattr__ = _attribute_of("tensorflow.manip")
