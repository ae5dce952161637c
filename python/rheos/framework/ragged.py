"""How functions of dense tensors take ragged ones and linear operators too: modules of rheos.ops
have what they do."""

import functools


class RaggedBase:
    """A RaggedTensor, as the modules know it that it is built on."""

    __slots__ = ()


class RaggedValueBase:
    """A RaggedTensorValue, likewise."""

    __slots__ = ()


class OperatorBase:
    """A LinearOperator, likewise."""

    __slots__ = ()


def _is_given(kinds, args):
    for value in args:
        if isinstance(value, kinds):
            return True
        if isinstance(value, (list, tuple)) and any(isinstance(v, kinds) for v in value):
            return True
    return False


def _takes(kinds, handler, module):
    """The function; where an argument is of `kinds`, HANDLER(function, *args, **kwargs).

    module: that of rheos.ops that has the handler.
    """

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if not _is_given(kinds, args) and not (kwargs and _is_given(kinds, kwargs.values())):
                return function(*args, **kwargs)
            from importlib import import_module

            home = import_module(f"rheos.ops.{module}")
            return getattr(home, handler)(function, *args, **kwargs)

        return wrapper

    return decorate


def ragged_too(handler, module="ragged_ops"):
    """Where an argument is ragged, HANDLER of rheos.ops.MODULE does it."""
    return _takes((RaggedBase, RaggedValueBase), handler, module)


def operators_too(handler):
    """Where an argument is a linear operator, HANDLER of rheos.ops.linear_operator does it."""
    return _takes((OperatorBase,), handler, "linear_operator")
