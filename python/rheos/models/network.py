"""Networks: which nodes lie between inputs and outputs, in which order, run on other tensors."""

from rheos.framework import nest
from rheos.framework.operation import Tensor
from rheos.layers import nodes
from rheos.layers.layer import each_once
from rheos.ops.math import math_ops


class Network:
    """The nodes and layers between some tensors and others.

    nodes: each after those it needs. layers: by their distance to the outputs, the farthest first.
    ValueError where an output needs a tensor that is not among the inputs.
    """

    def __init__(self, inputs, outputs):
        self.inputs = nest.flatten(inputs)
        self.outputs = nest.flatten(outputs)
        self.input_structure, self.output_structure = inputs, outputs
        self._order = {}
        order = self._visit()
        depths, layer_depths = self._depths(order)
        for x in self.inputs:
            layer = x._keras_history.layer
            if layer not in layer_depths:
                layer_depths[layer] = 0
                self._order[layer] = -1
                node = nodes.node_of(x)
                depths[node] = 0
                order.append(node)
        place = {id(node): i for i, node in enumerate(order)}
        self.nodes = sorted(order, key=lambda n: (-depths[n], place[id(n)]))
        ordered = sorted(layer_depths, key=lambda x: (-layer_depths[x], self._order[x]))
        self.layers = each_once(ordered)
        self.depths = depths
        self.input_layers = [x._keras_history.layer for x in self.inputs]
        self.output_layers = [x._keras_history.layer for x in self.outputs]
        self._check()

    def _visit(self):
        """The nodes, each after those it needs; counts the layers in the order they are met."""
        order, done, open_nodes = [], set(), set()
        given = {id(x) for x in self.inputs}
        for output in self.outputs:
            todo = [(nodes.node_of(output), False)]
            while todo:
                node, is_ready = todo.pop()
                if is_ready:
                    open_nodes.discard(id(node))
                    done.add(id(node))
                    order.append(node)
                    continue
                if id(node) in done or id(node) in open_nodes:
                    continue
                self._order.setdefault(node.layer, len(self._order))
                open_nodes.add(id(node))
                todo.append((node, True))
                if any(id(x) in given for x in node.output_tensors) and node.input_tensors:
                    continue
                todo.extend((nodes.node_of(x), False) for x in reversed(node.input_tensors))
        return order

    def _depths(self, order):
        depths, of_layers = {}, {}
        for node in reversed(order):
            depth = max(depths.get(node, 0), of_layers.get(node.layer, 0))
            of_layers[node.layer] = depths[node] = depth
            for x in node.input_tensors:
                below = nodes.node_of(x)
                depths[below] = max(depth + 1, depths.get(below, 0))
        return {node: depths[node] for node in order}, of_layers

    def _check(self):
        known = {id(x) for x in self.inputs}
        for node in self.nodes:
            missing = [x for x in node.input_tensors if id(x) not in known]
            is_given = all(id(x) in known for x in node.output_tensors)
            if (missing or not node.input_tensors) and not is_given:
                what = missing[0] if missing else node.output_tensors[0]
                raise ValueError(
                    f"Graph disconnected: cannot obtain value for tensor {what} at layer "
                    f'"{node.layer.name}". The following previous layers were accessed without '
                    f"issue: {[n.layer.name for n in self.nodes[: self.nodes.index(node)]]}"
                )
            known.update(id(x) for x in node.output_tensors)
        names = [layer.name for layer in self.layers]
        for name in names:
            if names.count(name) != 1:
                raise ValueError(
                    f'The name "{name}" is used {names.count(name)} times in the model. All layer '
                    "names should be unique."
                )

    def run(self, inputs, **kwargs):
        """The outputs for other inputs, of the same structure or flat. `kwargs`: training, mask."""
        flat = nest.flatten(inputs)
        if isinstance(inputs, dict):
            flat = self._by_name(inputs)
        if len(flat) != len(self.inputs):
            raise ValueError(
                f"the model has {len(self.inputs)} inputs, but it received {len(flat)} tensors"
            )
        found = {id(own): _as(own, x) for own, x in zip(self.inputs, flat)}
        kwargs = {k: v for k, v in kwargs.items() if v is not None}
        for node in self.nodes:
            if not node.input_tensors or all(id(x) in found for x in node.output_tensors):
                continue
            args, given = node.arguments(found)
            for key, value in kwargs.items():
                if key not in given and node.layer._takes(key):
                    given[key] = value
            outputs = node.layer(*args, **given)
            if isinstance(outputs, Tensor):
                found[id(node.output_tensors[0])] = outputs
                continue
            for own, x in zip(node.output_tensors, nest.flatten(outputs)):
                found[id(own)] = x
        results = [found[id(x)] for x in self.outputs]
        return nest.pack_sequence_as(self.output_structure, results)

    def _by_name(self, inputs):
        structure = self.input_structure
        if isinstance(structure, dict) and set(structure) <= set(inputs):
            return [inputs[key] for key in sorted(structure)]
        names = [layer.name for layer in self.input_layers]
        lacking = [name for name in names if name not in inputs]
        if lacking:
            raise ValueError(f"No data provided for {lacking}. Need data for each key in: {names}")
        return [inputs[name] for name in names]


def _as(own, x):
    """What is given for an input of the model, in the input's dtype if it is a number."""
    wanted = own.dtype.base_dtype
    if isinstance(x, Tensor) and x.dtype is wanted:
        return x
    if not hasattr(x, "dtype") or not hasattr(x, "graph") or x.dtype.base_dtype == wanted:
        return x
    return math_ops.cast(x, wanted) if _is_number(x.dtype) and _is_number(wanted) else x


def _is_number(dtype):
    return dtype.is_floating or dtype.is_integer or dtype.is_bool
