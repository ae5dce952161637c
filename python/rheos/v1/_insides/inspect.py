"""Python's inspect, through decorators: tensorflow.python.util.tf_inspect."""

import functools
import inspect
from collections import namedtuple
from inspect import (
    FullArgSpec,
    currentframe,
    getfile,
    getframeinfo,
    getmembers,
    getmodule,
    getmro,
    getsource,
    getsourcefile,
    getsourcelines,
    isbuiltin,
    isclass,
    isframe,
    isfunction,
    isgenerator,
    isgeneratorfunction,
    ismethod,
    ismodule,
    isroutine,
    signature,
    stack,
)

from rheos.v1._insides import tf_decorator

ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")


def getfullargspec(obj):
    """The arguments of a callable, a FullArgSpec: those that a decorator says, if one does."""
    marks, target = tf_decorator.unwrap(obj)
    for mark in marks:
        if mark.decorator_argspec is not None:
            spec = mark.decorator_argspec
            return spec if hasattr(spec, "varkw") else FullArgSpec(*spec, [], None, {})
    if isinstance(target, functools.partial):
        return _of_partial(target)
    if inspect.isclass(target):
        target = target.__init__
    elif not inspect.isroutine(target):
        target = type(target).__call__
    # The target's own arguments, `self` too, whatever functools.wraps() says that it stands for.
    return inspect.getfullargspec(getattr(target, "__func__", target))


def _of_partial(function):
    """The arguments that a partial() leaves; those that it names have them as defaults."""
    spec = getfullargspec(function.func)
    names = spec.args[len(function.args) :]
    defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ())), **function.keywords)
    first = next((i for i, name in enumerate(names) if name in defaults), len(names))
    lacking = [name for name in names[first:] if name not in defaults]
    if lacking:
        raise ValueError(f"Some arguments {lacking} do not have default value, but they are "
                         "positioned after those with default values.")  # fmt: skip
    given = tuple(defaults[name] for name in names[first:])
    return spec._replace(args=names, defaults=given or None)


def getargspec(obj):
    """The arguments of a callable as an ArgSpec, which knows no keyword-only ones."""
    return ArgSpec(*getfullargspec(obj)[:4])


def getcallargs(function, *positional, **named):
    """{argument: value} of a call, through decorators."""
    return inspect.getcallargs(tf_decorator.unwrap(function)[1], *positional, **named)


def getdoc(obj):
    """The docstring."""
    return inspect.getdoc(obj)
