"""Objects by name: what a string or a configuration stands for, and what stands for an object.

Each kind (activation, initializer, layer, ...) has a table of its own; a program's own objects come
before them.
"""

import inspect
import threading

from rheos.framework.absent import did_you_mean
from rheos.framework.thread_state import inherited
from rheos.layers.layer import snake_case

_KINDS = {}  # kind: {name: function or class}
_PROGRAMS = {}  # the program's own: {name: function or class}
_local = inherited(threading.local())


def table(kind):
    """The table of a kind: {name: function or class}."""
    return _KINDS.setdefault(kind, {})


def known(kind):
    """A decorator for what is of that kind, with other names of it or without."""

    def add(*items):
        if len(items) == 1 and not isinstance(items[0], str):
            table(kind)[items[0].__name__] = items[0]
            return items[0]

        def add_with_names(item):
            table(kind).update({name: item for name in (item.__name__, *items)})
            return item

        return add_with_names

    return add


class CustomObjectScope:
    """A context manager in which names stand for a program's own objects."""

    def __init__(self, *objects):
        self._objects = objects

    def __enter__(self):
        held = _local.__dict__.setdefault("scopes", [])
        held.append({k: v for each in self._objects for k, v in each.items()})
        return self

    def __exit__(self, *exc_info):
        _local.scopes.pop()


def custom_object_scope(*objects):
    """A context in which names stand for a program's own objects: dicts of them."""
    return CustomObjectScope(*objects)


def get_custom_objects():
    """The dict of a program's own objects, for the program to change."""
    return _PROGRAMS


def register_keras_serializable(package="Custom", name=None):
    """A decorator: the class or function can be made of its configuration by its name."""

    def decorate(item):
        registered = f"{package}>{name or item.__name__}"
        if inspect.isclass(item) and not hasattr(item, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        _PROGRAMS[registered] = item
        item._registered_name = registered
        return item

    return decorate


def get_registered_object(name, custom_objects=None, module_objects=None):
    """The object that a name was registered for, None if it was not."""
    for names in _program_tables(custom_objects):
        if name in names:
            return names[name]
    return (module_objects or {}).get(name)


def get_registered_name(obj):
    """The name that an object was registered under, or its own."""
    return getattr(obj, "_registered_name", obj.__name__)


def _program_tables(custom_objects):
    if custom_objects:
        yield custom_objects
    yield from reversed(_local.__dict__.get("scopes", ()))
    yield _PROGRAMS


def find(kind, name, custom_objects=None):
    """The function or class of that name; ValueError if there is none."""
    for names in (*_program_tables(custom_objects), table(kind)):
        if name in names:
            return names[name]
    for item in table(kind).values():
        if inspect.isclass(item) and name == snake_case(item.__name__):
            return item
    known = {**table(kind), **{snake_case(found): None for found in table(kind)}}
    raise ValueError(f"Unknown {kind}: {name}{did_you_mean(name, known)}")


def serialize(item):
    """What stands for an object: its name, or {"class_name", "config"}."""
    if item is None:
        return None
    if hasattr(item, "get_config"):
        name = get_registered_name(type(item))
        return {"class_name": name, "config": item.get_config()}
    if hasattr(item, "__name__"):
        return get_registered_name(item)
    raise ValueError(f"Cannot serialize {item}")


def deserialize(kind, config, custom_objects=None):
    """The object that a name, or {"class_name", "config"}, stands for."""
    if config is None:
        return None
    if isinstance(config, dict):
        if "class_name" not in config or "config" not in config:
            raise ValueError(f"Improper config format: {config}")
        return _made_of(
            find(kind, config["class_name"], custom_objects), config["config"], custom_objects
        )
    if isinstance(config, str):
        found = find(kind, config, custom_objects)
        return found() if inspect.isclass(found) else found
    if callable(config):
        return config
    raise ValueError(f"Could not interpret serialized {kind}: {config}")


def _made_of(found, config, custom_objects):
    if not hasattr(found, "from_config"):
        return found(**config)
    if "custom_objects" in inspect.signature(found.from_config).parameters:
        scopes = _local.__dict__.get("scopes", [])
        known = {**_PROGRAMS, **{k: v for s in scopes for k, v in s.items()}}
        return found.from_config(config, custom_objects={**known, **(custom_objects or {})})
    if custom_objects:
        with CustomObjectScope(custom_objects):
            return found.from_config(config)
    return found.from_config(config)


def get(kind, identifier):
    """What an argument stands for: None, a name, a configuration, or an object itself."""
    if identifier is None:
        return None
    if isinstance(identifier, (str, dict)):
        return deserialize(kind, identifier)
    if callable(identifier):
        return identifier() if inspect.isclass(identifier) else identifier
    raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
