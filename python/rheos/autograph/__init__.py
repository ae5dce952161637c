"""Python functions made ones that add their branches and loops over tensors to the graph.

The package is TensorFlow 2's `tf.autograph` too.
"""

from rheos.autograph import experimental  # noqa: F401
from rheos.autograph.api import set_verbosity, to_code, to_graph, trace

__all__ = ["set_verbosity", "to_code", "to_graph", "trace"]
