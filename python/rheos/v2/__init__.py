"""TensorFlow 2's names: what `import rheos as tf` gives.

Each name is looked up when it is first asked for, and its module imported then. With this face
comes eager execution: operations run as they are called. As tf.compat.v2 of a program of
version 1 it gives the names alone.
"""

import importlib
import sys
import types as _types

from rheos.faces.same import SAME
from rheos.faces.tables import sources as _sources_in
from rheos.framework import absent, dtypes as _dtypes, eager
from rheos.ops.state import eager_variables  # noqa: F401
from rheos.v2 import _chosen_keras
from rheos.v2._keras import KERAS, WITHOUT_KERAS as _WITHOUT_KERAS
from rheos.v2._own import MODULES, OWN, VALUES


def _sources(namespace):
    """By name: (module, attribute), of one namespace."""
    found = _sources_in((SAME, OWN, KERAS), namespace)
    if namespace in _WITHOUT_KERAS:
        found |= _sources_in((SAME, KERAS), f"keras.{namespace}")
    return found


class _Namespace(_types.ModuleType):
    """A module of the face, such as tf.math, whose names are looked up when they are asked for."""

    def __init__(self, path):
        super().__init__(f"{__name__}.{path}", f"TensorFlow 2's tf.{path}.")
        self._path = path
        self._names = _sources(path)
        self.__path__ = []

    def __getattr__(self, name):
        value = _find(self._path, self._names, name)
        setattr(self, name, value)
        return value

    def __dir__(self):
        return sorted({*self._names, *_inner(self._path)})


def _all_paths():
    paths = set()
    for path in (*SAME, *OWN, *KERAS, *_WITHOUT_KERAS, *MODULES, *VALUES):
        while path:
            paths.add(path)
            path = path.rpartition(".")[0]
    return paths


_PATHS = _all_paths()
_NAMES = _sources("")


def _inner(namespace):
    """The names of the namespaces within one."""
    return [p.rpartition(".")[2] for p in _PATHS if p.rpartition(".")[0] == namespace]


def _namespace(path):
    full = f"{__name__}.{path}"
    if path in MODULES:
        return importlib.import_module("rheos." + MODULES[path])
    found = sys.modules.get(full)
    if found is None:
        found = sys.modules[full] = _Namespace(path)
    return found


def _is_dtype(name):
    """Whether TensorFlow has the dtype in its outermost namespace."""
    return isinstance(getattr(_dtypes, name, None), _dtypes.DType) and "int4" not in name


_replaced = {}  # {id of a function: what programs have in its place, by tf.experimental.dispatch_*}


def _find(namespace, names, name):
    path = f"{namespace}.{name}" if namespace else name
    if path in _chosen_keras.NAMESPACES and _chosen_keras.is_keras_3():
        return _chosen_keras.namespace(path)
    if name in names:
        module, attribute = names[name]
        found = getattr(importlib.import_module("rheos." + module), attribute)
        return _replaced.get(id(found), found)
    if path in VALUES:
        return VALUES[path]
    if namespace == "dtypes" and _is_dtype(name):
        return getattr(_dtypes, name)
    if path in _PATHS:
        return _namespace(path)
    module = f"tensorflow.{namespace}" if namespace else "tensorflow"
    known = [*names, *_inner(namespace)]
    raise absent.no_attribute(module, name, known, 2, _is_of_version_1(path))


def _is_of_version_1(path):
    """Whether TensorFlow 1 has a name that TensorFlow 2 lacks."""
    found = importlib.import_module("rheos.v1")
    *modules, name = path.split(".")
    for module in modules:
        found = getattr(found, module, None)
    return not name.startswith("_") and name in dir(found)


def __getattr__(name):
    if name.startswith("__") and name not in VALUES and name != "__internal__":
        raise AttributeError(name)
    if not _is_dtype(name):
        value = _find("", _NAMES, name)
    else:
        value = getattr(_dtypes, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*_NAMES, *_inner("")})


eager.begin_version_2()
