"""Generators of random numbers that keep their state in a variable."""

import enum
import os

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import apply_op, op1
from rheos.framework.trackable import AutoTrackable
from rheos.ops.array import array_ops, cast_ops
from rheos.ops.math import math_ops
from rheos.ops.state.variables import Variable


class Algorithm(enum.Enum):
    """How generators make numbers."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _algorithm(alg):
    if isinstance(alg, str):
        names = {"philox": 1, "threefry": 2, "auto_select": 1}
        if alg.lower() not in names:
            raise ValueError(f"Argument `alg` got unsupported string value {alg}.")
        return names[alg.lower()]
    number = alg.value if isinstance(alg, Algorithm) else int(alg)
    return 1 if number == 3 else number


def create_rng_state(seed, alg):
    """The state of a generator, of int64, with this seed."""
    return _state_of(seed, 3 if _algorithm(alg) == 1 else 2)


def _state_of(seed, size):
    """The words of a state: of an int from its lowest on, of a vector with zeros before it."""
    if isinstance(seed, int):
        words = [(seed >> (64 * i)) & (2**64 - 1) for i in range(size)]
        return convert_to_tensor(np.array(words, np.uint64).view(np.int64))
    words = array_ops.reshape(cast_ops.cast(convert_to_tensor(seed), dtypes.int64), [-1])[:size]
    missing = math_ops.maximum(size - array_ops.size(words), 0)
    state = array_ops.concat([array_ops.zeros([missing], dtypes.int64), words], 0)
    state.set_shape([size])
    return state


class Generator(AutoTrackable):
    """Random numbers from a state that is a variable: a call goes on where the last ended."""

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            state, alg = copy_from._state_var.value(), copy_from._alg
        if state is None or alg is None:
            raise ValueError("a Generator needs `copy_from`, or `state` and `alg`")
        self._alg = _algorithm(alg)
        value = convert_to_tensor(state, dtypes.int64)
        self._state_var = Variable(
            value, dtype=dtypes.int64, name="StateVar", trainable=False, use_resource=True
        )

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator that starts from a seed."""
        alg = _algorithm(alg if alg is not None else Algorithm.PHILOX)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_state(cls, state, alg):
        """A generator that starts from a state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator that starts anywhere."""
        alg = _algorithm(alg if alg is not None else Algorithm.PHILOX)
        size = 3 if alg == 1 else 2
        words = np.frombuffer(os.urandom(8 * size), np.int64)
        return cls(state=words.copy(), alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator that starts from a key and a counter."""
        words = np.concatenate([np.asarray(counter, np.int64).ravel(), [np.int64(key)]])
        return cls(state=words, alg=alg)

    @property
    def state(self):
        """The variable with the state."""
        return self._state_var

    @property
    def algorithm(self):
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self):
        """The part of the state that stays."""
        return self._state_var.value()[2 if self._alg == 1 else 1]

    def reset(self, state):
        """Sets the state."""
        self._state_var.assign(convert_to_tensor(state, dtypes.int64))

    def reset_from_seed(self, seed):
        """Sets the state to that of a seed."""
        self.reset(create_rng_state(seed, self._alg))

    def skip(self, delta):
        """Goes on by as many numbers of 128 bits."""
        apply_op(
            "RngSkip",
            None,
            self._state_var.handle,
            convert_to_tensor(np.int64(self._alg)),
            cast_ops.cast(delta, dtypes.int64),
        )

    def _run(self, op_type, shape, *more, dtype):
        shape = convert_to_tensor(shape, dtypes.int32)
        algorithm = convert_to_tensor(np.int64(self._alg))
        return op1(op_type, None, self._state_var.handle, algorithm, shape, *more, dtype=dtype)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normally distributed numbers."""
        numbers = self._run("StatefulStandardNormalV2", shape, dtype=dtypes.as_dtype(dtype))
        return numbers * convert_to_tensor(stddev, dtype) + convert_to_tensor(mean, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normally distributed numbers within two standard deviations."""
        numbers = self._run("StatefulTruncatedNormal", shape, dtype=dtypes.as_dtype(dtype))
        return numbers * convert_to_tensor(stddev, dtype) + convert_to_tensor(mean, dtype)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Equally likely numbers from `minval` up to `maxval`, which is not among them."""
        dtype = dtypes.as_dtype(dtype)
        if dtype.is_integer:
            if maxval is None:
                raise ValueError(f"Must specify maxval for integer dtype {dtype}")
            low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
            return self._run("StatefulUniformInt", shape, low, high, dtype=dtype)
        low = convert_to_tensor(minval, dtype)
        high = convert_to_tensor(1.0 if maxval is None else maxval, dtype)
        return math_ops.add(self._run("StatefulUniform", shape, dtype=dtype) * (high - low), low)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers of which all are equally likely."""
        return self._run("StatefulUniformFullInt", shape, dtype=dtypes.as_dtype(dtype))

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """How many of `counts` trials of the probability `probs` succeed.

        shape: of the result, which ends with the shape that both broadcast to.
        """
        probs = convert_to_tensor(probs)
        counts = cast_ops.cast(convert_to_tensor(counts), probs.dtype)
        return self._run(
            "StatefulRandomBinomial", shape, counts, probs, dtype=dtypes.as_dtype(dtype)
        )

    def make_seeds(self, count=1):
        """Seeds for stateless operations, of shape [2, count]."""
        if self._alg not in (1, 2):
            raise ValueError("this algorithm makes no seeds")
        keys = self.uniform_full_int([count], dtypes.int64)
        return array_ops.stack([keys, array_ops.zeros_like(keys)])

    def split(self, count=1):
        """As many generators, which give other numbers than each other."""
        keys = array_ops.unstack(self.uniform_full_int([count], dtypes.int64), num=count)
        zeros = [0, 0] if self._alg == 1 else [0]
        return [Generator(state=array_ops.stack([*zeros, key]), alg=self._alg) for key in keys]


_global = []


def get_global_generator():
    """The generator of the process, made when it is first wanted."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator):
    """Makes another generator that of the process."""
    _global[:] = [generator]
