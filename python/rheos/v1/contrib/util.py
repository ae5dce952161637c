"""Values of tensors before a step: tf.contrib.util."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.tensor_proto import make_ndarray, make_tensor_proto
from rheos.ops.constant_op import constant_value

__getattr__ = _attribute_of("tensorflow.contrib.util")
