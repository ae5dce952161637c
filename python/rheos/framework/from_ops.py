"""Functions of ops that graphs and tensors use: x[1:] is a StridedSlice, for one.

The modules of rheos.ops that define them lie above this one and register them here.
"""

import types

from_ops = types.SimpleNamespace()


def register(**functions):
    """Makes functions of ops attributes of `from_ops`, under the names they are given by."""
    vars(from_ops).update(functions)
