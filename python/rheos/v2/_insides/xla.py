"""tensorflow.compiler.tf2xla.python.xla: what of its functions is there without that compiler."""

from rheos.framework import absent
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.ops.array.rearrange_ops import tensor_block_update


def dynamic_update_slice(x, update, starts, name=None):
    """`x` with the block at `starts` replaced by `update`; starts are moved so that it fits."""
    with name_scope(name, "dynamic_update_slice", [x, update, starts]):
        x = convert_to_tensor(x)
        return tensor_block_update(x, starts, convert_to_tensor(update, x.dtype))


__getattr__ = absent.attribute_of("tensorflow.compiler.tf2xla.python.xla")
