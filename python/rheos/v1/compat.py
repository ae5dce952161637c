"""Text and bytes, and the ways to the names of TensorFlow 1 and 2."""

import sys as _sys

from rheos.framework import eager as _eager
from rheos.v1._names import fill as _fill

_fill(__name__)


def __getattr__(name):
    if name == "v1":
        return _sys.modules[__package__]
    if name == "v2":
        if "rheos.v2" not in _sys.modules:
            _eager.keep_version_1()  # the names alone, until enable_v2_behavior()
        return __import__("rheos.v2", fromlist=("",))
    raise AttributeError(f"module 'rheos.v1.compat' has no attribute {name!r}")
