"""Arrays of tensors: tensorflow.python.ops.tensor_array_ops."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.flow.tensor_array_ops import TensorArray, build_ta_with_new_flow

__getattr__ = _attribute_of("tensorflow")
