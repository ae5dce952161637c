"""Models and variables in files of HDF5, with Keras's layout, and of checkpoints."""

import json
import os

import numpy as np

from rheos.framework import errors
from rheos.layers import values
from rheos.models import archive, keras3_configs, objects, optimizers, saving
from rheos.training import checkpoints
from rheos.training.object_checkpoints import Checkpoint

_MOST_BYTES = 64512  # of an attribute of a group
_H5_ENDINGS = (".h5", ".hdf5", ".keras")  # version 1 takes them all for HDF5


def _is_h5_path(path):
    return str(path).endswith(_H5_ENDINGS)


def _is_h5_group(path):
    return hasattr(path, "create_dataset")


def _may_write(path, overwrite):
    if overwrite or not os.path.exists(path):
        return True
    while True:
        answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip()
        if answer in ("y", "n"):
            return answer == "y"


# ---- Attributes of groups


def _set_names(group, name, names):
    """Sets an attribute of names, in parts where they are too long for one."""
    data = [n.encode() for n in names]
    if any(len(d) > _MOST_BYTES for d in data):
        raise RuntimeError(f"a name is longer than HDF5's attributes may be ({_MOST_BYTES} bytes)")
    array = np.asarray(data) if data else np.asarray([], "S1")
    count = 1
    parts = [array]
    while any(part.nbytes > _MOST_BYTES for part in parts):
        count += 1
        parts = np.array_split(array, count)
    if count == 1:
        group.attrs[name] = array
        return
    for i, part in enumerate(parts):
        group.attrs[f"{name}{i}"] = part


def _names(group, name):
    """An attribute of names, put together of its parts."""

    def texts(items):
        return [n.decode() if isinstance(n, bytes) else str(n) for n in items]

    if name in group.attrs:
        return texts(group.attrs[name])
    found, i = [], 0
    while f"{name}{i}" in group.attrs:
        found += texts(group.attrs[f"{name}{i}"])
        i += 1
    return found


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


# ---- Variables


def _write_variables(group, variables):
    names = [v.name for v in variables]
    _set_names(group, "weight_names", names)
    for name, value in zip(names, values.get_values(variables)):
        value = np.asarray(value)
        held = group.create_dataset(name, value.shape, dtype=value.dtype)
        if value.shape:
            held[:] = value
        else:
            held[()] = value


def _write_layers(group, model):
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = saving.KERAS_VERSION.encode()
    layers = model.layers
    _set_names(group, "layer_names", [layer.name for layer in layers])
    for layer in layers:
        _write_variables(group.create_group(layer.name), layer.weights)


def _arrays(group):
    return [np.asarray(group[name]) for name in _names(group, "weight_names")]


def _read_layers(group, model, by_name=False, skip_mismatch=False):
    names = _names(group, "layer_names")
    if by_name:
        _read_by_name(group, model, names, skip_mismatch)
        return
    layers = [layer for layer in model.layers if layer.weights]
    names = [name for name in names if _names(group[name], "weight_names")]
    if len(names) != len(layers):
        raise ValueError(
            f"You are trying to load a weight file containing {len(names)} layers into a model "
            f"with {len(layers)} layers."
        )
    pairs = []
    for layer, name in zip(layers, names):
        arrays = _arrays(group[name])
        if len(arrays) != len(layer.weights):
            raise ValueError(
                f'Layer "{layer.name}" in the current model was found to correspond to layer '
                f"{name} in the save file. However the new layer {layer.name} expects "
                f"{len(layer.weights)} weights, but the saved weights have {len(arrays)} elements."
            )
        pairs += _fitting(layer, arrays, False)
    values.set_values(pairs)


def _read_by_name(group, model, names, skip_mismatch):
    pairs = []
    for name in names:
        for layer in model.layers:
            if layer.name != name:
                continue
            arrays = _arrays(group[name])
            if len(arrays) != len(layer.weights):
                if skip_mismatch:
                    continue
                raise ValueError(
                    f'Layer "{name}" expects {len(layer.weights)} weight(s), but the saved '
                    f"weights have {len(arrays)} element(s)."
                )
            pairs += _fitting(layer, arrays, skip_mismatch)
    values.set_values(pairs)


def _fitting(layer, arrays, skip_mismatch):
    """Pairs of the variables of a layer and arrays; ValueError where shapes differ."""
    pairs = []
    for variable, array in zip(layer.weights, arrays):
        if list(array.shape) != variable.shape.as_list():
            if skip_mismatch:
                return []
            raise ValueError(
                f"Layer {layer.name}, weight {variable.name} has shape {variable.shape}, but the "
                f"saved weight has shape {array.shape}."
            )
        pairs.append((variable, array))
    return pairs


