"""Marks of functions that TensorFlow is to lose: tensorflow.python.util.deprecation.

They change nothing here: no warnings are given.
"""


def _unchanged(*arguments, **named):
    def decorate(function):
        return function

    return decorate


deprecated = deprecated_args = deprecated_arg_values = deprecated_endpoints = _unchanged


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument with two names. ValueError if both are given."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value
