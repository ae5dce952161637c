"""Random tensors."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph, is_eager_on
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops

DEFAULT_GRAPH_SEED = 87654321
_MAX = 2**31 - 1


def set_random_seed(seed):
    """The seed from which the default graph's random operations derive theirs."""
    get_default_graph().seed = seed


def _number_of(graph):
    """What an operation without a seed of its own has instead.

    TensorFlow 1 takes the number of operations before it, TensorFlow 2 of those like it.
    """
    if graph._is_eager or not is_eager_on():
        return graph._last_id
    number = getattr(graph, "_seeds_given", 0)
    graph._seeds_given = number + 1
    return number


def get_seed(op_seed):
    """The two seeds of an operation, from the graph's and its own; (None, None) if it has none."""
    graph = get_default_graph()
    graph_seed = graph.seed
    if graph_seed is not None:
        if op_seed is None:
            op_seed = _number_of(graph)
        seeds = graph_seed, op_seed
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    seeds = int(seeds[0]) % _MAX, int(seeds[1]) % _MAX
    return (0, _MAX) if seeds == (0, 0) else seeds


def _shape_tensor(shape):
    dtype = dtypes.int32 if isinstance(shape, (tuple, list)) and not shape else None
    return convert_to_tensor(shape, dtype=dtype, name="shape")


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from `minval` up to `maxval` (not included), all equally likely.

    >>> dice = tf.random.uniform([100], 1, 7, dtype=tf.int32)
    >>> print(dice.shape, set(dice.numpy().tolist()) <= {1, 2, 3, 4, 5, 6})
    (100,) True
    """
    dtype = dtypes.as_dtype(dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError("Must specify maxval for integer dtype %r" % dtype)
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape = _shape_tensor(shape)
        low = convert_to_tensor(minval, dtype, "min")
        high = convert_to_tensor(maxval, dtype, "max")
        seed1, seed2 = get_seed(seed)
        if dtype.is_integer:
            return op1("RandomUniformInt", name, shape, low, high, seed=seed1, seed2=seed2)
        unit = op1("RandomUniform", None, shape, dtype=dtype, seed=seed1, seed2=seed2)
        return math_ops.add(unit * (high - low), low, name=name)


def _scaled(op_type, default_name, shape, mean, stddev, dtype, seed, name):
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, default_name, [shape, mean, stddev]) as name:
        shape = _shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, "mean")
        stddev = convert_to_tensor(stddev, dtype, "stddev")
        seed1, seed2 = get_seed(seed)
        unit = op1(op_type, None, shape, dtype=dtype, seed=seed1, seed2=seed2)
        return math_ops.add(unit * stddev, mean, name=name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from a normal distribution.

    >>> print(tf.random.normal([2, 3], mean=10.0).shape)
    (2, 3)
    """
    return _scaled("RandomStandardNormal", "random_normal", shape, mean, stddev, dtype, seed, name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from a normal distribution, within two standard deviations of the mean."""
    return _scaled("TruncatedNormal", "truncated_normal", shape, mean, stddev, dtype, seed, name)


def random_shuffle(value, seed=None, name=None):
    """The slices of a tensor in random order.

    >>> print(sorted(tf.random.shuffle([3, 1, 2]).numpy().tolist()))
    [1, 2, 3]
    """
    seed1, seed2 = get_seed(seed)
    return op1("RandomShuffle", name, value, seed=seed1, seed2=seed2)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """For each row of unnormalised log-probabilities, `num_samples` classes drawn from it."""
    with name_scope(name, "multinomial", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        seed1, seed2 = get_seed(seed)
        return op1(
            "Multinomial",
            None,
            logits,
            num_samples,
            seed=seed1,
            seed2=seed2,
            output_dtype=output_dtype and dtypes.as_dtype(output_dtype),
        )


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """For each row of unnormalised log-probabilities, `num_samples` classes drawn from it.

    >>> print(tf.random.categorical([[0.0, -100.0]], num_samples=3).numpy())
    [[0 0 0]]
    """
    return multinomial(logits, num_samples, seed, name or "categorical", dtype)


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from gamma distributions.

    alpha, beta: the shape and inverse scale of the distributions, broadcast together. Returns
    shape + their shape.
    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(1 if beta is None else beta, name="beta", dtype=dtype)
        all_alpha = alpha + array_ops.zeros_like(beta)
        seed1, seed2 = get_seed(seed)
        unit = op1("RandomGamma", None, shape, all_alpha, seed=seed1, seed2=seed2)
        tiny = np.finfo(dtypes.as_dtype(dtype).as_numpy_dtype).tiny
        return math_ops.maximum(tiny, unit / beta)


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from Poisson distributions of mean `lam`; returns shape + the shape of `lam`."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        seed1, seed2 = get_seed(seed)
        return op1(
            "RandomPoissonV2", None, shape, lam, dtype=dtypes.as_dtype(dtype), seed=seed1,
            seed2=seed2,
        )  # fmt: skip


def random_crop(value, size, seed=None, name=None):
    """A part of shape `size` of a tensor, from a random place.

    InvalidArgumentError when it runs if `size` is larger than the tensor somewhere.
    """
    with name_scope(name, "random_crop", [value, size]) as name:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size, dtype=dtypes.int32, name="size")
        shape = array_ops.shape(value)
        check = control_flow_ops.Assert(
            math_ops.reduce_all(shape >= size),
            ["Need value.shape >= size, got ", shape, size],
            summarize=1000,
        )
        shape = control_flow_ops.with_dependencies([check], shape)
        limit = shape - size + 1
        offset = (
            random_uniform(
                array_ops.shape(shape), dtype=size.dtype, maxval=size.dtype.max, seed=seed
            )
            % limit
        )
        return array_ops.slice(value, offset, size, name=name)
