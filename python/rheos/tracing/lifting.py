"""Variables that are made while a function is traced: outside of it, once."""

import contextlib

from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import init_scope
from rheos.framework.operation import Tensor


class _Trace:
    stack = []


def _lift(tensor, graph, root, done):
    """The same operation in the graph around all functions."""
    todo = [tensor.op]
    outside = {id(inside): out for out, inside in graph.captures}
    while todo:
        op = todo[-1]
        if op in done:
            todo.pop()
            continue
        missing = [t.op for t in op.inputs if id(t) not in outside and t.op not in done]
        if missing:
            todo += missing
            continue
        todo.pop()
        if op.type == "Placeholder":
            raise ValueError(
                f"the initial value of a variable depends on {op.name}, an argument of the "
                "function in which the variable is made"
            )
        inputs = [outside.get(id(t)) or done[t.op][t.value_index] for t in op.inputs]
        attrs = [(key, *op._attr(key)) for key in op.node_def.attr if not key.startswith("_")]
        made = root._node(op.type, op.name.rsplit("/", 1)[-1], inputs, attrs)
        done[op] = list(made.outputs)
    return done[tensor.op][tensor.value_index]


def _initial_value(value):
    """An initial value that can be made outside of the function."""
    graph = get_default_graph()
    if callable(value) and not isinstance(value, Tensor):
        return value
    if isinstance(value, Tensor) and getattr(value, "graph", None) is graph:
        with init_scope():
            return _lift(value, graph, get_default_graph(), {})
    return value


def _creator(made, may_create):
    def create(next_creator, **kwargs):
        if not may_create:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make "
                "sure the tf.Variable is only created once or created outside tf.function."
            )
        kwargs["initial_value"] = _initial_value(kwargs.get("initial_value"))
        with init_scope():
            variable = next_creator(**kwargs)
        made.append(variable)
        return variable

    return create


@contextlib.contextmanager
def lifted_variables(made, may_create):
    """A context in which variables are made in the graph around all functions.

    made: the list that they are added to. may_create: otherwise making one is a ValueError.
    """
    graph = get_default_graph()
    creators = graph._variable_creators
    graph._variable_creators = [*creators, _creator(made, may_create)]
    try:
        yield
    finally:
        graph._variable_creators = creators
