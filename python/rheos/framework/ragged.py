"""How functions of dense tensors take ragged ones too: rheos.ops.ragged_ops has what they do."""

import functools


class RaggedBase:
    """A RaggedTensor, as the modules know it that it is built on."""

    __slots__ = ()


class RaggedValueBase:
    """A RaggedTensorValue, likewise."""

    __slots__ = ()


_RAGGED = (RaggedBase, RaggedValueBase)


def _is_given(args):
    for value in args:
        if isinstance(value, _RAGGED):
            return True
        if isinstance(value, (list, tuple)) and any(isinstance(v, _RAGGED) for v in value):
            return True
    return False


def ragged_too(handler, module="ragged_ops"):
    """The function; where an argument is ragged, HANDLER(function, *args, **kwargs).

    module: that of rheos.ops that has the handler.
    """

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if not _is_given(args) and not (kwargs and _is_given(kwargs.values())):
                return function(*args, **kwargs)
            from importlib import import_module

            home = import_module(f"rheos.ops.{module}")
            return getattr(home, handler)(function, *args, **kwargs)

        return wrapper

    return decorate
