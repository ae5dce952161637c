"""Effects in the order of the program, for the body of a function."""

from rheos.framework.defaults import get_default_graph
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor


class AutomaticControlDependencies:
    """A context in which what is added to the body of a function has its effects in that order.

    On leaving it, operations get control inputs: what writes to a resource waits for what used it
    before, what reads it for the last write, and what has other effects for the one before it.
    `ops_which_must_run` are those that have effects; nothing happens in graphs of no function.
    """

    def __init__(self):
        self.ops_which_must_run = []
        self._graph = None
        self._first = 0
        self._is_off = False

    def mark_as_return(self, tensor):
        """What a function is to return in place of a tensor that it computes: a copy of it."""
        if not isinstance(tensor, Tensor):
            return tensor
        return op1("Identity", None, tensor)

    def forget(self):
        """Leaves what was added as it is."""
        self._is_off = True

    def __enter__(self):
        self._graph = get_default_graph()
        self._first = self._graph._num_operations()
        return self

    def __exit__(self, kind, *exc_info):
        if kind is not None or self._is_off or not self._graph.building_function:
            return
        if self._graph is not get_default_graph():
            raise RuntimeError(
                "Within the automatic control dependency context, the default graph cannot change."
            )
        self._graph._order_effects(self._first)
        self.ops_which_must_run = self._graph.control_outputs
