"""Marks of what a program or TensorFlow is to lose: tensorflow.python.util.deprecation."""

from rheos.contrib.deprecation import (
    deprecated,
    deprecated_arg_values,
    deprecated_args,
    silence,
)


def deprecated_endpoints(*names):
    """Marks public names of a function; it stays as it is."""

    def decorate(function):
        return function

    return decorate


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument with two names. ValueError if both are given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value
