"""Text, bytes, and what counts as a number."""

import contextlib as _contextlib
import datetime as _datetime
import numbers as _numbers

import numpy as _np

bytes_or_text_types = (bytes, str)
complex_types = (_numbers.Complex, _np.number)
integral_types = (_numbers.Integral, _np.integer)
real_types = (_numbers.Real, _np.integer, _np.floating)


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Text as bytes; bytes as they are."""
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding="utf-8"):
    """Bytes as text; text as it is."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value, encoding="utf-8"):
    """Any value as text."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """A path object as text."""
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


_horizon = _datetime.date(2026, 1, 16)  # TensorFlow 2.21's: what it may use that is new since


def forward_compatible(year, month, day):
    """Whether what came with that day may be used, as those who read the graph know it."""
    return _horizon > _datetime.date(year, month, day)


@_contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """Has forward_compatible() answer as if all readers were as new as that day."""
    global _horizon
    held, _horizon = _horizon, _datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = held
