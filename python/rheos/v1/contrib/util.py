"""Values of tensors before a step: tf.contrib.util."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.constant_values import constant_value
from rheos.framework.tensor_proto import make_ndarray
from rheos.ops.constant_op import make_tensor_proto

__getattr__ = _attribute_of("tensorflow.contrib.util")
