"""Contexts that push on a graph's scope."""

from rheos.framework import signatures


class _Pushed:
    """A context that undoes one push on the graph's scope."""

    __slots__ = ("_graph", "_method", "_argument")

    def __init__(self, graph, method, argument):
        self._graph = graph
        self._method = method
        self._argument = argument

    def __enter__(self):
        return self._method(self._argument)

    def __exit__(self, *exc_info):
        self._graph._pop()


class _ControlDependencies(_Pushed):
    __slots__ = ()

    def __enter__(self):
        self._method(self._argument)
        return self


class _GradientMap:
    """A context of Graph.gradient_override_map."""

    __slots__ = ("_graph", "_types")

    def __init__(self, graph, types):
        self._graph = graph
        self._types = dict(types)

    def __enter__(self):
        for op_type, other in self._types.items():
            attr = ("_gradient_op_type", signatures.STRING, other.encode())
            self._graph._push_attr(attr, op_type)

    def __exit__(self, *exc_info):
        for _ in self._types:
            self._graph._pop()
