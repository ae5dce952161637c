"""Models in Keras 3's files: .keras, a zip of configuration and variables, and .weights.h5."""

import datetime
import importlib.util
import io
import json
import os
import tempfile
import warnings
import zipfile

import numpy as np

from rheos.layers import values
from rheos.layers.layer import Layer, snake_case
from rheos.models import keras3_configs, objects, optimizers
from rheos.models.optimizer import Optimizer
from rheos.models.random_numbers import SeedGenerator

_CONFIG, _METADATA, _WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
_ASSETS = "assets"


def h5py_for(what):
    """The package h5py; ImportError says what needs it."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"{what} needs the package h5py, which is not installed: 'pip install h5py' brings it"
        ) from None
    return h5py


# ---- What is in a model, by the paths that Keras 3 gives it


def _is_kept(value):
    return isinstance(value, (Layer, Optimizer, SeedGenerator))


def _children(item):
    """(name, object, or list or dict) of what an object has inside, in Keras 3's order."""
    if isinstance(item, Optimizer):
        inner = getattr(item, "inner_optimizer", None)
        return [] if inner is None else [("inner_optimizer", inner)]
    if not isinstance(item, Layer):
        return []
    found, untracked = [], type(item)._UNTRACKED
    names = getattr(item, "_SAVED_AS", {})
    own = {names.get(key, key): value for key, value in vars(item).items() if key not in untracked}
    if hasattr(item, "_list") or getattr(item, "_is_graph_network", False):
        found.append(("layers", list(item.layers)))
    elif hasattr(item, "layers"):  # the list of all layers is one attribute among the others
        own["layers"] = list(item.layers)
    for name in sorted(own, key=lambda n: (n.startswith("_"), n)):
        value = own[name]
        if _is_kept(value) or isinstance(value, (list, dict, tuple)):
            found.append((name, value))
    return found


def _members(container):
    """(path, object) of what is in a list or dict, at any depth, the names by class, numbered."""
    counts = {}

    def numbered(name):
        number = counts[name] = counts.get(name, -1) + 1
        return f"{name}_{number}" if number else name

    for item in container.values() if isinstance(container, dict) else container:
        if _is_kept(item):
            yield numbered(snake_case(type(item).__name__)), item
        elif isinstance(item, (list, dict, tuple)):
            name = numbered("container")
            yield from ((f"{name}/{path}", member) for path, member in _members(item))


def _walk(root):
    """(path, object) of everything in a model that may have variables, each once."""
    seen, todo = set(), [("", root)]
    while todo:
        path, item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield path, item
        inside = []
        for name, value in _children(item):
            at = f"{path}/{name}" if path else name
            if _is_kept(value):
                inside.append((at, value))
            else:
                inside += [(f"{at}/{key}", member) for key, member in _members(value)]
        todo.extend(reversed(inside))


def _variables_of(item):
    """The variables of an object itself, in Keras 3's order."""
    if isinstance(item, SeedGenerator):
        return [item.state]
    if isinstance(item, Optimizer):
        return item.keras3_variables()
    trainable, others = item._own_variables()
    return [*trainable, *others]


def _saved(root):
    """What _walk() gives, the optimizer of a compiled model among it."""
    yield from _walk(root)
    optimizer = getattr(root, "optimizer", None)
    if isinstance(optimizer, Optimizer) and getattr(root, "_compiled", None) is not None:
        yield "optimizer", optimizer


def _own_store(item):
    return hasattr(item, "save_own_variables")


# ---- Variables


def write_weights(model, file):
    """Writes the variables of a model into an open file of HDF5."""
    if isinstance(model.optimizer, Optimizer) and model._compiled is not None:
        model._build_for_steps()
    for path, item in _saved(model):
        group = file.require_group(f"{path}/vars" if path else "vars")
        if isinstance(getattr(item, "name", None), str):
            group.attrs["name"] = item.name
        if _own_store(item):
            item.save_own_variables(group)
            continue
        variables = _variables_of(item)
        for i, array in enumerate(values.get_values(variables)):
            group[str(i)] = array


def read_weights(model, file, skip_mismatch=False):
    """Sets the variables of a model to those of a file; ValueError where they do not fit."""
    if model._compiled is not None and isinstance(model.optimizer, Optimizer):
        model._build_for_steps()
    pairs = []
    for path, item in _saved(model):
        at = f"{path}/vars" if path else "vars"
        group = file[at] if at in file else {}
        if _own_store(item):
            item.load_own_variables(group)
            continue
        variables = _variables_of(item)
        arrays = [np.asarray(group[str(i)]) for i in range(len(group))]
        problem = _problem_of(item, variables, arrays)
        if problem is None:
            pairs += zip(variables, arrays)
        elif isinstance(item, SeedGenerator) or skip_mismatch:
            continue
        elif isinstance(item, Optimizer):
            warnings.warn(f"Skipping variable loading for optimizer: {problem}", stacklevel=2)
        else:
            raise ValueError(problem)
    values.set_values(pairs)


def _problem_of(item, variables, arrays):
    name = getattr(item, "name", type(item).__name__)
    if len(variables) != len(arrays):
        if isinstance(item, Layer) and not item.built and arrays:
            return (
                f"Layer '{name}' was never built and thus it doesn't have any variables. However "
                f"the weights file lists {len(arrays)} variables for this layer."
            )
        return (
            f"'{name}' expected {len(variables)} variables, but received {len(arrays)} variables "
            "during loading."
        )
    for variable, array in zip(variables, arrays):
        if variable.shape.as_list() != list(array.shape):
            return (
                f"The shape of the target variable and the shape of the target value in "
                f"`variable.assign(value)` must match. variable.shape={variable.shape}, Received: "
                f"value.shape={array.shape}. Target variable: {variable.name} of {name}"
            )
    return None


