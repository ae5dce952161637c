"""Layers that shift and scale numbers: by settings, or by what data are like."""

import numpy as np

from rheos.framework import tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.defaults import epsilon, floatx
from rheos.models.layers.categories import batches_of
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops

_layer = objects.known("layer")


def as_floats(x, dtype):
    """A tensor of a dtype."""
    return math_ops.cast(convert_to_tensor(x), dtype)


@_layer
class Rescaling(Layer):
    """inputs * scale + offset."""

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**{"dtype": floatx(), **kwargs})
        self.scale, self.offset = scale, offset
        self.supports_masking = True

    def call(self, inputs):
        dtype = self.compute_dtype
        scale, offset = (as_floats(np.asarray(x), dtype) for x in (self.scale, self.offset))
        return as_floats(inputs, dtype) * scale + offset

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        plain = {name: _plain(getattr(self, name)) for name in ("scale", "offset")}
        return {**super().get_config(), **plain}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        for name in ("scale", "offset"):
            if isinstance(config.get(name), dict):  # an array, as Keras 3 writes it
                config[name] = np.asarray(config[name]["config"]["value"])
        return cls(**config)


def _plain(value):
    return np.asarray(value).tolist() if hasattr(value, "shape") else value


def _features(batch):
    return batch[0] if isinstance(batch, tuple) else batch


@_layer
class Normalization(Layer):
    """(inputs - mean) / the root of the variance, along some axes: given, or learned by adapt()."""

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        super().__init__(**{"dtype": floatx(), **kwargs})
        if (mean is not None) != (variance is not None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Received: "
                f"mean={mean} and variance={variance}"
            )
        axis = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if mean is not None and np.shape(mean) != np.shape(variance):
            raise ValueError(
                "When setting values directly, `mean` and `variance` must have the same shape. "
                f"Received: mean shape {np.shape(mean)} and variance shape {np.shape(variance)}"
            )
        self.axis, self.invert = axis, invert
        self.input_mean, self.input_variance = mean, variance
        self.supports_masking = True
        self._kept = None

    def build(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        rank = len(dims)
        if any(a < -rank or a >= rank for a in self.axis):
            raise ValueError(
                "All `axis` values must be in the range [-ndim, ndim). Received inputs with "
                f"ndim={rank}, while axis={self.axis}"
            )
        self._kept = sorted(a % rank for a in self.axis)
        for a in self._kept:
            if dims[a] is None:
                raise ValueError(
                    "All `axis` values to be kept must have a known shape. Received axis="
                    f"{self.axis}, inputs.shape={tuple(dims)}, with unknown axis at index {a}"
                )
        self._rank = rank
        self._shape = [dims[a] for a in self._kept]
        self._broadcast = [dims[a] if a in self._kept else 1 for a in range(rank)]
        if self.input_mean is None:
            for name, start in (("mean", "zeros"), ("variance", "ones")):
                variable = self.add_weight(
                    name, shape=self._shape, initializer=start, trainable=False, dtype=self.dtype
                )
                setattr(self, f"adapt_{name}", variable)
            self.count = self.add_weight(
                "count", shape=(), dtype="int32", initializer="zeros", trainable=False
            )
        self.built = True

    def _moment(self, name):
        given = getattr(self, f"input_{name}")
        if given is None:
            return array_ops.reshape(getattr(self, f"adapt_{name}"), self._broadcast)
        given = np.asarray(given, self.dtype)
        shape = [1] * self._rank
        for i in range(1, given.ndim + 1):
            shape[self._kept[-i]] = given.shape[-i]
        return convert_to_tensor(np.broadcast_to(given.reshape(shape), self._broadcast).copy())

    @property
    def mean(self):
        """What is subtracted."""
        return None if self._kept is None else self._moment("mean")

    @property
    def variance(self):
        """The square of what is divided by."""
        return None if self._kept is None else self._moment("variance")

    def adapt(self, data, batch_size=None, steps=None):
        """Sets mean and variance to those of data: a dataset, an iterable of batches, an array."""
        if self.input_mean is not None:
            raise ValueError(
                "Cannot `adapt` a Normalization layer that is initialized with static `mean` and "
                "`variance`."
            )
        total, square, count = 0.0, 0.0, 0
        for batch in batches_of(_batched(data), steps):
            batch = np.asarray(_features(batch))
            if not self.built:
                self._maybe_build(convert_to_tensor(batch.astype(self.dtype)))
            self._check_fits(batch)
            axes = tuple(a for a in range(batch.ndim) if a not in self._kept)
            batch = batch.astype("float64")
            mean, variance = batch.mean(axes), batch.var(axes)
            size = int(np.prod([batch.shape[a] for a in axes])) if axes else 1
            count += size
            share = size / count
            moved = total * (1 - share) + mean * share
            square = (square + (total - moved) ** 2) * (1 - share)
            square = square + (variance + (mean - moved) ** 2) * share
            total = moved
        if not count:
            raise ValueError("adapt() received no batches.")
        values.set_values([(self.adapt_mean, total), (self.adapt_variance, square)])

    def _check_fits(self, batch):
        found = [batch.shape[a] for a in self._kept]
        if found != self._shape:
            raise ValueError(
                f"The layer was built for {self._shape} along axis {self.axis}, but adapt() is "
                f"being called with data with an incompatible shape, data.shape={batch.shape}"
            )

    def call(self, inputs):
        inputs = as_floats(inputs, self.compute_dtype)
        mean, variance = (math_ops.cast(x, inputs.dtype) for x in (self.mean, self.variance))
        scale = math_ops.maximum(
            math_ops.sqrt(variance), convert_to_tensor(epsilon(), inputs.dtype.base_dtype)
        )
        return mean + inputs * scale if self.invert else (inputs - mean) / scale

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {
            **super().get_config(),
            "axis": self.axis,
            "invert": self.invert,
            "mean": _plain(np.asarray(self.input_mean)) if self.input_mean is not None else None,
            "variance": (
                _plain(np.asarray(self.input_variance)) if self.input_mean is not None else None
            ),
        }


def _batched(data):
    """A dataset of batches for one of single vectors; other data as they are."""
    spec = getattr(data, "element_spec", None)
    spec = spec[0] if isinstance(spec, tuple) else spec
    if spec is not None and getattr(spec, "shape", None) is not None and spec.shape.ndims == 1:
        return data.batch(128)
    if isinstance(data, (list, tuple)) and data and np.ndim(data[0]) >= 2:
        return iter(data)
    return data
