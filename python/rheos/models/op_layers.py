"""Layers for what a program computes of layers' tensors outside layers, one for each operation."""

import contextlib

import numpy as np

from rheos.framework import signatures
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.op_call import _attr_tuples
from rheos.layers import nodes, values
from rheos.layers.layer import Layer, register
from rheos.models import constraints, drawn_initializers, initializers, metric, regularizers  # noqa: F401

_INTERNAL = ("_output_shapes",)


class TensorFlowOpLayer(Layer):
    """A layer that adds an operation like one that there is, on other tensors."""

    _gives_list = True  # as the table of a model shows its shape

    def __init__(self, operation, name=None, trainable=True, dtype=None):
        super().__init__(name=name or "tf_op_layer_" + operation.name, trainable=trainable)
        self._operation = operation
        self.built = True

    def _call_scope(self):
        return contextlib.nullcontext()

    def call(self, *inputs):
        """The outputs of an operation of the same kind: one tensor, or a list."""
        graph = get_default_graph()
        old = self._operation
        definition = signatures.op_def(old.type)
        attrs = {}
        for key in definition._attrs:
            if key not in _INTERNAL:
                attrs[key] = old.get_attr(key)
        inputs = [convert_to_tensor(x) for x in inputs]
        scope = graph._push_name_scope(old.name.rpartition("/")[2])
        try:
            made = graph._node(old.type, scope, inputs, _attr_tuples(definition, attrs))
        finally:
            graph._pop()
        return made.outputs[0] if len(made.outputs) == 1 else list(made.outputs)

    def get_config(self):
        raise NotImplementedError(
            f"the operation {self._operation.name} ({self._operation.type}) was added outside "
            "layers: make a Lambda layer of it to have it in a configuration"
        )


def connect_operations(tensors):
    """Makes layers of the operations between tensors and those that layers made."""
    memo, order, done, seen = {}, [], set(), set()
    todo = [(x.op, False) for x in tensors if not nodes.is_connected(x)]
    while todo:
        op, is_ready = todo.pop()
        if op in done or any(nodes.is_connected(x) for x in op.outputs):
            continue
        if is_ready:
            done.add(op)
            order.append(op)
        elif op not in seen and nodes.comes_from(op, memo):
            seen.add(op)
            todo.append((op, True))
            todo.extend((x.op, False) for x in op.inputs if not nodes.is_connected(x))
    for op in order:
        outputs = list(op.outputs)
        made = TensorFlowOpLayer(op)
        inputs = tuple(x if nodes.is_connected(x) else _settled(x) for x in op.inputs)
        nodes.Node(made, inputs, {}, outputs[0] if len(outputs) == 1 else outputs)


def _settled(tensor):
    """What stands for a tensor that no layer made where the operation is added again."""
    if values.runs_in_session():
        return tensor
    found = constant_value(tensor)
    if found is not None:
        return np.asarray(found, tensor.dtype.base_dtype.as_numpy_dtype)
    for outside, inside in tensor.graph._captured.values():
        if inside is tensor:
            return outside
    raise NotImplementedError(
        f"{tensor.name} is computed of no layer's tensor: compute it before, or within a layer"
    )


_GETTERS = {
    "initializer": initializers.get,
    "regularizer": regularizers.get,
    "constraint": constraints.get,
}


def _made(identifier, kind):
    return _GETTERS[kind](identifier)


register(connect_operations, metric.mean_metric, _made)
