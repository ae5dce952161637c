"""How layers are connected: which call of which layer made a tensor, from which tensors.

A tensor that a program makes by Input(), or that a layer makes of such, knows its origin
(`_keras_history`). What operations outside layers make of them becomes layers when it is needed.
"""

from collections import namedtuple

from rheos.framework import nest
from rheos.framework.operation import Tensor

KerasHistory = namedtuple("KerasHistory", ["layer", "node_index", "tensor_index"])


class Node:
    """One call of a layer: the arguments, with the tensors in them, and the outputs.

    is_origin: whether the outputs come from it, and not from calls inside, as those of a network.
    """

    def __init__(self, layer, args, kwargs, outputs, is_origin=True):
        self.layer = self.outbound_layer = layer
        self.args, self.kwargs = args, kwargs
        self.output_tensors = nest.flatten(outputs)
        self.outputs = outputs
        self.input_tensors = tensors_in((args, kwargs))
        self._takes_one = len(args) == 1 and not kwargs and is_connected(args[0])
        index = len(layer._inbound_nodes)
        layer._inbound_nodes.append(self)
        for i, tensor in enumerate(self.output_tensors if is_origin else ()):
            tensor._keras_history = KerasHistory(layer, index, i)
        for tensor in self.output_tensors[:1]:
            tensor.graph.__dict__["_has_layers"] = True
        for tensor in self.input_tensors:
            tensor._keras_history.layer._outbound_nodes.append(self)

    @property
    def inbound_layers(self):
        """The layers that made the tensors it takes: one, or a list."""
        layers = [tensor._keras_history.layer for tensor in self.input_tensors]
        return layers[0] if len(layers) == 1 else layers

    def arguments(self, values):
        """(args, kwargs) with a value, by the tensor's id, for each tensor of the node's own."""

        if self._takes_one:
            return (values.get(id(self.args[0]), self.args[0]),), {}

        def value_of(x):
            return values.get(id(x), x)

        return nest.map_leaves(value_of, self.args), nest.map_leaves(value_of, self.kwargs)


def is_connected(tensor):
    """Whether it is known which layer made a tensor."""
    return isinstance(tensor, Tensor) and hasattr(tensor, "_keras_history")


def graph_of(structure):
    """The graph of the tensors that layers made, None if there are none."""
    found = tensors_in(structure)
    return found[0].graph if found else None


def tensors_in(structure):
    """The tensors of a structure that layers made, each once for each place."""
    return [x for x in nest.flatten(structure) if is_connected(x)]


def walk(outputs):
    """The nodes that tensors need, in an order in which each comes after those it needs."""
    order, done = [], set()
    todo = [(node_of(x), False) for x in reversed(nest.flatten(outputs))]
    while todo:
        node, is_ready = todo.pop()
        if id(node) in done:
            continue
        if is_ready:
            done.add(id(node))
            order.append(node)
            continue
        todo.append((node, True))
        todo.extend(
            (node_of(x), False) for x in reversed(node.input_tensors) if id(node_of(x)) not in done
        )
    return order


def node_of(tensor):
    """The node that made a tensor; ValueError if none is known."""
    history = getattr(tensor, "_keras_history", None)
    if history is None:
        raise ValueError(
            "Output tensors of a Model must be the output of a layer (thus holding past layer "
            f"metadata). Found: {tensor}"
        )
    return history.layer._inbound_nodes[history.node_index]


def comes_from(op, memo):
    """Whether an operation depends on a tensor that a layer made; `memo` keeps answers by op.

    Loops of version 1 are cycles of operations.
    """
    seen, path, todo = set(), [], [(op, False)]
    while todo:
        current, is_done = todo.pop()
        if is_done:
            path.pop()
            continue
        if current in seen or memo.get(current) is False:
            continue
        seen.add(current)
        path.append(current)
        todo.append((current, True))
        if memo.get(current) or any(is_connected(x) for x in current.inputs):
            memo.update(dict.fromkeys(path, True))
            return True
        todo.extend((x.op, False) for x in current.inputs)
    memo.update(dict.fromkeys(seen, False))
    return False