def save_weights(model, filepath, overwrite=True, save_format=None):
    """Saves the variables of a model: as HDF5, or as a checkpoint of objects ("tf")."""
    model._check_built()
    filepath = os.fspath(filepath)
    if filepath.endswith(".weights.h5") and not values.runs_in_session():
        if _may_write(filepath, overwrite):
            archive.save_weights(model, filepath)
        return
    is_h5 = _is_h5_path(filepath) if save_format is None else save_format in ("h5", "hdf5", "keras")
    if save_format is not None and not is_h5 and save_format not in ("tf", "tensorflow"):
        raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    if save_format is not None and not is_h5 and _is_h5_path(filepath):
        raise ValueError(
            f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{filepath}") '
            'looks like an HDF5 file. Omit the ".h5"/".keras" when saving in TensorFlow format.'
        )
    if not is_h5:
        session = values.get_session() if values.runs_in_session() else None
        Checkpoint(root=model).write(filepath, session=session)
        checkpoints.update_checkpoint_state(os.path.dirname(filepath) or ".", filepath)
        return
    if not _may_write(filepath, overwrite):
        return
    with archive.h5py_for("saving weights").File(filepath, "w") as file:
        _write_layers(file, model)


def load_weights(model, filepath, by_name=False, skip_mismatch=False):
    """Sets the variables of a model as saved: HDF5 or a checkpoint."""
    filepath = os.fspath(filepath)
    if not _is_h5_path(filepath) and os.path.exists(filepath + ".index"):
        if by_name:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading TensorFlow-"
                "formatted weights (got by_name=True to load_weights)."
            )
        status = Checkpoint(root=model).read(filepath)
        if values.runs_in_session():
            status.run_restore_ops(values.get_session())
        return status
    if not os.path.exists(filepath):
        raise errors.NotFoundError(None, None, f"no file {filepath}, nor a checkpoint of that name")
    if not model.built and not model.weights:
        raise ValueError(
            "Unable to load weights saved in HDF5 format into a subclassed Model which has not "
            "created its variables yet. Call the Model first, then load the weights."
        )
    if filepath.endswith(".keras") and not values.runs_in_session():
        return archive.load_weights_of(model, filepath, skip_mismatch)
    with archive.h5py_for("loading weights").File(filepath, "r") as file:
        if "vars" in file or "layers" in file:
            return archive.read_weights(model, file, skip_mismatch)
        group = file
        if "layer_names" not in file.attrs and "model_weights" in file:
            group = file["model_weights"]
        _read_layers(group, model, by_name, skip_mismatch)
    return None


# ---- Models


def _training_config(model):
    settings = model._compiled
    return {
        "optimizer_config": objects.serialize(model.optimizer),
        "loss": _serial(settings["loss"]),
        "metrics": _serial(settings["metrics"]),
        "weighted_metrics": _serial(settings["weighted_metrics"]),
        "sample_weight_mode": settings["sample_weight_mode"],
        "loss_weights": settings["loss_weights"],
    }


