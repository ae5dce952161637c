"""Assertions on tensors, and checks of numbers."""

import importlib

from rheos.v1._names import fill as _fill

_fill(__name__)
_absent = __getattr__  # noqa: F821 (fill gives it)


def __getattr__(name):
    if name in ("disable_check_numerics", "enable_check_numerics"):
        return getattr(importlib.import_module("rheos.inspection.numerics"), name)
    return _absent(name)
