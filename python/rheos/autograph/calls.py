"""What calls become: functions that converted code calls are converted too."""

import functools
import inspect
import os
import sysconfig
import types

from rheos._core import OpFunction
from rheos.autograph import builtins, convert
from rheos.framework import logging

# Packages whose functions are called as they are, beside Python's own.
_LEFT_ALONE = frozenset(
    "rheos tensorflow numpy scipy pandas matplotlib google pytest _pytest IPython ipykernel pip "
    "setuptools pkg_resources pdb ipdb ml_dtypes keras h5py PIL six attr wrapt".split()
)
_STANDARD = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
_SITE = ("site-packages", "dist-packages")
_TOLD = set()  # the functions that a warning was given for


def do_not_convert(func=None):
    """A function that converted code calls as it is."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def as_it_is(*args, **kwargs):
        return func(*args, **kwargs)

    as_it_is.ag_not_converted = True
    as_it_is.ag_converted = False
    return as_it_is


def _is_standard(code):
    file = code.co_filename
    if file.startswith("<frozen"):
        return True
    return file.startswith(_STANDARD) and not any(part in file for part in _SITE)


def _module_of(function):
    return (getattr(function, "__module__", None) or "").split(".", 1)[0]


def is_left_alone(function):
    """Whether a Python function is called as it is."""
    if convert.is_converted(function) or getattr(function, "ag_not_converted", False):
        return True
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return True
    return _module_of(function) in _LEFT_ALONE or _is_standard(code)


def _tell(error):
    text = str(error)
    if text not in _TOLD:
        _TOLD.add(text)
        logging.warning(
            "AutoGraph calls a function as it is; branches and loops over tensors fail in it. "
            "To silence this warning, decorate the function with "
            "@tf.autograph.experimental.do_not_convert. %s",
            text,
        )


def converted_function(function):
    """The converted form of a Python function, or itself if it is called as it is."""
    return function if is_left_alone(function) else converted_or_told(function)


def converted_or_told(function):
    """The converted form of a Python function, or itself with a warning that says why."""
    try:
        return convert.convert(function)
    except convert.ConversionError as error:
        if os.environ.get("AUTOGRAPH_STRICT_CONVERSION", "0") == "1":  # as TensorFlow's tests want
            raise
        _tell(error)
        return function


def tf_convert(function):
    """A callable of a program, converted; for functions of the library that call it."""
    if isinstance(function, types.FunctionType):
        return converted_function(function)
    if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
        return types.MethodType(converted_function(function.__func__), function.__self__)
    if isinstance(function, functools.partial):
        inner = tf_convert(function.func)
        return functools.partial(inner, *function.args, **function.keywords)
    return function


def _method_of(instance):
    """What calling an object calls, if that is a Python function."""
    kind = type(instance)
    method = kind.__call__ if callable(instance) else None
    return method if isinstance(method, types.FunctionType) else None


# Functions of the library that run what they are given as Python, outside of the graph.
_TAKES_PYTHON = frozenset(("py_func", "py_function", "numpy_function", "eager_py_func"))


def _with_converted(function, args, kwargs):
    """The arguments with a program's functions converted, for the library's functions."""
    if _module_of(function) != "rheos" or getattr(function, "__name__", "") in _TAKES_PYTHON:
        return args, kwargs
    kinds = (types.FunctionType, types.MethodType)
    if any(isinstance(arg, kinds) for arg in args):
        args = tuple(tf_convert(arg) if isinstance(arg, kinds) else arg for arg in args)
    if kwargs and any(isinstance(arg, kinds) for arg in kwargs.values()):
        kwargs = {k: tf_convert(a) if isinstance(a, kinds) else a for k, a in kwargs.items()}
    return args, kwargs


def _call_builtin(function, args, kwargs):
    if function is map and len(args) > 1:
        return map(tf_convert(args[0]), *args[1:])
    if function is filter and len(args) == 2 and args[0] is not None:
        return filter(tf_convert(args[0]), args[1])
    try:
        replaced = builtins.TABLE.get(function)
    except TypeError:  # of a callable without a hash
        replaced = None
    return (replaced or function)(*args, **kwargs)


def converted_call(function, args, kwargs):
    """Calls `function`, converted if it is a Python function of the program.

    kwargs: a dict or None.
    """
    if type(function) is OpFunction:
        return function(*args, **kwargs) if kwargs else function(*args)
    kwargs = kwargs or {}
    if isinstance(function, types.FunctionType):
        if _module_of(function) == "rheos":
            args, kwargs = _with_converted(function, args, kwargs)
        return converted_function(function)(*args, **kwargs)
    if isinstance(function, types.MethodType):
        inner = function.__func__
        if isinstance(inner, types.FunctionType):
            if _module_of(inner) == "rheos":
                args, kwargs = _with_converted(inner, args, kwargs)
            return converted_function(inner)(function.__self__, *args, **kwargs)
        return function(*args, **kwargs)
    if isinstance(function, functools.partial):
        keywords = {**function.keywords, **kwargs}
        return converted_call(function.func, (*function.args, *args), keywords)
    if isinstance(function, (types.BuiltinFunctionType, type)):
        return _call_builtin(function, args, kwargs)
    method = _method_of(function)
    if method is not None and not is_left_alone(method):
        return converted_function(method)(function, *args, **kwargs)
    return function(*args, **kwargs)
