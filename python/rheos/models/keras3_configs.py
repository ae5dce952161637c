"""Configurations as Keras 3 has them in its files, of models, layers and what they are made of.

What is written here Keras 3 reads: each object says its module, class and configuration; the calls
of a network's layers say their arguments, with tensors by the layer that made them.
"""

import importlib
import inspect
import pkgutil

import numpy as np

from rheos.framework import dtypes, nest, tensor_shape
from rheos.layers import nodes
from rheos.layers.layer import Layer
from rheos.models import layers, objects, operation_layers

VERSION = "3.15.1"
_MODULES = {
    "layer": "keras.layers",
    "drawn initializer": "keras.initializers",
    "initializer": "keras.initializers",
    "regularizer": "keras.regularizers",
    "constraint": "keras.constraints",
    "optimizer": "keras.optimizers",
    "learning rate schedule": "keras.optimizers.schedules",
    "loss function": "keras.losses",
    "metric function": "keras.metrics",
}
# What only earlier versions' configurations have.
_LEFT_OUT = {"batch_input_shape", "implementation", "time_major", "input_length", "decay"}
_LEFT_OUT_OF = {"Attention": {"causal"}, "AdditiveAttention": {"causal"}, "Flatten": set()}
_POLICIES = ("DTypePolicy", "FloatDTypePolicy", "Policy")


# ---- Writing


def _module_of(kind):
    for table, module in _MODULES.items():
        if objects.table(table).get(kind.__name__) is kind:
            return module
    return None


def serialized(item):
    """What stands for a value in Keras 3's files."""
    if isinstance(item, dict) and set(item) == {"class_name", "config"}:
        return _named(item)
    if isinstance(item, dict):
        return {str(k): serialized(v) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return [serialized(v) for v in item]
    if item is None or isinstance(item, (str, bool, int, float)):
        return item
    if isinstance(item, np.generic):
        return item.item()
    if isinstance(item, dtypes.DType):
        return item.name
    if isinstance(item, tensor_shape.TensorShape):
        return item.as_list()
    if hasattr(item, "numpy") or isinstance(item, np.ndarray):
        array = np.asarray(item.numpy() if hasattr(item, "numpy") else item)
        return {
            "class_name": "__numpy__",
            "config": {"value": array.tolist(), "dtype": array.dtype.name},
        }
    if hasattr(item, "get_config"):
        return object_config(item)
    if hasattr(item, "__name__"):
        known = objects.table("activation function")
        name = objects.get_registered_name(item)
        if known.get(item.__name__) is item or item.__name__ in objects.table("loss function"):
            return item.__name__
        return {
            "module": "builtins", "class_name": "function", "config": item.__name__,
            "registered_name": name if name != item.__name__ else "function",
        }  # fmt: skip
    raise TypeError(f"{item!r} has no configuration: it cannot be in a model's file")


def _named(item):
    """An object's class and configuration, with the module that has the class."""
    name = item["class_name"]
    for table, module in _MODULES.items():
        kind = objects.table(table).get(name)
        if inspect.isclass(kind):
            config = _kept_of(kind, item["config"])
            if module == "keras.initializers":
                config.pop("dtype", None)
            return {"module": module, "class_name": name, "config": config, "registered_name": None}
    if name.startswith("__"):
        return item
    kind = objects.find("layer", name)
    return {"module": kind.__module__, "class_name": kind.__name__, "registered_name": name,
            "config": {k: serialized(v) for k, v in item["config"].items()}}  # fmt: skip


def _kept_of(kind, config):
    """A configuration of one of Keras's own classes, as Keras 3 takes it."""
    left_out = _LEFT_OUT | _LEFT_OUT_OF.get(kind.__name__, set())
    config = {k: serialized(v) for k, v in config.items() if k not in left_out}
    if config.get("reduction") == "auto":
        config["reduction"] = "sum_over_batch_size"
    if kind.__name__ == "BatchNormalization" and isinstance(config["axis"], list):
        config["axis"] = config["axis"][0]
    if kind.__name__ == "Lambda":
        return _lambda_config(config)
    return config


def _lambda_config(config):
    """The configuration of a Lambda: its function by name, or as code that few will run."""
    kept = {k: config[k] for k in ("name", "trainable", "dtype", "arguments") if k in config}
    function = config["function"]
    if config.get("function_type") == "lambda":
        code, defaults, closure = function
        function = {"class_name": "__lambda__",
                    "config": {"code": code, "defaults": defaults, "closure": closure}}  # fmt: skip
    elif isinstance(function, str):
        function = {"module": "builtins", "class_name": "function", "config": function,
                    "registered_name": function}  # fmt: skip
    return {**kept, "function": function}


def object_config(item):
    """{"module", "class_name", "config", "registered_name"} of an object."""
    kind = type(item)
    module = _module_of(kind)
    registered = None if module else objects.get_registered_name(kind)
    config = model_config(item) if hasattr(item, "_is_graph_network") else item.get_config()
    if module:
        config = _kept_of(kind, config)
    else:
        module = kind.__module__
    if kind.__name__ == "Sequential" and module == "keras.layers":
        module = "keras"
    found = {
        "module": module,
        "class_name": kind.__name__,
        "config": {k: serialized(v) for k, v in config.items()},
        "registered_name": registered,
    }
    if _is_functional(item):
        found.update(module="keras.src.models.functional", class_name="Functional",
                     registered_name="Functional")  # fmt: skip
    if isinstance(item, Layer):
        found.update(_build_config(item))
    return found


def _is_functional(item):
    return getattr(item, "_is_graph_network", False) and type(item).__name__ in (
        "Model",
        "Functional",
    )


def _build_config(layer):
    shape = getattr(layer, "_built_for", None)
    if shape is None or not layer.built:
        return {}
    found = nest.map_leaves(lambda s: s.as_list() if s.ndims is not None else None, shape)
    return {"build_config": {"input_shape": found}}


def model_config(model):
    """The configuration of a model: of its layers and their calls, or its own."""
    if hasattr(model, "_list"):
        return _sequence_config(model)
    if not model._is_graph_network:
        return model.get_config()
    network = model._network
    numbers, counts = {}, {}
    for node in network.nodes:
        place = counts.get(id(node.layer), 0)
        numbers[id(node)] = place
        counts[id(node.layer)] = place + 1

    def place_of(x):
        history = x._keras_history
        return [history.layer.name, numbers.get(id(nodes.node_of(x)), 0), history.tensor_index]

    def ends(structure):
        return nest.map_leaves(place_of, structure)

    layers = []
    for layer in network.layers:
        calls = [
            {"args": _arguments(node.args, place_of), "kwargs": _arguments(node.kwargs, place_of)}
            for node in network.nodes
            if node.layer is layer and node.input_tensors
        ]
        made = operation_layers.keras3_config(layer) or object_config(layer)
        if hasattr(layer, "_operation"):
            calls = operation_layers.keras3_calls(layer, calls)
        layers.append({**made, "name": layer.name, "inbound_nodes": calls})
    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": layers,
        "input_layers": ends(network.input_structure),
        "output_layers": ends(network.output_structure),
    }


