"""Marks of functions and arguments that are to go: a note in the docstring, a warning when used."""

import contextlib
import functools
import inspect
import re
import sys

from rheos.framework import logging

_DATE = re.compile(r"20\d\d-[01]\d-[0123]\d")
_warned = set()
_silent = [False]


def _check(date, instructions):
    if date is not None and not _DATE.match(date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _check_callable(function, decorator):
    if not callable(function):
        raise ValueError(
            f"{function} is not a function. If this is a property, make sure @property appears "
            f"before @{decorator} in your source code:\n\n@property\n@{decorator}\ndef method(...)"
        )


def _when(date):
    return "in a future version" if date is None else f"after {date}"


def _marked(function, kind, warning, date, instructions):
    """The docstring with a note below its first line."""
    what = "deprecated" if kind == "FUNCTION" else f"deprecated {kind[9:].lower()}"
    note = f"Warning: {warning} removed {_when(date)}.\nInstructions for updating:\n{instructions}"
    doc = inspect.cleandoc(function.__doc__ or "")
    if not doc:
        return f"DEPRECATED {kind}\n\n{note}"
    first, _, rest = doc.partition("\n")
    rest = rest.lstrip("\n")
    return f"{first} ({what})\n\n{note}" + (f"\n\n{rest}" if rest else "")


@contextlib.contextmanager
def silence():
    """A context without warnings about what is to go."""
    before, _silent[0] = _silent[0], True
    try:
        yield
    finally:
        _silent[0] = before


def _warn(key, what, date, instructions):
    """Logs a warning about a call two frames up; once for each `key` that is not None."""
    if _silent[0]:
        return
    if key is not None:
        if key in _warned:
            return
        _warned.add(key)

    caller = sys._getframe(2)
    logging.warning(
        "From %s:%d: %s deprecated and will be removed %s.\nInstructions for updating:\n%s",
        caller.f_code.co_filename,
        caller.f_lineno,
        what,
        _when(date),
        instructions,
    )


def _name(function):
    return f"{function.__qualname__} (from {function.__module__})"


def deprecated(date, instructions, warn_once=True):
    """A decorator for a function or class that goes after `date` ("YYYY-MM-DD", None: some day).

    instructions: what to use instead. warn_once: whether only the first call warns.
    """
    _check(date, instructions)

    def decorate(function):
        _check_callable(function, "deprecated")
        if inspect.isclass(function):
            function.__init__ = decorate(function.__init__)
            return function

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            key = function if warn_once else None
            _warn(key, f"{_name(function)} is", date, instructions)
            return function(*args, **kwargs)

        wrapper.__doc__ = _marked(
            function, "FUNCTION", "THIS FUNCTION IS DEPRECATED. It will be", date, instructions
        )
        return wrapper

    return decorate


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **kwargs):
    """A decorator for a function some of whose arguments go: their names, or (name, value) where
    that value may still be given. warn_once: see `deprecated`."""
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    if set(kwargs) - {"warn_once"}:
        raise ValueError(f"Illegal argument passed to deprecated_args: {kwargs}")
    given = [n if isinstance(n, tuple) else (n,) for n in deprecated_arg_names_or_tuples]
    allowed = {name: values for name, *values in given}
    warn_once = kwargs.get("warn_once", True)

    def decorate(function):
        _check_callable(function, "deprecated_args")
        signature = inspect.signature(function)
        _check_names(allowed, signature)

        def is_used(name, arguments):
            if name not in arguments:
                return False
            kind = signature.parameters[name].kind
            if kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
                return bool(arguments[name])
            return not any(_same(arguments[name], value) for value in allowed[name])

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            arguments = signature.bind(*args, **kwargs).arguments
            for name in allowed:
                if is_used(name, arguments):
                    key = (function, name) if warn_once else None
                    _warn(key, f"calling {_name(function)} with {name} is", date, instructions)
            return function(*args, **kwargs)

        names = ", ".join(sorted(allowed))
        wrapper.__doc__ = _marked(
            function,
            "FUNCTION ARGUMENTS",
            f"SOME ARGUMENTS ARE DEPRECATED: `({names})`. They will be",
            date,
            instructions,
        )
        return wrapper

    return decorate


def _check_names(names, signature):
    missing = [name for name in names if name not in signature.parameters]
    if missing:
        raise ValueError(
            f"The following deprecated arguments are not present in the function signature: "
            f"{missing}. Found next arguments: {list(signature.parameters)}."
        )


def _same(x, y):
    """Whether two values are the same, also arrays and tensors, which do not say so by ==."""
    if x is y:
        return True
    equal = x == y
    return equal if isinstance(equal, bool) else False


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """A decorator for a function some of whose arguments may have certain values no longer:
    name=value for each. See `deprecated`."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(function):
        _check_callable(function, "deprecated_arg_values")
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for name, value in deprecated_kwargs.items():
                if name in bound.arguments and _same(bound.arguments[name], value):
                    key = (function, name) if warn_once else None
                    what = f"calling {_name(function)} with {name}={value} is"
                    _warn(key, what, date, instructions)
            return function(*args, **kwargs)

        values = ", ".join(f"{name}={value}" for name, value in sorted(deprecated_kwargs.items()))
        wrapper.__doc__ = _marked(
            function,
            "FUNCTION ARGUMENT VALUES",
            f"SOME ARGUMENT VALUES ARE DEPRECATED: `({values})`. They will be",
            date,
            instructions,
        )
        return wrapper

    return decorate
