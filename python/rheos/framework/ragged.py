"""How functions of dense tensors take ragged ones too: rheos.ops.ragged_ops has what they do."""

import functools


class RaggedBase:
    """A RaggedTensor, as the modules know it that it is built on."""

    __slots__ = ()


def _is_given(args):
    for value in args:
        if isinstance(value, RaggedBase):
            return True
        if isinstance(value, (list, tuple)) and any(isinstance(v, RaggedBase) for v in value):
            return True
    return False


def ragged_too(handler):
    """The function; where an argument is ragged, ragged_ops.HANDLER(function, *args, **kwargs)."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if not _is_given(args) and not (kwargs and _is_given(kwargs.values())):
                return function(*args, **kwargs)
            from rheos.ops import ragged_ops

            return getattr(ragged_ops, handler)(function, *args, **kwargs)

        return wrapper

    return decorate
