"""Random tensors that follow from a seed: the same numbers for the same `seed`, two integers."""

import numpy as np

from rheos import _core
from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_list
from rheos.ops.array import array_ops
from rheos.ops.array.rearrange_ops import broadcast_dynamic_shape
from rheos.ops.math import math_ops

_PHILOX = 1  # the number of the algorithm in ops that are told it


def _shape_tensor(shape):
    dtype = dtypes.int32 if isinstance(shape, (tuple, list)) and not shape else None
    return convert_to_tensor(shape, dtype=dtype, name="shape")


def _is_number(value, wanted):
    return type(value) in (int, float) and value == wanted


def stateless_random_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None):
    """Numbers from `minval` up to `maxval` (not included), all equally likely.

    Of integers without both ends all are equally likely; ValueError if only one is missing.
    """
    dtype = dtypes.as_dtype(dtype)
    if minval is None and maxval is None and dtype.is_integer:
        return op1("StatelessRandomUniformFullInt", name, shape, seed, dtype=dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    if _core._executes_eagerly() and _is_number(minval, 0) and _is_number(maxval, 1):
        if dtype.is_floating:
            return op1("StatelessRandomUniform", None, shape, seed, dtype=dtype)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as name:
        shape = _shape_tensor(shape)
        low = convert_to_tensor(minval, dtype=dtype, name="min")
        high = convert_to_tensor(maxval, dtype=dtype, name="max")
        if dtype.is_integer:
            return op1("StatelessRandomUniformInt", name, shape, seed, low, high)
        unit = op1("StatelessRandomUniform", None, shape, seed, dtype=dtype)
        return op1("Add", name, unit * (high - low), low)


def _scaled(op_type, default_name, shape, seed, mean, stddev, dtype, name):
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, default_name, [shape, seed, mean, stddev]) as name:
        shape = _shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype=dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
        unit = op1(op_type, None, shape, seed, dtype=dtype)
        return op1("Add", name, unit * stddev, mean)


def stateless_random_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Numbers from a normal distribution."""
    kind = "StatelessRandomNormal"
    return _scaled(kind, "stateless_random_normal", shape, seed, mean, stddev, dtype, name)


def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Numbers from a normal distribution, within two standard deviations of the mean."""
    kind = "StatelessTruncatedNormal"
    return _scaled(kind, "stateless_truncated_normal", shape, seed, mean, stddev, dtype, name)


def _key_and_counter(seed):
    """What the newer ops of random numbers are given for a seed, and the algorithm's number."""
    key, counter = op_list("StatelessRandomGetKeyCounter", None, seed)
    return key, counter, op1("StatelessRandomGetAlg", None)


def stateless_random_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Numbers from gamma distributions; `shape` ends with that of alpha and beta."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]):
        alpha = convert_to_tensor(alpha, dtype=dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype=dtype, name="beta")
        both = broadcast_dynamic_shape(array_ops.shape(alpha), array_ops.shape(beta))
        key, counter, algorithm = _key_and_counter(seed)
        unit = op1(
            "StatelessRandomGammaV3", None, _shape_tensor(shape), key, counter, algorithm,
            array_ops.broadcast_to(alpha, both),
        )  # fmt: skip
        return math_ops.maximum(np.finfo(dtype.as_numpy_dtype).tiny, unit / beta)


def _classes(default_name, logits, num_samples, seed, dtype, name):
    with name_scope(name, default_name, [logits, seed]):
        logits = convert_to_tensor(logits, name="logits")
        return op1(
            "StatelessMultinomial",
            None,
            logits,
            num_samples,
            seed,
            output_dtype=dtypes.as_dtype(dtype),
        )


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """For each row of unnormalised log-probabilities, `num_samples` classes drawn from it."""
    return _classes("stateless_multinomial", logits, num_samples, seed, output_dtype, name)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """For each row of unnormalised log-probabilities, `num_samples` classes drawn from it."""
    return _classes("stateless_categorical", logits, num_samples, seed, dtype, name)


def split(seed, num=2, alg="auto_select"):
    """As many seeds, of shape [num, 2], that give other numbers than each other and `seed`."""
    seed = convert_to_tensor(seed)
    return stateless_random_uniform([num, 2], seed, None, None, seed.dtype)


def fold_in(seed, data, alg="auto_select"):
    """A seed that follows from `seed` and a number, of the number's dtype."""
    data = convert_to_tensor(data)
    word = stateless_random_uniform([], seed, None, None, data.dtype)
    return array_ops.stack([word, data])


def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """`value` with its rows in an order that follows from the two seeds."""
    with name_scope(name, "stateless_shuffle", [value, seed]):
        key, counter = op_list("StatelessRandomGetKeyCounter", None, seed)
        return op1("StatelessShuffle", None, value, key, counter, _PHILOX)
