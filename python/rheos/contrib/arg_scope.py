"""Default arguments for the functions called inside a context.

A function that takes part is found by its module and name, so that a scope may be entered again
later, also by functions that were imported elsewhere.
"""

import functools
import inspect
import threading

from rheos.framework.thread_state import inherited


class _Stack(threading.local):
    def __init__(self):
        self.scopes = [{}]


_stack = inherited(_Stack())


def arg_scope_func_key(function):
    """What a function is known by in a scope: its module and its name."""
    return getattr(function, "_key_op", None) or (function.__module__, function.__name__)


def current_arg_scope():
    """The defaults that hold now: a dict of function keys to dicts of arguments."""
    return _stack.scopes[-1]


def has_arg_scope(func):
    """Whether a function takes its defaults from scopes."""
    return hasattr(func, "_key_op")


def _names_of_keyword_arguments(function):
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.default is not p.empty)


def add_arg_scope(func):
    """A decorator: makes a function take its defaults from the scopes that it is called in."""

    @functools.wraps(func)
    def with_defaults(*args, **kwargs):
        defaults = current_arg_scope().get(with_defaults._key_op)
        if defaults:
            kwargs = {**defaults, **kwargs}
        return func(*args, **kwargs)

    with_defaults._key_op = (func.__module__, func.__name__)
    with_defaults._keyword_arguments = _names_of_keyword_arguments(func)
    return with_defaults


def arg_scoped_arguments(func):
    """The names of the arguments of a function for which a scope may give defaults."""
    if not has_arg_scope(func):
        raise ValueError(f"{func!r} is not decorated with @add_arg_scope")
    return func._keyword_arguments


class arg_scope:
    """A context in which functions have other defaults.

    list_ops_or_scope: the functions, all decorated with add_arg_scope (ValueError otherwise), with
    the defaults as keyword arguments; or, without any, a scope that `with arg_scope(...) as scope`
    gave. Inner scopes add to outer ones.
    """

    def __init__(self, list_ops_or_scope, **kwargs):
        if isinstance(list_ops_or_scope, dict):
            if kwargs:
                raise ValueError(
                    "When attempting to re-use a scope by suppling a dictionary, kwargs must be "
                    "empty."
                )
            self._scope = dict(list_ops_or_scope)
            return
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError(
                "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)"
            )
        self._scope = None
        self._functions = list_ops_or_scope
        self._defaults = kwargs

    def __enter__(self):
        scope = self._scope
        if scope is None:
            scope = dict(current_arg_scope())
            for function in self._functions:
                if not has_arg_scope(function):
                    raise ValueError(f"{function!r} is not decorated with @add_arg_scope")
                key = function._key_op
                scope[key] = {**scope.get(key, {}), **self._defaults}
        _stack.scopes.append(scope)
        return scope

    def __exit__(self, *exc_info):
        _stack.scopes.pop()

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return wrapped
