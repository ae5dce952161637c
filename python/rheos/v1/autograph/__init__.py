"""Python functions whose branches and loops over tensors are the graph's."""

from rheos.autograph.api import set_verbosity, to_code, to_graph, trace
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1.autograph import experimental

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
__getattr__ = _attribute_of("tensorflow.autograph")