def _sequence_config(model):
    layers = [object_config(layer) for layer in model._list]
    shape = model._shape_built_for()
    if model.inputs:
        shape = model.inputs[0].shape.as_list()
    config = {"name": model.name, "trainable": model.trainable, "dtype": "float32",
              "layers": layers}  # fmt: skip
    return config if shape is None else {**config, "build_input_shape": list(shape)}


def _arguments(structure, place_of):
    def leaf(x):
        if not nodes.is_connected(x):
            return serialized(x)
        return {
            "class_name": "__keras_tensor__",
            "config": {
                "shape": x.shape.as_list(),
                "dtype": x.dtype.base_dtype.name,
                "keras_history": place_of(x),
            },
        }

    return nest.map_leaves(leaf, list(structure) if isinstance(structure, tuple) else structure)


def compile_config(model):
    """What compile() was given, None where it was not called or is the program's own."""
    settings = model._compiled
    if settings is None or _has_own_compile(model):
        return None
    return {
        "optimizer": serialized(model.optimizer),
        **{k: serialized(settings[k]) for k in ("loss", "loss_weights", "metrics")},
        "weighted_metrics": serialized(settings["weighted_metrics"]),
        "run_eagerly": model.run_eagerly,
        "steps_per_execution": model.steps_per_execution,
        "jit_compile": bool(model.jit_compile),
    }


def _has_own_compile(model):
    return not type(model).compile.__module__.startswith("rheos.")


# ---- Reading


def simplified(config, safe_mode=True):
    """A configuration with names for policies, arrays for written ones, no numbers of objects."""
    if isinstance(config, list):
        return [simplified(item, safe_mode) for item in config]
    if not isinstance(config, dict):
        return config
    name = config.get("class_name")
    if name in _POLICIES and isinstance(config.get("config"), dict):
        return config["config"].get("name")
    if name == "__numpy__":
        return np.asarray(config["config"]["value"], config["config"]["dtype"])
    if name == "__lambda__":
        if safe_mode:
            raise ValueError(
                "Requested the deserialization of a Python lambda, which could run any code. If "
                "you trust the source of the file, pass `safe_mode=False` to the loading function."
            )
        inner = config["config"]
        return [inner["code"], inner["defaults"], inner["closure"]]
    if name == "function":
        registered = config.get("registered_name")
        is_own = registered in (None, "function")
        return config["config"] if is_own else registered
    return {k: simplified(v, safe_mode) for k, v in config.items() if k != "shared_object_id"}


def made_of(config, custom_objects=None):
    """The layer or model that a simplified configuration stands for."""
    if not isinstance(config, dict) or "class_name" not in config:
        raise ValueError(f"Improper config format: {config!r}")
    module, name = config.get("module") or "", config["class_name"]
    if module.startswith("keras.src.ops") or module.startswith("keras.ops"):
        return operation_layers.OperationLayer.from_config({**config["config"], "kind": name})
    if not module and operation_layers.is_operation(config):
        return operation_layers.OperationLayer.from_config({**config["config"], "kind": name})
    kind = _kind_of(config, custom_objects)
    with objects.CustomObjectScope(custom_objects or {}):
        inner = dict(config["config"])
        if name == "Functional" or "input_layers" in inner and "layers" in inner:
            return _network_of(kind, inner, custom_objects)
        if name == "Sequential":
            return _sequence_of(kind, inner, custom_objects)
        layer = _made(kind, inner)
    shape = (config.get("build_config") or {}).get("input_shape")
    if shape is not None and not layer.built and hasattr(layer, "_is_graph_network"):
        layer.build(shape)
    return layer