def _serial(value):
    """Losses or metrics as JSON has them, in their lists and dicts."""
    if isinstance(value, dict) and "class_name" not in value:
        return {k: _serial(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_serial(v) for v in value]
    if value is None or isinstance(value, (str, dict)):
        return value
    return objects.serialize(value)


def _made_of(kind, value, custom_objects):
    """Losses or metrics of what _serial() made of them."""
    if isinstance(value, dict):
        if "class_name" in value:
            return objects.deserialize(kind, value, custom_objects)
        return {k: _made_of(kind, v, custom_objects) for k, v in value.items()}
    if isinstance(value, list):
        return [_made_of(kind, v, custom_objects) for v in value]
    if isinstance(value, str) and value not in ("accuracy", "acc", "crossentropy", "ce"):
        found = objects.find(kind, value, custom_objects)
        return value if isinstance(found, type) else found
    return value


def save_model(model, filepath, overwrite=True, include_optimizer=True, save_format=None, **kwargs):
    """Saves a model, its variables and its optimizer: "h5", or "tf" for a SavedModel."""
    if not values.runs_in_session() and not _is_h5_group(filepath):
        return _save_as_keras3(model, os.fspath(filepath), overwrite, include_optimizer, **kwargs)
    is_h5 = _is_h5_group(filepath) or _is_h5_path(filepath) or save_format in ("h5", None)
    if save_format in ("tf", "tensorflow") and not _is_h5_path(filepath):
        is_h5 = False
    if not is_h5:
        raise NotImplementedError(
            f"saving a model as a SavedModel ({filepath}): give a file name that ends in .h5, or "
            "use tf.saved_model.simple_save() with the model's inputs and outputs"
        )
    if _is_h5_group(filepath):
        _write_model(filepath, model, include_optimizer)
        return
    filepath = os.fspath(filepath)
    if _may_write(filepath, overwrite):
        with archive.h5py_for("saving a model").File(filepath, "w") as file:
            _write_model(file, model, include_optimizer)


def _save_as_keras3(model, path, overwrite, include_optimizer, zipped=None):
    """Saves a model in the formats of Keras 3: .keras, or .h5."""
    if not path.endswith((".keras", ".h5", ".hdf5")):
        raise ValueError(
            "Invalid filepath extension for saving. Please add either a `.keras` extension for "
            "the native Keras format (recommended) or a `.h5` extension. Use "
            "`model.export(filepath)` if you want to export a SavedModel for use with TFLite/"
            f"TFServing/etc. Received: filepath={path}."
        )
    if not _may_write(path, overwrite):
        return
    if path.endswith(".keras"):
        archive.save_model(model, path)
        return
    with archive.h5py_for("saving a model").File(path, "w") as file:
        _write_model(file, model, include_optimizer)


def _write_model(file, model, include_optimizer):
    if not model._is_graph_network and not hasattr(model, "_list"):
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a "
            "Sequential model. It does not work for subclassed models, because such models are "
            "defined via the body of a Python method, which isn't safely serializable. Consider "
            "using `save_weights`."
        )
    config = {"class_name": type(model).__name__, "config": model.get_config()}
    if not values.runs_in_session():
        config = keras3_configs.object_config(model)
    file.attrs["keras_version"] = saving.KERAS_VERSION.encode()
    file.attrs["backend"] = b"tensorflow"
    file.attrs["model_config"] = json.dumps(config, default=saving._default).encode()
    _write_layers(file.create_group("model_weights"), model)
    if not include_optimizer or model.optimizer is None or model._compiled is None:
        return
    if isinstance(model.optimizer, optimizers.TFOptimizer):
        return  # as TensorFlow: these have no configuration
    settings = _training_config(model)
    if not values.runs_in_session():
        settings = keras3_configs.compile_config(model) or {}
        settings["optimizer_config"] = settings.pop("optimizer", None)
    text = json.dumps(settings, default=saving._default)
    file.attrs["training_config"] = text.encode()
    variables = model.optimizer.weights
    if variables:
        _write_variables(file.create_group("optimizer_weights"), variables)


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """The model that save_model() saved, compiled as it was."""
    if _is_h5_group(filepath):
        return _read_model(filepath, custom_objects, compile)
    filepath = os.fspath(filepath)
    if os.path.isdir(filepath):
        raise NotImplementedError(
            f"{filepath} is a SavedModel: tf.saved_model.load() reads it; load_model() reads HDF5"
        )
    if not os.path.exists(filepath):
        if not values.runs_in_session():
            raise ValueError(
                f"File not found: filepath={filepath}. Please ensure the file is an accessible "
                "`.keras` zip file."
            )
        raise OSError(f"SavedModel file does not exist at: {filepath}")
    if filepath.endswith(".keras") and not values.runs_in_session():
        return archive.load_model(filepath, custom_objects, compile, safe_mode)
    with archive.h5py_for("loading a model").File(filepath, "r") as file:
        return _read_model(file, custom_objects, compile)


def _read_model(file, custom_objects, compile):
    config = file.attrs.get("model_config")
    if config is None:
        raise ValueError("No model found in config file.")
    config = json.loads(_text(config))
    if values.runs_in_session() or "inbound_nodes" in str(config) and "'args'" not in str(config):
        model = saving.model_from_config(config, custom_objects)
    else:
        model = keras3_configs.made_of(keras3_configs.simplified(config), custom_objects)
    _read_layers(file["model_weights"], model)
    text = file.attrs.get("training_config") if compile else None
    if text is None:
        return model
    settings = json.loads(_text(text))
    with objects.CustomObjectScope(custom_objects or {}):
        optimizer = optimizers.deserialize(settings["optimizer_config"], custom_objects)
        loss = _made_of("loss function", settings.get("loss"), custom_objects)
        found = [
            _made_of("metric function", settings.get(key), custom_objects)
            for key in ("metrics", "weighted_metrics")
        ]
    model.compile(
        optimizer=optimizer,
        loss=loss,
        metrics=found[0],
        weighted_metrics=found[1],
        loss_weights=settings.get("loss_weights"),
        sample_weight_mode=settings.get("sample_weight_mode"),
    )
    if "optimizer_weights" in file:
        optimizer._waiting_weights = _arrays(file["optimizer_weights"])
    return model
