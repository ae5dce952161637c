"""Modules below tensorflow.python, with the public names that TensorFlow 1.15 has in each."""

import functools
import importlib
import types

from rheos.v1._insides import generated_ops
from rheos.v1._insides.places import PLACES

_FRONTS = {"": "rheos.v1", "2:": "rheos.v2"}


def is_known(name):
    """Whether there is a module of that name below tensorflow.python with public names."""
    return name in PLACES


@functools.lru_cache(maxsize=None)
def _places(name):
    """({name: (front end, public name)}, whether there are functions of ops) of a module."""
    public, has_ops = {}, False
    for entry in PLACES[name].split():
        if entry == "*":
            has_ops = True
            continue
        own, _, at = entry.partition("=")
        front = "2:" if at.startswith("2:") else ""
        public[own] = front, at[len(front) :] or own
    return public, has_ops


def _value(front, path):
    """What a public name stands for. AttributeError if there is no such name."""
    found = importlib.import_module(_FRONTS[front])
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _is_our_module(value):
    return isinstance(value, types.ModuleType) and value.__name__.startswith("rheos.")


@functools.lru_cache(maxsize=None)
def _by_last_name():
    """{last part of a name: the module}, of the modules that alone are called that."""
    by_last = {}
    for name in PLACES:
        by_last.setdefault(name.rpartition(".")[2], []).append(name)
    return {last: names[0] for last, names in by_last.items() if len(names) == 1}


class InsideModule(types.ModuleType):
    """A module of tensorflow.python.

    A name in it is what the module `own` of Rheos has under it, if there is one for this place;
    else what is public and lies here in TensorFlow; else, where functions of ops are, such a one;
    else what the public module `public` has, which programs take the place for; else the module
    below it, or of tensorflow.python, of that name, since those of TensorFlow import each other.
    """

    def __init__(self, name, own=None, public=None):
        super().__init__(f"tensorflow.python.{name}")
        self.__path__ = []
        vars(self).update(_name=name, _own=own, _public=public)

    def __getattr__(self, name):
        if name == "__all__":
            return [shown for shown in self._names() if not shown.startswith("_")]
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        found = self._found(name)
        vars(self)[name] = found
        return found

    def _found(self, name):
        public, has_ops = _places(self._name) if is_known(self._name) else ({}, False)
        if self._own is not None and hasattr(self._own, name):
            return getattr(self._own, name)
        if name in public:
            front, path = public[name]
            try:
                return _value(front, path)
            except AttributeError as error:
                raise AttributeError(f"{self.__name__}.{name} is tf.{path}: {error}") from None
        if has_ops and generated_ops.has(name):
            return getattr(generated_ops, name)
        found = getattr(self._public, name, None)
        if found is not None and not _is_our_module(found):
            return found
        below = f"{self._name}.{name}"
        other = below if is_known(below) else _by_last_name().get(name)
        if other is not None and other.partition(".")[0] != "autograph":
            return importlib.import_module(f"tensorflow.python.{other}")
        raise AttributeError(
            f"module '{self.__name__}' has no attribute '{name}' in Rheos: what TensorFlow has "
            "there and in no public module is there for some modules only"
        )

    def _names(self):
        """The names that lie here."""
        public = _places(self._name)[0] if is_known(self._name) else {}
        own = [name for name in dir(self._own) if not name.startswith("__")] if self._own else []
        return {*own, *(name for name in public if self._has(*public[name]))}

    def __dir__(self):
        return sorted(self._names())

    @staticmethod
    def _has(front, path):
        try:
            _value(front, path)
        except AttributeError:
            return False
        return True
