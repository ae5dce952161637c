"""What is made for each of many numbers: tensorflow.python.ops.parallel_for."""

from rheos.ops.flow.functional_ops import map_rows as _map_rows
from rheos.ops.flow.row_loops import batch_jacobian, for_loop, jacobian
from rheos.ops.math.math_ops import range as _range


def pfor(loop_fn, iters, parallel_iterations=None):
    """What loop_fn(i) makes for each i below `iters`, stacked, by a loop of the graph."""
    return _map_rows(loop_fn, _range(iters))
