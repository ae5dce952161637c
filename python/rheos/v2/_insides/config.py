"""tensorflow.python.framework.config: devices and how operations run."""

from rheos.framework.config import (  # noqa: F401
    disable_op_determinism,
    enable_op_determinism,
    is_op_determinism_enabled,
)
from rheos.v2 import config as _public


def __getattr__(name):
    for module in (_public, _public.experimental):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'tensorflow.python.framework.config' has no attribute '{name}'")
