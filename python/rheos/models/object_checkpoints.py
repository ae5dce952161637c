"""The variables of a model in a checkpoint of objects, as TensorFlow 2 names them.

A variable's key is the way to it: names of attributes, numbers in lists, and for the layers of a
network layer_with_weights-0 and so on.
"""

import os

from rheos.framework import messages
from rheos.framework.op_call import apply_op
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.ops import array_ops
from rheos.training import checkpoints

_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def _escaped(name):
    return name.replace(".", "..").replace("/", ".S")


def _children(item):
    """(name, object) of what is inside an object."""
    if isinstance(item, (list, tuple)):
        return [(str(i), x) for i, x in enumerate(item)]
    if isinstance(item, dict):
        return [(str(k), x) for k, x in item.items()]
    found = []
    if getattr(item, "_is_graph_network", False) or hasattr(item, "_list"):
        with_weights = 0
        layers = item._list if hasattr(item, "_list") else item.layers
        for i, layer in enumerate(layers):
            if layer.weights:
                found.append((f"layer_with_weights-{with_weights}", layer))
                with_weights += 1
            found.append((f"layer-{i}", layer))
    for name, value in vars(item).items():
        if name not in item._UNTRACKED and name not in ("_list", "_metrics_of_outputs"):
            found.append((name, value))
    return found


def _is_kept(value):
    """Whether an object is, or has inside, a layer or a variable."""
    if values.is_variable(value) or isinstance(value, Layer):
        return True
    if isinstance(value, (list, tuple)):
        return any(_is_kept(x) for x in value)
    return isinstance(value, dict) and any(_is_kept(x) for x in value.values())


class ModelCheckpoint:
    """The objects of a model: numbered, with their names, breadth first."""

    def __init__(self, model):
        self._objects, self._edges, self._paths = [], [], {}
        todo = [(model, "")]
        numbers = {id(model): 0}
        self._objects.append(model)
        while todo:
            item, path = todo.pop(0)
            edges = []
            for name, child in [] if values.is_variable(item) else _children(item):
                if not _is_kept(child):
                    continue
                if id(child) not in numbers:
                    numbers[id(child)] = len(self._objects)
                    self._objects.append(child)
                    below = f"{path}/{_escaped(name)}" if path else _escaped(name)
                    if values.is_variable(child):
                        self._paths[id(child)] = below + _VALUE
                    todo.append((child, below))
                edges.append((name, numbers[id(child)]))
            self._edges.append(edges)
        found = [x for x in self._objects if values.is_variable(x)]
        rest = [v for v in model.weights if id(v) not in self._paths]
        for variable in rest:  # of layers whose attributes do not name them
            self._paths[id(variable)] = variable.op.name + _VALUE
        self._variables = found + rest

    def _message(self):
        message = messages.TrackableObjectGraph()
        for item, edges in zip(self._objects, self._edges):
            node = message.nodes.add()
            for name, number in edges:
                node.children.add(node_id=number, local_name=name)
            if values.is_variable(item):
                node.attributes.add(
                    name="VARIABLE_VALUE",
                    full_name=item.name.split(":")[0],
                    checkpoint_key=self._paths[id(item)],
                )
        return message.SerializeToString()

    def save(self, path):
        """Writes the variables to a checkpoint of that prefix, and notes it in its folder."""
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        session = values.get_session()
        names = [self._paths[id(v)] for v in self._variables]
        arrays = values.get_values(self._variables)
        with session.graph.as_default():
            holders = [array_ops.placeholder(v.dtype.base_dtype) for v in self._variables]
            text = array_ops.placeholder("string", shape=())
            saved = apply_op(
                "SaveV2", None, path, [*names, _GRAPH_KEY], [""] * (len(names) + 1),
                [*holders, text],
            )  # fmt: skip
        session.run(saved, {**dict(zip(holders, arrays)), text: self._message()})
        checkpoints.update_checkpoint_state(folder or ".", path)

    def restore(self, path):
        """Sets the variables as saved; those that the checkpoint does not have stay."""
        reader = checkpoints.NewCheckpointReader(path)
        known = reader.get_variable_to_shape_map()
        keys = self._keys_of(reader) if _GRAPH_KEY in known else {}
        pairs = []
        for variable in self._variables:
            key = keys.get(id(variable), self._paths[id(variable)])
            key = key if key in known else variable.op.name
            if key in known:
                pairs.append((variable, reader.get_tensor(key)))
        values.set_values(pairs)
        return len(pairs)

    def _keys_of(self, reader):
        """{id of a variable: its key}, by going through both graphs of objects side by side."""
        text = reader.get_tensor(_GRAPH_KEY)
        saved = messages.TrackableObjectGraph.FromString(bytes(text)).nodes
        found, done, todo = {}, set(), [(0, 0)]
        while todo:
            mine, theirs = todo.pop()
            if (mine, theirs) in done or theirs >= len(saved):
                continue
            done.add((mine, theirs))
            for attribute in saved[theirs].attributes:
                if attribute.name == "VARIABLE_VALUE":
                    found[id(self._objects[mine])] = attribute.checkpoint_key
            named = {child.local_name: child.node_id for child in saved[theirs].children}
            edges = self._edges[mine] if mine < len(self._edges) else ()
            todo.extend((number, named[name]) for name, number in edges if name in named)
        return found

