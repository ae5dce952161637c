"""Layers for what a program computes of layers' tensors outside layers, one for each operation."""

import contextlib

from rheos.framework import signatures
from rheos.framework.defaults import get_default_graph
from rheos.framework.op_call import _attr_tuples
from rheos.layers import nodes, values
from rheos.layers.layer import Layer, register
from rheos.models import constraints, initializers, metric, regularizers

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
        inputs = [values.as_tensor(x) for x in inputs]
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
    memo, order, done = {}, [], set()
    todo = [(x.op, False) for x in tensors if not nodes.is_connected(x)]
    while todo:
        op, is_ready = todo.pop()
        if op in done or any(nodes.is_connected(x) for x in op.outputs):
            continue
        if is_ready:
            done.add(op)
            order.append(op)
        elif nodes.comes_from(op, memo):
            todo.append((op, True))
            todo.extend((x.op, False) for x in op.inputs if not nodes.is_connected(x))
    for op in order:
        outputs = list(op.outputs)
        made = TensorFlowOpLayer(op)
        nodes.Node(made, tuple(op.inputs), {}, outputs[0] if len(outputs) == 1 else outputs)


_GETTERS = {
    "initializer": initializers.get,
    "regularizer": regularizers.get,
    "constraint": constraints.get,
}


def _made(identifier, kind):
    return _GETTERS[kind](identifier)


register(connect_operations, metric.mean_metric, _made)
