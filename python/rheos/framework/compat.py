"""Text, bytes, and what counts as a number."""

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


def as_str_any(value):
    """Any value as text."""
    return as_text(value) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """A path object as text."""
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path
