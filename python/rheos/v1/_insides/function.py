"""Functions of graphs: tensorflow.python.framework.function."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.flow.function import Declare, Defun

__getattr__ = _attribute_of("tensorflow")
