"""Random numbers with TensorFlow 2's seeds, and initializers."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops, cast_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.random import random_ops, stateless_random_ops


def set_seed(seed):
    """Sets the seed from which operations without one of their own derive theirs.

    >>> tf.random.set_seed(7)
    >>> first = tf.random.uniform([2]).numpy()
    >>> tf.random.set_seed(7)
    >>> print((tf.random.uniform([2]).numpy() == first).all())
    True
    """
    get_default_graph().seed = seed


def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Normally distributed numbers that follow from the two seeds."""
    return stateless_random_ops.stateless_random_normal(shape, seed, mean, stddev, dtype, name)


def stateless_gamma(
    shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Numbers from gamma distributions that follow from the two seeds."""
    return stateless_random_ops.stateless_random_gamma(shape, seed, alpha, beta, dtype, name)


def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Equally likely numbers that follow from the two seeds.

    >>> once, again = (tf.random.stateless_uniform([2], seed=[1, 2]).numpy() for _ in "ab")
    >>> print((once == again).all())
    True
    """
    return stateless_random_ops.stateless_random_uniform(shape, seed, minval, maxval, dtype, name)


def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Normal numbers within two standard deviations that follow from the two seeds."""
    return stateless_random_ops.stateless_truncated_normal(shape, seed, mean, stddev, dtype, name)


def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Poisson numbers, of `shape` for each rate in `lam`."""
    return random_ops.random_poisson(lam, shape, dtype, seed, name)


def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Poisson numbers that follow from the two seeds; `lam` broadcasts to `shape`."""
    lam = convert_to_tensor(lam)
    return op1("StatelessRandomPoisson", name, shape, seed, lam, dtype=dtype)


def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """How many of `counts` trials of the probability `probs` succeed, by the two seeds.

    shape: of the result, which ends with the shape that both broadcast to.
    """
    probs = convert_to_tensor(probs, dtype_hint=dtypes.float32, name="probs")
    counts = convert_to_tensor(counts, dtype_hint=probs.dtype, name="counts")
    counts = cast_ops.cast(counts, probs.dtype)
    shape = convert_to_tensor(shape, dtypes.int32, name="shape")
    return op1("StatelessRandomBinomial", name, shape, seed, counts, probs, dtype=output_dtype)


# ---- Initializers: tf.zeros_initializer()(shape, dtype)


class _Initializer:
    """Makes the first value of a variable: called with a shape and a dtype."""

    def get_config(self):
        """What makes it anew."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config):
        """The initializer of a configuration."""
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


class ZerosInitializer(_Initializer):
    """Zeros."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        return array_ops.zeros(shape, dtypes.as_dtype(dtype))


class OnesInitializer(_Initializer):
    """Ones."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        return array_ops.ones(shape, dtypes.as_dtype(dtype))


class ConstantInitializer(_Initializer):
    """A number everywhere, or these numbers."""

    def __init__(self, value=0, support_partition=False):
        self.value = value

    def __call__(self, shape, dtype=None, **kwargs):
        dtype = None if dtype is None else dtypes.as_dtype(dtype)
        return constant(self.value, dtype=dtype, shape=shape)


class RandomNormalInitializer(_Initializer):
    """Normally distributed numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        if self.seed is not None:
            return stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)
        return random_ops.random_normal(shape, self.mean, self.stddev, dtype)


class RandomUniformInitializer(_Initializer):
    """Equally likely numbers from `minval` to `maxval`."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        if self.seed is not None:
            return stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)
        return random_ops.random_uniform(shape, self.minval, self.maxval, dtype)
