"""Initializers of Keras 3: each has a seed from the start, so that it draws the same each time."""

import math

from rheos.models import objects, random_numbers
from rheos.models.initializers import (  # noqa: F401
    Constant,
    Identity,
    Initializer,
    Ones,
    Zeros,
    deserialize,
    get,
    serialize,
)
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.math import math_ops

_KIND = "drawn initializer"
_initializer = objects.known(_KIND)


class RandomInitializer(Initializer):
    """An initializer with a seed: one given, a generator, or one of its own."""

    _SETTINGS = ()  # the attributes of a configuration beside the seed

    def __init__(self, seed=None):
        self._given_seed = seed
        if isinstance(seed, dict):
            seed = objects.deserialize("object", seed)
        elif seed is None:
            seed = random_numbers.make_default_seed()
        elif not isinstance(seed, (int, random_numbers.SeedGenerator)):
            raise ValueError(
                "`seed` argument should be an instance of `keras.random.SeedGenerator()` or an "
                f"integer. Received: seed={seed}"
            )
        self.seed = seed

    def get_config(self):
        """What makes an initializer like this."""
        seed = self._given_seed
        seed = objects.serialize(seed) if hasattr(seed, "get_config") else seed
        return {"seed": seed, **{name: getattr(self, name) for name in self._SETTINGS}}

    @classmethod
    def from_config(cls, config):
        """An initializer like the one whose get_config() this was."""
        return cls(**{key: value for key, value in config.items() if key != "dtype"})


@_initializer("random_normal", "normal")
class RandomNormal(RandomInitializer):
    """Numbers from a normal distribution."""

    _SETTINGS = ("mean", "stddev")

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(seed)
        self.mean, self.stddev = mean, stddev

    def __call__(self, shape, dtype=None, **kwargs):
        return random_numbers.normal(shape, self.mean, self.stddev, dtype, self.seed)


@_initializer("truncated_normal")
class TruncatedNormal(RandomNormal):
    """Numbers from a normal distribution, within two standard deviations of the mean."""

    def __call__(self, shape, dtype=None, **kwargs):
        return random_numbers.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


@_initializer("random_uniform", "uniform")
class RandomUniform(RandomInitializer):
    """Numbers from `minval` to `maxval`."""

    _SETTINGS = ("minval", "maxval")

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(seed)
        self.minval, self.maxval = minval, maxval

    def __call__(self, shape, dtype=None, **kwargs):
        return random_numbers.uniform(shape, self.minval, self.maxval, dtype, self.seed)


def _fans(shape, input_axes, output_axes):
    """The numbers of inputs and outputs of a kernel of that shape."""
    shape = [int(d) for d in shape]
    if input_axes is not None and output_axes is not None:
        return (math.prod(shape[i] for i in axes) for axes in (input_axes, output_axes))
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


@_initializer("variance_scaling")
class VarianceScaling(RandomInitializer):
    """Random numbers whose variance is `scale` by the number of inputs, outputs or their mean."""

    _SETTINGS = ("scale", "mode", "distribution", "input_axes", "output_axes")

    def __init__(
        self,
        scale=1.0,
        mode="fan_in",
        distribution="truncated_normal",
        seed=None,
        input_axes=None,
        output_axes=None,
    ):
        distribution = distribution.lower()
        distribution = "truncated_normal" if distribution == "normal" else distribution
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(
                f"Invalid `mode` argument: {mode}. Please use one of "
                "{'fan_in', 'fan_out', 'fan_avg'}"
            )
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                f"Invalid `distribution` argument: {distribution}. Please use one of "
                "{'uniform', 'truncated_normal', 'untruncated_normal'}"
            )
        super().__init__(seed)
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.input_axes, self.output_axes = input_axes, output_axes

    def __call__(self, shape, dtype=None, **kwargs):
        before, after = _fans(shape, self.input_axes, self.output_axes)
        count = {"fan_in": before, "fan_out": after, "fan_avg": (before + after) / 2.0}[self.mode]
        scale = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return random_numbers.uniform(shape, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random_numbers.normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        stddev = math.sqrt(scale) / 0.87962566103423978  # what truncating takes away
        return random_numbers.truncated_normal(shape, 0.0, stddev, dtype, self.seed)


def _scaled(name, snake_name, scale, mode, distribution):
    """A class of VarianceScaling with settings of its own."""

    def __init__(self, seed=None, input_axes=None, output_axes=None):
        VarianceScaling.__init__(self, scale, mode, distribution, seed, input_axes, output_axes)

    body = {"__init__": __init__, "_SETTINGS": ("input_axes", "output_axes")}
    body["__doc__"] = f"Random numbers of variance {scale:g} by {mode} ({distribution})."
    body["__module__"] = __name__
    return _initializer(snake_name)(type(name, (VarianceScaling,), body))


GlorotUniform = _scaled("GlorotUniform", "glorot_uniform", 1.0, "fan_avg", "uniform")
GlorotNormal = _scaled("GlorotNormal", "glorot_normal", 1.0, "fan_avg", "truncated_normal")
HeNormal = _scaled("HeNormal", "he_normal", 2.0, "fan_in", "truncated_normal")
HeUniform = _scaled("HeUniform", "he_uniform", 2.0, "fan_in", "uniform")
LecunNormal = _scaled("LecunNormal", "lecun_normal", 1.0, "fan_in", "truncated_normal")
LecunUniform = _scaled("LecunUniform", "lecun_uniform", 1.0, "fan_in", "uniform")


@_initializer("orthogonal", "OrthogonalInitializer")
class Orthogonal(RandomInitializer):
    """A matrix whose rows or columns are orthogonal, times `gain`."""

    _SETTINGS = ("gain",)

    def __init__(self, gain=1.0, seed=None):
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape, dtype=None, **kwargs):
        shape = [int(d) for d in shape]
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        drawn = random_numbers.normal(
            (max(columns, rows), min(columns, rows)), seed=self.seed, dtype=dtype
        )
        q, r = linalg_ops.qr(drawn)
        q = q * math_ops.sign(rearrange_ops.matrix_diag_part(r))
        if rows < columns:
            q = array_ops.transpose(q)
        return math_ops.cast(self.gain, q.dtype) * array_ops.reshape(q, shape)


for _name in ("Zeros", "zeros", "Ones", "ones", "Constant", "constant", "Identity", "identity"):
    objects.table(_KIND)[_name] = objects.table("initializer")[_name]
objects.table(_KIND)["IdentityInitializer"] = Identity
random_normal, random_uniform, truncated_normal = RandomNormal, RandomUniform, TruncatedNormal
glorot_normal, glorot_uniform = GlorotNormal, GlorotUniform
he_normal, he_uniform, variance_scaling = HeNormal, HeUniform, VarianceScaling
lecun_normal, lecun_uniform, orthogonal = LecunNormal, LecunUniform, Orthogonal
zeros, ones, constant, identity = Zeros, Ones, Constant, Identity
OrthogonalInitializer, IdentityInitializer = Orthogonal, Identity
