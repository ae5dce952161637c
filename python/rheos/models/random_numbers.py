"""Random numbers as Keras 3 draws them: from a seed, or a generator that counts in a variable."""

import random

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import init_scope
from rheos.framework.op_call import op1
from rheos.layers import values
from rheos.models import objects
from rheos.models.defaults import floatx
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import stateless_random_ops
from rheos.ops.state.variables import Variable

_LARGEST = 2**31 - 2  # what seeds of 64 bits are taken modulo of


def make_default_seed():
    """A seed from Python's random numbers, which set_random_seed() settles."""
    return random.randint(1, int(1e9))


@objects.known("object")
class SeedGenerator:
    """Gives a new pair of seeds each time, from a seed and a count that are in a variable."""

    def __init__(self, seed=None, name=None, **kwargs):
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
        self.name = name or values.unique_name("seed_generator")
        self._initial_seed = seed
        seed = make_default_seed() if seed is None else seed
        if not isinstance(seed, int):
            raise ValueError(f"Argument `seed` must be an integer. Received: seed={seed}")
        with init_scope():
            self.state = Variable(
                initial_value=lambda: convert_to_tensor([seed, 0], dtypes.int64),
                name=f"{self.name}/seed_generator_state",
                trainable=False,
                dtype=dtypes.int64,
                use_resource=True,
            )

    def next(self, ordered=True):
        """The pair of seeds to use now, as a tensor."""
        drawn = self.state * 1
        if ordered:
            self.state.assign_add([0, 1])
        else:
            self.state.assign((self.state + 1) * 5387 % 933199)
        return drawn

    def get_config(self):
        """What makes a generator like this."""
        return {"seed": self._initial_seed, "name": self.name}

    @classmethod
    def from_config(cls, config):
        """A generator like the one whose get_config() this was."""
        return cls(**config)


def _global_generator():
    held = values.root_graph().__dict__
    if "_seed_generator" not in held:
        held["_seed_generator"] = SeedGenerator()
    return held["_seed_generator"]


def draw_seed(seed):
    """A pair of seeds as stateless operations take them: of a number, a generator or None."""
    if isinstance(seed, int):
        return convert_to_tensor(np.array([seed % _LARGEST, 0], "int32"))
    if seed is None:
        drawn = _global_generator().next(ordered=False)
    elif isinstance(seed, SeedGenerator):
        drawn = seed.next()
    else:
        raise ValueError(
            "Argument `seed` must be either an integer or an instance of `SeedGenerator`. "
            f"Received: seed={seed} (of type {type(seed)})"
        )
    return math_ops.cast(math_ops.floormod(drawn, _LARGEST), dtypes.int32)


def _dtype(dtype):
    return dtypes.as_dtype(dtype or floatx())


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normally distributed numbers."""
    return stateless_random_ops.stateless_random_normal(
        shape, draw_seed(seed), mean, stddev, _dtype(dtype)
    )


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two standard deviations of the mean."""
    return stateless_random_ops.stateless_truncated_normal(
        shape, draw_seed(seed), mean, stddev, _dtype(dtype)
    )


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Equally likely numbers from `minval`, below `maxval`."""
    dtype = _dtype(dtype)
    if not (_is_exact(minval) and _is_exact(maxval)):
        minval = math_ops.cast(convert_to_tensor(minval), dtype)
        maxval = math_ops.cast(convert_to_tensor(maxval), dtype)
    return stateless_random_ops.stateless_random_uniform(
        shape, draw_seed(seed), minval, maxval, dtype
    )


def _is_exact(number):
    """Whether it is a number that is the same in all dtypes of floating point."""
    return type(number) is float and number in (0.0, 1.0)


def randint(shape, minval, maxval, dtype="int32", seed=None):
    """Equally likely whole numbers from `minval`, below `maxval`."""
    drawn = dtypes.as_dtype(dtype)
    drawn = drawn if drawn in (dtypes.int32, dtypes.int64) else dtypes.int64
    found = stateless_random_ops.stateless_random_uniform(
        shape, draw_seed(seed), minval, maxval, drawn
    )
    return math_ops.cast(found, dtypes.as_dtype(dtype))


def categorical(logits, num_samples, dtype="int32", seed=None):
    """The numbers of classes, drawn by the logarithms of their weights."""
    found = stateless_random_ops.stateless_categorical(logits, num_samples, draw_seed(seed))
    return math_ops.cast(found, dtypes.as_dtype(dtype))


def dropout(inputs, rate, noise_shape=None, seed=None):
    """Sets elements to 0 with probability `rate`, and scales the others up."""
    if rate >= 1.0:
        return array_ops.zeros_like(inputs)
    if rate <= 0.0:
        return inputs
    shape = array_ops.shape(inputs)
    if noise_shape is not None and not values.is_tensor(noise_shape):
        noise_shape = [shape[i] if n is None else n for i, n in enumerate(noise_shape)]
    drawn = uniform(shape if noise_shape is None else noise_shape, 0.0, 1.0, inputs.dtype, seed)
    return op1("SelectV2", None, drawn >= rate, inputs * (1.0 / (1.0 - rate)), 0)


def shuffle(x, axis=0, seed=None):
    """The slices of x along an axis in a new order."""
    x = convert_to_tensor(x)
    drawn = uniform([array_ops.shape(x)[axis]], dtype="float32", seed=seed)
    _, order = nn_ops.top_k(-drawn, array_ops.size(drawn), sorted=True)
    return array_ops.gather(x, order, axis=axis)
