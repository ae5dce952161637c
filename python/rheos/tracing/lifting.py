"""Variables that are made while a function is traced: outside of it, once."""

import contextlib
from collections import namedtuple

from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import init_scope
from rheos.framework.op_call import apply_op
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import as_shape
from rheos.ops.state.eager_variables import EagerVariable

# is_set_inside: the first call gives the value, which depends on the call's arguments
Made = namedtuple("Made", "variable is_set_inside")


class _NeedsArguments(Exception):
    """An initial value cannot be made outside of the function."""


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
            raise _NeedsArguments(
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


def _set_inside(reason, initial_value, trainable=None, name=None, dtype=None, **others):
    """A variable whose value a call of the function gives; ValueError if it is of a graph."""
    if not get_default_graph()._root._is_eager:
        raise ValueError(reason)
    value = convert_to_tensor(initial_value, dtype)
    given = others.get("shape")
    shape = value.shape if given is None else as_shape(given)
    with init_scope():
        variable = EagerVariable.without_value(value.dtype, shape, trainable, name)
    apply_op("AssignVariableOp", None, variable.handle, value)
    return variable


def _creator(made, may_create):
    def create(next_creator, **kwargs):
        if not may_create:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make "
                "sure the tf.Variable is only created once or created outside tf.function."
            )
        try:
            kwargs["initial_value"] = _initial_value(kwargs.get("initial_value"))
        except _NeedsArguments as error:
            variable = _set_inside(str(error), **kwargs)
            made.append(Made(variable, True))
            return variable
        with init_scope():
            variable = next_creator(**kwargs)
        made.append(Made(variable, False))
        return variable

    return create


@contextlib.contextmanager
def lifted_variables(made, may_create):
    """A context in which variables are made in the graph around all functions.

    made: the list of Made that they join. may_create: otherwise making one is a ValueError.
    """
    graph = get_default_graph()
    creators = graph._variable_creators
    graph._variable_creators = [*creators, _creator(made, may_create)]
    try:
        yield
    finally:
        graph._variable_creators = creators
