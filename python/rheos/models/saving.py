"""Models as configurations and as files."""

import json

import numpy as np

from rheos.framework import dtypes, nest, tensor_shape
from rheos.layers import nodes
from rheos.models import objects

KERAS_VERSION = "2.2.4-tf"

# ---- Networks as configurations


def _node_numbers(network):
    """{id of a node: its number among those of its layer that are in the network}."""
    inside = {id(n) for n in network.nodes}
    numbers = {}
    for layer in network.layers:
        kept = [n for n in layer._inbound_nodes if id(n) in inside]
        first = _first_number(layer)
        numbers.update({id(n): i + first for i, n in enumerate(kept)})
    return numbers


def _first_number(layer):
    """The number of a layer's first call: those that are networks have one of their own before."""
    return 1 if getattr(layer, "_is_graph_network", False) else 0


def _place(tensor, numbers):
    history = tensor._keras_history
    node = nodes.node_of(tensor)
    return [history.layer.name, numbers.get(id(node), 0), history.tensor_index]


def network_config(model):
    """The configuration of a model of inputs and outputs."""
    network = model._network
    numbers = _node_numbers(network)
    layers = []
    for layer in network.layers:
        calls = []
        for node in layer._inbound_nodes:
            if id(node) in numbers and node.input_tensors:
                calls.append(_call_config(node, numbers))
        layers.append(
            {
                "name": layer.name,
                "class_name": objects.get_registered_name(type(layer)),
                "config": layer.get_config(),
                "inbound_nodes": calls,
            }
        )
    return {
        "name": model.name,
        "layers": layers,
        "input_layers": _ends(network.input_structure, numbers),
        "output_layers": _ends(network.output_structure, numbers),
    }


def _ends(structure, numbers):
    if isinstance(structure, dict):
        return {key: _place(x, numbers) for key, x in structure.items()}
    return [_place(x, numbers) for x in nest.flatten(structure)]


def _call_config(node, numbers):
    """A call: for each tensor its layer, node, number and the other arguments."""
    kwargs = {k: _argument(v, numbers) for k, v in node.kwargs.items()}
    first = node.args[0]
    if len(node.args) > 1:
        names = [n for n in _parameter_names(node.layer)[1:]]
        kwargs = {
            **{n: _argument(v, numbers) for n, v in zip(names, node.args[1:])},
            **kwargs,
        }
    calls = []
    for x in nest.flatten(first):
        if not nodes.is_connected(x):
            raise ValueError(f"layer {node.layer.name} takes a value that no layer made: {x!r}")
        calls.append([*_place(x, numbers), kwargs])
    return calls


def _parameter_names(layer):
    import inspect

    return [p for p in inspect.signature(layer.call).parameters]


def _argument(value, numbers):
    """An argument in a configuration: tensors by their places."""

    def leaf(x):
        return _place(x, numbers) if nodes.is_connected(x) else _plain(x)

    return nest.map_leaves(leaf, value)


def tensors_of_config(config, custom_objects=None):
    """(inputs, outputs) of a network made of its configuration."""
    made, waiting = {}, []
    for item in config["layers"]:
        layer = objects.deserialize(
            "layer", {"class_name": item["class_name"], "config": item["config"]}, custom_objects
        )
        made[item["name"]] = layer
        waiting.extend((item["name"], call) for call in item["inbound_nodes"])
    places = {}  # (name, node): node
    counts = {}
    for name, layer in made.items():
        if layer._inbound_nodes:
            places[name, 0] = layer._inbound_nodes[0]
            counts[name] = 1
    while waiting:
        later = []
        for name, call in waiting:
            if not _make_call(made, places, counts, name, call):
                later.append((name, call))
        if len(later) == len(waiting):
            raise ValueError(f"the calls of these layers need each other: {[n for n, _ in later]}")
        waiting = later
    ends = []
    for key in ("input_layers", "output_layers"):
        ends.append(_tensors_at(config[key], places))
    return tuple(ends)


def _is_place(value, places):
    return (
        isinstance(value, (list, tuple))
        and len(value) == 3
        and isinstance(value[0], str)
        and isinstance(value[1], int)
    )


def _tensors_at(ends, places):
    if isinstance(ends, dict):
        return {key: _tensor_at(place, places) for key, place in ends.items()}
    if _is_place(ends, places):
        return _tensor_at(ends, places)
    found = [_tensor_at(place, places) for place in ends]
    return found[0] if len(found) == 1 else found


def _tensor_at(place, places):
    node = places.get((place[0], place[1]))
    return None if node is None else node.output_tensors[place[2]]


def _make_call(made, places, counts, name, call):
    """Calls a layer as a configuration says, if what it needs is there."""
    if call and _is_place(call[:3], places):  # a single tensor, not in a list
        call = [call]
    tensors = [_tensor_at(item[:3], places) for item in call]
    if any(x is None for x in tensors):
        return False
    kwargs = dict(call[0][3]) if len(call[0]) > 3 else {}
    known = set(made)

    def value_of(value):
        if _is_place(value, places) and value[0] in known:
            return _tensor_at(value, places)
        if isinstance(value, list):
            return [value_of(x) for x in value]
        return value

    given = {key: value_of(value) for key, value in kwargs.items()}
    wanted = [k for k, v in kwargs.items() if v is not None]
    if any(given[k] is None for k in wanted):
        return False
    made[name](tensors[0] if len(tensors) == 1 else tensors, **given)
    number = counts.get(name, 0)
    counts[name] = number + 1
    places[name, number] = made[name]._inbound_nodes[-1]
    return True


# ---- JSON


def _plain(value):
    """A value as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, tensor_shape.TensorShape):
        return value.as_list()
    if isinstance(value, tensor_shape.Dimension):
        return value.value
    return value


def _default(value):
    plain = _plain(value)
    if plain is not value:
        return plain
    if hasattr(value, "get_config"):
        return objects.serialize(value)
    if hasattr(value, "__name__"):
        return value.__name__
    raise TypeError(f"Not JSON Serializable: {value!r}")


def _model_config(model):
    return {
        "class_name": type(model).__name__,
        "config": model.get_config(),
        "keras_version": KERAS_VERSION,
        "backend": "tensorflow",
    }


def to_json(model, **kwargs):
    """A model's configuration as JSON."""
    return json.dumps(_model_config(model), default=_default, **kwargs)


def to_yaml(model, **kwargs):
    """A model's configuration as YAML, where the package yaml is installed."""
    try:
        import yaml
    except ImportError:
        raise ImportError("to_yaml() needs the package yaml, which is not installed") from None
    return yaml.dump(json.loads(to_json(model)), **kwargs)


def model_from_config(config, custom_objects=None):
    """The model, or layer, that a configuration stands for."""
    if isinstance(config, list):
        raise TypeError("`model_from_config` expects a dictionary, not a list.")
    return objects.deserialize("layer", config, custom_objects)


def model_from_json(json_string, custom_objects=None):
    """The model that to_json() made text of."""
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string, custom_objects=None):
    """The model that to_yaml() made text of."""
    try:
        import yaml
    except ImportError:
        raise ImportError("model_from_yaml() needs the package yaml") from None
    return model_from_config(yaml.safe_load(yaml_string), custom_objects)
