"""Ops as functions with arguments by position: tensorflow.python.ops.gen_nn_ops and the like.

The functions are named as TensorFlow names them, relu_grad for ReluGrad, or _relu_grad as in its
first versions. Arguments are the inputs, the attributes without and those with a default.
"""

import functools
import re

from rheos.v1 import raw_ops


def _snake(name):
    """relu_grad of ReluGrad, conv2d_backprop_input of Conv2DBackpropInput."""
    name = re.sub(r"([a-z0-9])([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


@functools.lru_cache(maxsize=None)
def _types():
    return {_snake(op_type): op_type for op_type in dir(raw_ops)}


def _by_position(op):
    names = list(op.__signature__.parameters)

    @functools.wraps(op)
    def function(*arguments, **named):
        if len(arguments) > len(names):
            raise TypeError(f"{op.__name__}() takes {len(names)} arguments: {names}")
        twice = sorted(set(names[: len(arguments)]) & set(named))
        if twice:
            raise TypeError(f"{op.__name__}() got several values for {twice}")
        return op(**dict(zip(names, arguments)), **named)

    return function


def has(name):
    """Whether there is an op whose function has this name."""
    return not name.startswith("__") and name.lstrip("_") in _types()


def __getattr__(name):
    op_type = _types()[name.lstrip("_")] if has(name) else None
    if op_type is None:
        raise AttributeError(f"Rheos has no op whose function would be named '{name}'")
    made = globals()[name] = _by_position(getattr(raw_ops, op_type))
    made.__name__ = made.__qualname__ = name
    return made