def _know_all_layers():
    """Imports all layers: each is known by its name when its module is."""
    for found in pkgutil.iter_modules(layers.__path__, f"{layers.__name__}."):
        importlib.import_module(found.name)
    for name in ("model", "input_layer", "metrics", "confusion_metrics", "schedules"):
        importlib.import_module(f"{objects.__package__}.{name}")


def _kind_of(config, custom_objects):
    _know_all_layers()
    for name in (config.get("registered_name"), config["class_name"]):
        if name:
            try:
                return objects.find("layer", name, custom_objects)
            except ValueError:
                continue
    raise TypeError(
        f"Could not locate class '{config['class_name']}'. Make sure custom classes are decorated "
        "with `@keras.saving.register_keras_serializable()`, or given by `custom_objects`."
    )


def _made(kind, config):
    if not kind.__module__.startswith("rheos."):
        return kind.from_config(config)
    if kind.__name__ == "Lambda" and isinstance(config.get("function"), list):
        config = {**config, "function_type": "lambda"}
    taken, takes_any = _taken_by(kind)
    kept = {}
    for key, value in config.items():
        if key in taken or takes_any and key not in _EXTRA:
            kept[key] = value
        elif value not in (None, False, "auto", 0.99) and key not in _EXTRA:
            raise ValueError(f"{kind.__name__} has no setting {key!r} ({value!r})")
    return objects._made_of(kind, kept, None)


# Settings that only Keras 3 has, of which the defaults are what layers do here.
_EXTRA = frozenset(
    ("quantization_config", "renorm", "renorm_clipping", "renorm_momentum", "synchronized",
     "zero_output_for_mask", "use_gate", "sliding_window", "rms_scaling", "flash_attention",
     "lora_rank", "lora_alpha", "autocast", "optional", "gate_activation")
)  # fmt: skip


def _taken_by(kind):
    """(the names of all arguments that a class takes, whether it takes any other)."""
    names = set()
    for base in inspect.getmro(kind):
        if "__init__" in vars(base) and base is not object:
            names |= set(inspect.signature(base.__init__).parameters)
    names |= set(getattr(kind, "_ARGUMENTS", ()))
    return names, "kwargs" in names


def _sequence_of(kind, config, custom_objects):
    model = kind(name=config.get("name"))
    for item in config["layers"]:
        model.add(made_of(item, custom_objects))
    shape = config.get("build_input_shape")
    if shape and not model.built:
        model.build(shape)
    return model


def _is_tensor(value):
    return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"


def _network_of(kind, config, custom_objects):
    """A network of the layers of a configuration, called as it says."""
    layers = {item["name"]: made_of(item, custom_objects) for item in config["layers"]}
    calls = [(item["name"], call) for item in config["layers"] for call in item["inbound_nodes"]]
    made = {(name, 0): layer._inbound_nodes[0] for name, layer in layers.items()
            if type(layer).__name__ == "InputLayer"}  # fmt: skip
    counts = {}

    def tensor_at(place):
        node = made.get((place[0], place[1]))
        return None if node is None else node.output_tensors[place[2]]

    def value_of(value):
        if _is_tensor(value):
            return tensor_at(value["config"]["keras_history"])
        if isinstance(value, list):
            return [value_of(item) for item in value]
        if isinstance(value, dict):
            return {key: value_of(item) for key, item in value.items()}
        return value

    waiting = calls
    while waiting:
        later = []
        for name, call in waiting:
            wanted = _places_in([call["args"], call["kwargs"]])
            if any(tensor_at(place) is None for place in wanted):
                later.append((name, call))
                continue
            kwargs = {k: v for k, v in value_of(call["kwargs"]).items() if v is not None}
            layers[name](*value_of(call["args"]), **kwargs)
            number = counts[name] = counts.get(name, -1) + 1
            made[name, number] = layers[name]._inbound_nodes[-1]
        if len(later) == len(waiting):
            raise ValueError(f"the calls of these layers need each other: {[n for n, _ in later]}")
        waiting = later

    def ends(structure):
        if isinstance(structure, dict):
            return {key: ends(value) for key, value in structure.items()}
        if len(structure) == 3 and isinstance(structure[0], str):
            return tensor_at(structure)
        return [ends(item) for item in structure]

    inputs, outputs = ends(config["input_layers"]), ends(config["output_layers"])
    return kind(inputs, outputs, name=config.get("name"))


def _places_in(structure):
    found, todo = [], [structure]
    while todo:
        value = todo.pop()
        if _is_tensor(value):
            found.append(value["config"]["keras_history"])
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, dict):
            todo.extend(value.values())
    return found
