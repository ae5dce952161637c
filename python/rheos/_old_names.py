"""What Python and NumPy had when programs of TensorFlow 1 were written, and have no more.

`rheos run` gives it back to them, each where it is missing: such a program is to run as it stands.
"""

import collections
import collections.abc
import fractions
import inspect
import math
import time
import warnings

import numpy as np

_ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def _getargspec(func):
    """The arguments of a function that has no keyword-only ones and no annotations."""
    full = inspect.getfullargspec(func)
    if full.kwonlyargs or full.annotations:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API "
            "which can support them"
        )
    return _ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def _ragged(make):
    """np.array() or np.asarray() that makes arrays of objects where rows differ in length."""

    def array(*args, **kwargs):
        try:
            return make(*args, **kwargs)
        except ValueError as error:
            if "inhomogeneous" not in str(error) or len(args) > 1 or kwargs.get("dtype"):
                raise
            warnings.warn(
                "an array of rows that differ in length holds objects; dtype=object says so",
                stacklevel=2,
            )
            return make(*args, **{**kwargs, "dtype": object})

    array.__name__ = array.__qualname__ = make.__name__
    array.__doc__ = make.__doc__
    return array


_OF_NUMPY = {
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "object": object,
    "str": str,
    "long": int,
    "unicode": str,
    "bool8": np.bool_,
    "float_": np.float64,
    "complex_": np.complex128,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "Inf": np.inf,
    "Infinity": np.inf,
    "infty": np.inf,
    "PINF": np.inf,
    "NINF": -np.inf,
    "NaN": np.nan,
    "NAN": np.nan,
    "asscalar": lambda a: a.item(),
    "product": np.prod,
    "cumproduct": np.cumprod,
    "sometrue": np.any,
    "alltrue": np.all,
    "round_": np.round,
    "row_stack": np.vstack,
    "in1d": lambda a, b, **kwargs: np.isin(np.ravel(a), b, **kwargs),
    "trapz": getattr(np, "trapezoid", None),
}
_OF_PYTHON = [
    (collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__}),
    (fractions, {"gcd": math.gcd}),
    (inspect, {"getargspec": _getargspec}),
    (time, {"clock": time.process_time}),
]


def give_back():
    """Sets the names that are missing in the modules that had them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of some when it is asked whether it has them
        for module, names in [*_OF_PYTHON, (np, _OF_NUMPY)]:
            for name, value in names.items():
                if not hasattr(module, name):
                    setattr(module, name, value)
    for name in ("array", "asarray"):
        setattr(np, name, _ragged(getattr(np, name)))
