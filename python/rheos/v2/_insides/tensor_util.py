"""tensorflow.python.framework.tensor_util: what is a tensor, and values before a step."""

from rheos.framework.constant_values import constant_value  # noqa: F401
from rheos.framework.tensor_proto import make_ndarray
from rheos.ops.array.constant_op import make_tensor_proto  # noqa: F401
from rheos.ops.array.rearrange_ops import is_tensor

MakeNdarray = make_ndarray
is_tf_type = is_tensor
