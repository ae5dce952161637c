"""Values of tensors before a step: tensorflow.python.framework.tensor_util."""

from rheos.framework.constant_values import constant_value
from rheos.framework.tensor_proto import make_ndarray
from rheos.ops.array.constant_op import make_tensor_proto
from rheos.ops.array.rearrange_ops import is_tensor

MakeNdarray = make_ndarray
