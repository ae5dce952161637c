"""What functions take: tensorflow.python.util.function_utils."""

import functools
import inspect


def _plain(function):
    """(what a call runs, whether its first argument is given)."""
    if inspect.isfunction(function) or inspect.ismethod(function):
        return function, inspect.ismethod(function)
    if not inspect.isclass(function) and callable(function):
        return function.__call__, True
    return function, False


def fn_args(fn):
    """The names of the arguments of a callable, but for those that a partial() or an object gives.

    ValueError for a partial() that gives an argument twice.
    """
    if isinstance(fn, functools.partial):
        given = set(fn.keywords)
        return tuple(name for name in fn_args(fn.func)[len(fn.args) :] if name not in given)
    call, is_bound = _plain(fn)
    code = inspect.getfullargspec(call)
    names = tuple(code.args)
    return names[1:] if is_bound and names else names


def has_kwargs(fn):
    """Whether a callable takes any named arguments. TypeError if it is none."""
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif not callable(fn):
        raise TypeError(f"Argument `fn` is not a callable. Received: {fn}")
    return inspect.getfullargspec(_plain(fn)[0]).varkw is not None


def get_func_name(func):
    """The name of a function, class.name of a bound method; of other callables their type."""
    if not callable(func):
        raise ValueError("Argument must be callable")
    func = inspect.unwrap(func)
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__name__}"
    if inspect.isfunction(func):
        return func.__name__
    return str(type(func))


def get_func_code(func):
    """The code of a function; None for other callables."""
    if not callable(func):
        raise ValueError("Argument must be callable")
    return getattr(inspect.unwrap(func), "__code__", None)
