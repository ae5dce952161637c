"""The default graph and session: stacks, one for each thread."""

import threading

from rheos import _core
from rheos.framework.thread_state import inherited


class _Stacks(threading.local):
    def __init__(self):
        self.graphs = []
        self.sessions = []


_stacks = inherited(_Stacks())
_global_graph = None
_graph_type = None
_control_flow_v2 = False
_eager_graph = None  # stands for eager execution, when that is the default


def register_graph_type(graph_type):
    """Says what makes the graph of the process: Graph, whose module lies above this one."""
    global _graph_type
    _graph_type = graph_type


def get_default_graph():
    """The innermost graph made default with `as_default`, else the one of the process.

    Where eager execution is on that is the object that stands for it.

    >>> x = tf.constant(1, name="x")
    >>> print([op.name for op in tf.get_default_graph().get_operations()])
    ['x']
    """
    global _global_graph
    stack = _stacks.graphs
    if stack:
        return stack[-1]
    if _eager_graph is not None:
        return _eager_graph
    if _global_graph is None:
        _global_graph = _graph_type()
    return _global_graph


def set_eager_graph(graph):
    """Makes the graph that stands for eager execution the one of the process; None ends that."""
    global _eager_graph
    _eager_graph = graph
    _core._set_eager(graph is not None)


def has_operations():
    """Whether there are operations in the graph of the process."""
    return _global_graph is not None and bool(_global_graph.get_operations())


def is_eager_on():
    """Whether eager execution is on for the process."""
    return _eager_graph is not None


def reset_default_graph():
    """Puts a new, empty graph in the place of the default one.

    >>> x = tf.constant(1)
    >>> tf.reset_default_graph()
    >>> print(tf.get_default_graph().get_operations())
    []
    """
    global _global_graph
    if not all(graph._is_eager for graph in _stacks.graphs):
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    _global_graph = None


def get_default_session():
    """The innermost session made default, None if there is none."""
    stack = _stacks.sessions
    return stack[-1] if stack else None


class _Default:
    """A context in which an object is the innermost default of its kind."""

    __slots__ = ("_stack_name", "_value", "_enforce_nesting")

    def __init__(self, stack_name, value, enforce_nesting=True):
        self._stack_name = stack_name
        self._value = value
        self._enforce_nesting = enforce_nesting

    @property
    def enforce_nesting(self):
        return self._enforce_nesting

    @enforce_nesting.setter
    def enforce_nesting(self, value):
        self._enforce_nesting = value

    def __enter__(self):
        getattr(_stacks, self._stack_name).append(self._value)
        if self._stack_name == "graphs":
            _core._count_default_graphs(1)
        return self._value

    def __exit__(self, *exc_info):
        stack = getattr(_stacks, self._stack_name)
        if self._stack_name == "graphs" and self._value in stack:
            _core._count_default_graphs(-1)
        if stack and stack[-1] is self._value:
            stack.pop()
        elif self._enforce_nesting:
            raise AssertionError(
                f"Nesting violated for default stack of {type(self._value)} objects"
            )
        else:
            for i in range(len(stack) - 1, -1, -1):
                if stack[i] is self._value:
                    del stack[i]
                    break


def set_control_flow_v2(is_on):
    """Whether branches and loops of graphs are functions; those inside of functions always are."""
    global _control_flow_v2
    _control_flow_v2 = is_on


def control_flow_v2_enabled():
    """Whether branches and loops of graphs are functions."""
    return _control_flow_v2


def uses_control_flow_v2():
    """Whether branches and loops of the default graph are functions."""
    graph = get_default_graph()
    return _control_flow_v2 or getattr(graph, "control_flow_v2", False)
