"""Functions of the program as operations: py_func and numpy_function."""

import functools
import itertools
import threading
import weakref

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import register_program_function
from rheos.framework.errors import InvalidArgumentError
from rheos.framework.op_call import add_op

_functions = weakref.WeakValueDictionary()  # ProgramFunctions by token; their graphs keep them
_numbers = itertools.count()
_lock = threading.Lock()


class WrongNumberError(ValueError):
    """A function returned another number of values than it was said to."""


class ProgramFunction:
    """A function of the program that operations call by a token, as long as the graph keeps it that
    is the default one when this is made."""

    def __init__(self, function):
        self.function = function
        with _lock:
            self.token = f"pyfunc_{next(_numbers)}"
        _functions[self.token] = self
        get_default_graph().keep_for_calls(self)


def _to_array(value):
    """An array as the operation hands it on, strings as objects: NumPy would pad them."""
    result = np.asarray(value, order="C")
    if result.dtype.char == "U":
        return np.asarray(np.vectorize(lambda x: x.encode("utf8"), otypes=[object])(value))
    if result.dtype.char == "S":
        return np.asarray(value, order="C", dtype=object)
    return result


def call_function(token, arrays, count):
    """What sessions call for PyFunc: the arrays that the token's function gives, with dtypes."""
    found = _functions.get(token)
    if found is None:
        raise ValueError(f"callback {token} is not found")
    result = found.function(*arrays)
    if result is None:
        result = []
    result = list(result) if isinstance(result, (list, tuple)) else [result]
    found = [_to_array(r) for r in result]
    if len(found) != count:
        raise WrongNumberError(
            f"{token} returns {len(found)} values, but expects to see {count} values."
        )
    for array in found:
        for item in array.flat if array.dtype.char == "O" else ():
            if not isinstance(item, (bytes, str)):
                raise NotImplementedError(f"Unsupported object type {type(item).__name__}")
        if array.dtype.names:
            raise NotImplementedError("Unsupported numpy data type")
    return [(a, dtypes.as_dtype(a.dtype)) for a in found]


def describe(error, where):
    """An exception that left a function of the program, as the error of its operation says it."""
    if isinstance(error, WrongNumberError):
        return str(error)
    import traceback

    lines = traceback.format_exception(type(error), error, where)
    return f"{type(error).__name__}: {error}\n{''.join(lines)}"


def py_func_op(op_type, func, inp, tout, name):
    """The operation of a function of arrays, or of a ProgramFunction of such; its results as `tout`
    is, a dtype or a list."""
    if not isinstance(func, ProgramFunction):
        if not callable(func):
            raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
        func = ProgramFunction(func)
    types = list(tout) if isinstance(tout, (list, tuple)) else [tout]
    types = [dtypes.as_dtype(t) for t in types]
    inp = list(inp) if isinstance(inp, (list, tuple)) else [inp]
    op = add_op(op_type, name, inp, token=func.token, Tout=types)
    if not types and op_type == "PyFunc":
        return op
    return op.outputs if isinstance(tout, (list, tuple)) else op.outputs[0]


def call_eagerly(func, inp, Tout, as_arrays):
    """What a function makes of values that are there."""
    is_list = isinstance(Tout, (list, tuple))
    wanted = [dtypes.as_dtype(t) for t in (Tout if is_list else [Tout])]
    tensors = [convert_to_tensor(x) for x in inp]
    given = func(*(t.numpy() for t in tensors)) if as_arrays else func(*tensors)
    found = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
    if len(found) != len(wanted):
        raise ValueError(f"the function gave {len(found)} values, {len(wanted)} are wanted")
    results = []
    for value, dtype in zip(found, wanted):
        results.append(convert_to_tensor(value, None if as_arrays else dtype))
        if results[-1].dtype != dtype:
            raise InvalidArgumentError(
                None, None, f"the function gave {results[-1].dtype.name}, wanted is {dtype.name}"
            )
    if is_list:
        return None if as_arrays and not results else results
    return results[0] if results else None


def decorator(function, **settings):
    """A decorator that gives `func` as the first argument, the arguments of calls as the second."""

    def decorate(func):
        @functools.wraps(func)
        def wrapper(*args):
            return function(func, list(args), **settings)

        return wrapper

    return decorate


def py_func(func, inp, Tout, stateful=True, name=None):
    """What a function of the program makes of the values of tensors, in each step.

    func: takes NumPy arrays, returns an array or a list of them. inp: a list of tensors. Tout: a
    dtype or a list of them, with [] there is only the operation (an empty list if it is not
    stateful: then nothing can ask for it); their shapes are not known. stateful: func may give
    another result next time.
    The function stays with the process: a graph that is saved and loaded elsewhere cannot call it.
    ValueError if func cannot be called. In a step: InvalidArgumentError if it returns other dtypes
    or another number of values, and what it raises as the error of the operation.

    >>> with tf.Session() as session:
    ...     print(session.run(tf.py_func(lambda x: x + 1, [np.int64(41)], tf.int64)))
    42
    """
    if get_default_graph()._is_eager:
        return call_eagerly(func, inp, Tout, True)
    return py_func_op("PyFunc" if stateful else "PyFuncStateless", func, inp, Tout, name)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """py_func for a function of NumPy arrays; without `func` and `inp` a decorator.

    >>> print(tf.numpy_function(lambda x: x + 1, [41], tf.int64).numpy())
    42
    """
    if func is None:
        return decorator(numpy_function, Tout=Tout, stateful=stateful, name=name)
    return py_func(func, inp, Tout, stateful, name)


register_program_function(call_function)
