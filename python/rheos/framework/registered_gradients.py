"""Gradients that programs registered, of operations that are in no graph of the program's: those
that ran at once, and those of functions that are differentiated. Each is traced as a function."""

import itertools

from rheos.framework.func_graph import func_graph_from_py_func
from rheos.framework.gradient_registry import RaisedBefore, call_gradient, is_registered
from rheos.framework.graph import Graph, init_scope
from rheos.framework.tensor_spec import TensorSpec
from rheos.framework.watchers import stop_recording

_numbers = itertools.count(1)
_traced = {}  # {what an operation is: (FuncGraph, the inputs that its results are for)}
_MOST = 256


class _Operation:
    """An operation as its gradient function sees it: its tensors are the function's arguments."""

    def __init__(self, operation, inputs, outputs):
        self._operation = operation
        self.inputs, self.outputs = inputs, outputs

    def __getattr__(self, name):
        return getattr(self._operation, name)


def graph_for(op_type):
    """An empty graph, for the extension to fill, if a gradient of that type is registered."""
    return Graph() if is_registered(op_type) else None


def _trace(operation, op_type):
    tensors = [*operation.inputs, *operation.outputs]
    specs = [TensorSpec(t.shape, t.dtype.base_dtype) for t in (*tensors, *operation.outputs)]
    num_inputs, num_outputs = len(operation.inputs), len(operation.outputs)
    places = []

    def body(*args):
        inputs, rest = list(args[:num_inputs]), list(args[num_inputs:])
        stand_in = _Operation(operation, inputs, rest[:num_outputs])
        found = call_gradient(stand_in, op_type, rest[num_outputs:])
        found = [None] * num_inputs if found is None else found
        places.extend(i for i, one in enumerate(found) if one is not None)
        return [_dense(one) for one in found if one is not None]

    with init_scope(), stop_recording():
        name = f"__registered_gradient_{next(_numbers)}"
        graph = func_graph_from_py_func(name, body, specs)
        if graph.captures:
            raise NotImplementedError(
                f"the gradient function registered as {op_type!r} uses tensors or variables of the "
                "program around it, which a function's gradient cannot take"
            )
        graph.finish()
    return graph, places


def _dense(gradient):
    if not isinstance(gradient, tuple):
        return gradient
    from_slices, indices, shape = gradient
    raise NotImplementedError(
        f"a gradient function gave IndexedSlices of {from_slices.shape} in a function"
    )


def function_for(operation, op_type):
    """(name, whether it has state, the inputs that its results are the gradients of) of a function
    of the operation's inputs, its outputs and their gradients; or what raises its error."""
    what = operation.node_def
    what.ClearField("name")
    del what.input[:]
    shapes = tuple((t.dtype, str(t.shape)) for t in (*operation.inputs, *operation.outputs))
    key = op_type, what.SerializeToString(deterministic=True), shapes
    found = _traced.get(key)
    if found is None:
        while len(_traced) >= _MOST:
            del _traced[next(iter(_traced))]
        try:
            found = _traced[key] = _trace(operation, op_type)
        except Exception as error:  # it counts if somebody asks for the gradient
            return RaisedBefore(error)
    graph, places = found
    return graph.name, graph.is_stateful, places
