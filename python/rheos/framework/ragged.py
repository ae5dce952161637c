"""How functions of dense tensors take ragged ones and linear operators too.

A handler does the work of the function then. Handlers are functions of modules of rheos.ops, which
lie above this one and above the functions that they stand in for.
"""

import functools

from rheos._core import _is_any


class RaggedBase:
    """A RaggedTensor, as the modules know it that it is built on."""

    __slots__ = ()


class RaggedValueBase:
    """A RaggedTensorValue, likewise."""

    __slots__ = ()


class RaggedShapeBase:
    """A DynamicRaggedShape, likewise."""

    __slots__ = ()


class OperatorBase:
    """A LinearOperator, likewise."""

    __slots__ = ()


_handlers = {}


def handles(function):
    """A decorator: the function is the handler of its name."""
    _handlers[function.__name__] = function
    return function


def _takes(kinds, handler):
    """The function; where an argument is of `kinds`, HANDLER(function, *args, **kwargs)."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if not (_is_any(kinds, args) or kwargs and _is_any(kinds, tuple(kwargs.values()))):
                return function(*args, **kwargs)
            return _handlers[handler](function, *args, **kwargs)

        return wrapper

    return decorate


def ragged_too(handler):
    """A decorator: where an argument is ragged, the handler of that name does it."""
    return _takes((RaggedBase, RaggedValueBase), handler)


def ragged_shapes_too(handler):
    """A decorator: where an argument is ragged or a ragged shape, the handler of that name does
    it."""
    return _takes((RaggedBase, RaggedValueBase, RaggedShapeBase), handler)


def operators_too(handler):
    """A decorator: where an argument is a linear operator, the handler of that name does it."""
    return _takes((OperatorBase,), handler)
