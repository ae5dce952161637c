"""Calls of traced functions, for who looks into them: what one takes, and one with other values."""

from collections import namedtuple

from rheos.framework.conversion import convert_to_tensor
from rheos.tracing.function import Function
from rheos.tracing.wrapped import copied


def describe_call(function, tensors):
    """The name, and what the tensors are: "f(x: float32 [2])"."""
    names = [tensor.op.name for tensor in getattr(function.graph, "inputs", [])]
    names += ["?"] * (len(tensors) - len(names))
    told = [
        f"{name}: {tensor.dtype.base_dtype.name} {_shape_text(tensor)}"
        for name, tensor in zip(names, tensors)
    ]
    return f"{function._python_name}({', '.join(told)})"


def arguments_of(function, tensors):
    """{name of the tensor in the function: array} of what has a value, captures too."""
    graph = function.graph
    given = zip(graph.inputs, [*tensors, *graph.external_captures])
    return {
        inside.name: tensor.numpy()
        for inside, tensor in given
        if tensor.dtype.name not in ("resource", "variant")
    }


def _shape_text(tensor):
    return list(tensor.shape) if tensor.shape.rank is not None else "of any shape"


class BodyNode(namedtuple("BodyNode", "op inputs file line")):
    """An operation of a function's body: its type, the names of what it takes, its line."""

    __slots__ = ()


def body_nodes(watch):
    """{name: BodyNode} of the graph that a watch is telling of."""
    return {
        name.rpartition(":")[0]: BodyNode(op, inputs, file, line)
        for name, op, inputs, _, file, line in watch.nodes()
    }


def place_name(function):
    """What stands in places for calls of a function of that name."""
    return "".join(c if c.isalnum() or c == "." else "_" for c in function.lstrip("_"))


def call_with(function, tensors, values):
    """The call in which tensors of the function's graph have other values: {tensor: array}."""
    graph = function.graph

    def changed(*inputs):
        fed = {id(inside): given for inside, given in zip(graph.inputs, inputs)}
        for tensor, value in values.items():
            fed[id(tensor)] = convert_to_tensor(value, tensor.dtype.base_dtype)
        found = copied(graph, fed, [list(graph.outputs), list(graph.control_outputs)])
        return [found[id(tensor)] for tensor in graph.outputs]

    for variable in function._touched:
        variable._touch()
    whole = Function(changed, function._python_name, autograph=False)
    return function._structured(list(whole(*tensors, *graph.external_captures)))
