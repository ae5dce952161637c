"""Calls of functions, and functions over rows: tensorflow.python.ops.functional_ops."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.flow.function_ops import For, Gradient, If, While, remote_call, symbolic_gradient
from rheos.ops.flow.functional_ops import foldl, foldr, map_fn, scan

__getattr__ = _attribute_of("tensorflow")
