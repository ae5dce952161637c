"""Fills a module of the face with what the tables say it has."""

import importlib
import sys
import types

from rheos.faces.same import SAME
from rheos.faces.tables import sources
from rheos.framework.absent import attribute_of
from rheos.v1._own import GROUPS, OWN


def _values(namespace):
    found = sources((SAME, OWN), namespace)
    return {
        name: getattr(importlib.import_module(f"rheos.{module}"), attribute)
        for name, (module, attribute) in sorted(found.items(), key=lambda item: item[1])
    }


def fill(module):
    """Gives a module of rheos.v1, by its name, its names and an answer to those it lacks."""
    namespace = module.removeprefix("rheos.v1").removeprefix(".")
    into = vars(sys.modules[module])
    into.update(_values(namespace))
    for path in GROUPS:
        outer, _, name = path.rpartition(".")
        if outer == namespace:
            into[name] = types.SimpleNamespace(**_values(path))
    into["__getattr__"] = attribute_of(module.replace("rheos.v1", "tensorflow", 1))
