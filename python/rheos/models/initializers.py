"""Initializers as layers name them: those of the operations, under Keras's names and defaults."""

from rheos.framework import dtypes
from rheos.layers import values
from rheos.models import objects
from rheos.ops.state import init_ops
from rheos.ops.state.init_ops import (  # noqa: F401
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Initializer,
    Ones,
    Orthogonal,
    VarianceScaling,
    Zeros,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)


class RandomNormal(init_ops.RandomNormal):
    """Numbers from a normal distribution."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(init_ops.RandomUniform):
    """Numbers from `minval` to `maxval`."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(minval, maxval, seed, dtype)


class TruncatedNormal(init_ops.TruncatedNormal):
    """Numbers from a normal distribution, within two standard deviations of the mean."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None, dtype=dtypes.float32):
        super().__init__(mean, stddev, seed, dtype)


def _scaled(name, scale, distribution):
    """A class of initializers by the number of inputs; in TensorFlow 1 a VarianceScaling."""

    def __new__(cls, seed=None, dtype=dtypes.float32):
        if values.runs_in_session():
            return VarianceScaling(scale, "fan_in", distribution, seed, dtype)
        return object.__new__(cls)

    def __init__(self, seed=None, dtype=dtypes.float32):
        VarianceScaling.__init__(self, scale, "fan_in", distribution, seed, dtype)

    def get_config(self):
        return {"seed": self.seed}

    body = {"__new__": __new__, "__init__": __init__, "get_config": get_config}
    body["__doc__"] = f"Random numbers of variance {scale:g} / inputs ({distribution})."
    return type(name, (VarianceScaling,), body)


HeNormal = _scaled("HeNormal", 2.0, "truncated_normal")
HeUniform = _scaled("HeUniform", 2.0, "uniform")
LecunNormal = _scaled("LecunNormal", 1.0, "truncated_normal")
LecunUniform = _scaled("LecunUniform", 1.0, "uniform")

objects.table("initializer").update(
    {
        name: value
        for names, value in (
            (("Zeros", "zeros", "zeros_initializer"), Zeros),
            (("Ones", "ones", "one", "ones_initializer"), Ones),
            (("Constant", "constant"), Constant),
            (("RandomNormal", "random_normal", "normal"), RandomNormal),
            (("RandomUniform", "random_uniform", "uniform"), RandomUniform),
            (("TruncatedNormal", "truncated_normal"), TruncatedNormal),
            (("VarianceScaling", "variance_scaling"), VarianceScaling),
            (("GlorotUniform", "glorot_uniform"), GlorotUniform),
            (("GlorotNormal", "glorot_normal"), GlorotNormal),
            (("Orthogonal", "orthogonal"), Orthogonal),
            (("Identity", "identity"), Identity),
            (("HeNormal", "he_normal"), HeNormal),
            (("HeUniform", "he_uniform"), HeUniform),
            (("LecunNormal", "lecun_normal"), LecunNormal),
            (("LecunUniform", "lecun_uniform"), LecunUniform),
        )
        for name in names
    }
)
zeros, ones, constant, identity, orthogonal = Zeros, Ones, Constant, Identity, Orthogonal
normal = random_normal = RandomNormal
uniform = random_uniform = RandomUniform
truncated_normal = TruncatedNormal
glorot_normal, glorot_uniform = GlorotNormal, GlorotUniform


def _kind():
    """The table of names: version 2 has initializers that draw from seeds of their own."""
    return "initializer" if values.runs_in_session() else "drawn initializer"


def get(identifier):
    """The initializer of a name, a configuration or itself."""
    if hasattr(identifier, "shape") and not callable(identifier):
        return identifier  # a value
    return objects.get(_kind(), identifier)


def serialize(initializer):
    """What stands for an initializer."""
    return objects.serialize(initializer)


def deserialize(config, custom_objects=None):
    """The initializer that a configuration stands for."""
    return objects.deserialize(_kind(), config, custom_objects)
