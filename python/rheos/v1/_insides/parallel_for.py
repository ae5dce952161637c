"""What is made for each of many numbers: tensorflow.python.ops.parallel_for."""

from rheos.ops.functional_ops import map_rows as _map_rows
from rheos.ops.math_ops import range as _range
from rheos.ops.row_loops import batch_jacobian, for_loop, jacobian


def pfor(loop_fn, iters, parallel_iterations=None):
    """What loop_fn(i) makes for each i below `iters`, stacked, by a loop of the graph."""
    return _map_rows(loop_fn, _range(iters))
