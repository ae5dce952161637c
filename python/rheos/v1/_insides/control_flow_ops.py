"""The order of operations: tensorflow.python.ops.control_flow_ops."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.control_flow_ops import Assert, group, no_op, tuple, with_dependencies

__getattr__ = _attribute_of("tensorflow")
