"""Random numbers with the arguments of numpy.random."""

import numbers

import numpy as np

from rheos.framework import dtypes
from rheos.ops.array import cast_ops
from rheos.ops.random import random_ops
from rheos.v2._random import set_seed
from rheos.v2._tnp.arrays import asarray, default_float, numpy_type


def seed(s):
    """Sets the seed of what is drawn from now on."""
    set_seed(int(s))


def _sizes(size):
    if size is None:
        return []
    return [size] if isinstance(size, numbers.Integral) else size


def randn(*args):
    """Normally distributed numbers of a shape."""
    return standard_normal(args)


def standard_normal(size=None):
    """Normally distributed numbers of a shape."""
    return random_ops.random_normal(_sizes(size), dtype=dtypes.as_dtype(default_float()))


def uniform(low=0.0, high=1.0, size=None):
    """Equally likely numbers from `low` up to `high`, of the shape of these by default."""
    kind = dtypes.as_dtype(default_float())
    low, high = asarray(low, kind), asarray(high, kind)
    if size is None:
        size = (low + high).shape
    unit = random_ops.random_uniform(_sizes(size), dtype=kind)
    return low + unit * (high - low)


def random(size=None):
    """Equally likely numbers from 0 up to 1."""
    return uniform(0.0, 1.0, _sizes(size))


def rand(*size):
    """Equally likely numbers from 0 up to 1."""
    return uniform(0.0, 1.0, size)


def poisson(lam=1.0, size=None):
    """Poisson numbers as int64."""
    made = random_ops.random_poisson(asarray(lam, default_float()), _sizes(size))
    return cast_ops.cast(made, dtypes.int64)


def randint(low, high=None, size=None, dtype=np.int64):
    """Equally likely integers from `low` (0 if it is all that is said) up to `high`."""
    low, high = (0, low) if high is None else (low, high)
    kind = numpy_type(dtype)
    wide = dtypes.as_dtype(kind if kind.itemsize >= 4 else np.dtype(np.int32))
    made = random_ops.random_uniform(_sizes(size), low, high, wide)
    return cast_ops.cast(made, dtypes.as_dtype(kind))
