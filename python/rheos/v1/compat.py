"""Text and bytes, and the way to the TensorFlow 1 names."""

import sys as _sys

from rheos.framework.compat import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    integral_types,
    path_to_str,
    real_types,
)


def __getattr__(name):
    if name == "v1":
        return _sys.modules[__package__]
    raise AttributeError(f"module 'rheos.v1.compat' has no attribute {name!r}")