def save_weights(model, path):
    """Writes a file .weights.h5."""
    with h5py_for("saving weights").File(path, "w") as file:
        write_weights(model, file)


def load_weights(model, path, skip_mismatch=False):
    """Reads a file .weights.h5."""
    with h5py_for("loading weights").File(path, "r") as file:
        read_weights(model, file, skip_mismatch)


def load_weights_of(model, path, skip_mismatch=False):
    """Sets the variables of a model to those of a file .keras."""
    h5py = h5py_for("loading weights")
    with (
        zipfile.ZipFile(path) as archive,
        h5py.File(io.BytesIO(_part(archive, _WEIGHTS, path)), "r") as file,
    ):
        read_weights(model, file, skip_mismatch)


# ---- Models


def can_save():
    """Whether the package is there that models are saved with."""
    return importlib.util.find_spec("h5py") is not None


def as_bytes(model):
    """The contents of a file .keras."""
    held = io.BytesIO()
    _write_model(model, held)
    return held.getvalue()


def from_bytes(contents):
    """The model of the contents of a file .keras; its functions are run as they are found."""
    return load_model(io.BytesIO(contents), safe_mode=False)


def save_model(model, path):
    """Writes a file .keras, whole or not at all."""
    partial = f"{path}.part"
    _write_model(model, partial)
    os.replace(partial, path)


def _write_model(model, path):
    h5py = h5py_for("saving a model as .keras")
    config = keras3_configs.object_config(model)
    compiled = keras3_configs.compile_config(model)
    if compiled is not None:
        config["compile_config"] = compiled
    saved = datetime.datetime.now().strftime("%Y-%m-%d@%H:%M:%S")
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        write_weights(model, file)
    with zipfile.ZipFile(path, "w") as archive:
        text = {"keras_version": keras3_configs.VERSION, "date_saved": saved}
        archive.writestr(_METADATA, json.dumps(text))
        archive.writestr(_CONFIG, json.dumps(config))
        archive.writestr(_WEIGHTS, held.getvalue())
        _write_assets(model, archive)


def _write_assets(model, archive):
    for at, item in _walk(model):
        if not hasattr(item, "save_assets"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            item.save_assets(folder)
            for name in sorted(os.listdir(folder)):
                archive.write(os.path.join(folder, name), f"{_ASSETS}/{at}/{name}")


def _part(archive, name, path):
    try:
        return archive.read(name)
    except KeyError:
        raise ValueError(f"{path} has no {name}: it is not a model's file") from None


def load_model(path, custom_objects=None, compile=True, safe_mode=True):
    """The model of a file .keras; ValueError for what is none."""
    h5py = h5py_for("loading a model from .keras")
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is not a file .keras: {error}") from None
    with archive:
        try:
            config = json.loads(_part(archive, _CONFIG, path))
            held = io.BytesIO(_part(archive, _WEIGHTS, path))
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError, zipfile.BadZipFile) as e:
            raise ValueError(f"{path} is damaged: {e}") from None
        config = keras3_configs.simplified(config, safe_mode)
        try:
            model = keras3_configs.made_of(config, custom_objects)
        except (KeyError, IndexError, AttributeError) as error:
            raise ValueError(f"{path} has a damaged configuration: {error!r}") from error
        _read_assets(model, archive)
        settings = config.get("compile_config") if compile else None
        if settings:
            _compile(model, settings, custom_objects)
        try:
            file = h5py.File(held, "r")
        except OSError as error:
            raise ValueError(f"{path}: its variables are damaged: {error}") from None
        with file:
            read_weights(model, file)
    return model


def _read_assets(model, archive):
    names = archive.namelist()
    for at, item in _walk(model):
        inside = [n for n in names if n.startswith(f"{_ASSETS}/{at}/")]
        inside = [n for n in inside if "/" not in n[len(f"{_ASSETS}/{at}/") :]]
        if hasattr(item, "load_assets") and inside:
            with tempfile.TemporaryDirectory() as folder:
                for name in inside:
                    with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                        file.write(archive.read(name))
                item.load_assets(folder)


def _compile(model, settings, custom_objects):
    with objects.CustomObjectScope(custom_objects or {}):
        optimizer = settings.get("optimizer")
        made = None if optimizer is None else optimizers.deserialize(optimizer, custom_objects)
        found = {
            key: _made(kind, settings.get(key), custom_objects)
            for key, kind in (("loss", "loss function"), ("metrics", "metric function"),
                              ("weighted_metrics", "metric function"))
        }  # fmt: skip
    model.compile(
        optimizer=made or "rmsprop",
        loss_weights=settings.get("loss_weights"),
        run_eagerly=settings.get("run_eagerly"),
        steps_per_execution=settings.get("steps_per_execution"),
        jit_compile=settings.get("jit_compile"),
        **found,
    )


def _made(kind, value, custom_objects):
    """Losses or metrics of their configuration, in their lists and dicts."""
    if isinstance(value, dict) and "class_name" not in value:
        return {k: _made(kind, v, custom_objects) for k, v in value.items()}
    if isinstance(value, list):
        return [_made(kind, v, custom_objects) for v in value]
    if isinstance(value, dict):
        return objects.deserialize(kind, value, custom_objects)
    if isinstance(value, str) and value not in ("accuracy", "acc", "crossentropy", "ce"):
        found = objects.find(kind, value, custom_objects)
        is_plain = isinstance(found, type) or objects.table(kind).get(value) is found
        return value if is_plain else found
    return value
