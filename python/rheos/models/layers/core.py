"""Dense layers, activations, dropout, shapes, functions as layers."""

import base64
import inspect
import marshal
import types

import numpy as np

from rheos.framework import nest, tensor_shape
from rheos.layers import core, values
from rheos.layers.input_spec import InputSpec
from rheos.layers.layer import Layer
from rheos.models import activations, objects, random_numbers
from rheos.models.layers.settings import config_of, resolved
from rheos.models.regularizers import L1L2
from rheos.ops.array import array_ops
from rheos.ops.flow.smart_cond import known_flag, smart_cond
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops

_layer = objects.known("layer")


def in_training(training, function, otherwise):
    """What a function gives in training, or another one where it is none."""
    if training is None:
        training = values.learning_phase()
    return smart_cond(known_flag(training), function, otherwise)


def seed_generator(seed):
    """What a layer draws its random numbers with in version 2, None in version 1."""
    return None if values.runs_in_session() else random_numbers.SeedGenerator(seed)


def _normal(layer, inputs, mean, stddev):
    """Normal numbers of the shape of a layer's inputs."""
    shape = array_ops.shape(inputs)
    if layer.seed_generator is None:
        return random_ops.random_normal(shape, mean, stddev, inputs.dtype, seed=layer.seed)
    return random_numbers.normal(shape, mean, stddev, inputs.dtype, layer.seed_generator)


@_layer
class Dense(core.DenseBody, Layer):
    """activation(inputs @ kernel + bias): inputs (..., n), outputs (..., units).

    >>> layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    >>> print(layer(tf.constant([[1.0, 2.0]])).numpy())
    [[3. 3.]]
    """

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            int(values.check_positive("units", units)),
            use_bias=use_bias,
            **resolved(
                {
                    "activation": activation,
                    "kernel_initializer": kernel_initializer,
                    "bias_initializer": bias_initializer,
                    "kernel_regularizer": kernel_regularizer,
                    "bias_regularizer": bias_regularizer,
                    "activity_regularizer": activity_regularizer,
                    "kernel_constraint": kernel_constraint,
                    "bias_constraint": bias_constraint,
                }
            ),
            **kwargs,
        )
        self.supports_masking = True

    def get_config(self):
        names = (
            "units", "activation", "use_bias", "kernel_initializer", "bias_initializer",
            "kernel_regularizer", "bias_regularizer", "activity_regularizer",
            "kernel_constraint", "bias_constraint",
        )  # fmt: skip
        return {**super().get_config(), **config_of(self, names)}


@_layer
class Activation(Layer):
    """A function of its inputs, element by element."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs):
        return self.activation(inputs)

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), **config_of(self, ["activation"])}


@_layer
class Dropout(core.DropoutBody, Layer):
    """In training sets elements to 0 with probability `rate`, and scales the others up."""

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        if not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value {rate} received for `rate`, expected a value between 0 and 1."
            )
        super().__init__(rate, noise_shape, seed, **kwargs)
        self.supports_masking = True
        self.seed_generator = seed_generator(seed) if rate > 0 else None

    def call(self, inputs, training=None):
        if training is None:
            training = values.learning_phase()
        if self.seed_generator is None:
            return super().call(inputs, training if self.rate > 0 else False)

        def dropped():
            noise_shape = self._noise_shape(inputs)
            return random_numbers.dropout(inputs, self.rate, noise_shape, self.seed_generator)

        return smart_cond(known_flag(training), dropped, lambda: array_ops.identity(inputs))

    def get_config(self):
        return {**super().get_config(), **config_of(self, ["rate", "noise_shape", "seed"])}


class _SpatialDropout(Dropout):
    """Dropout of whole channels."""

    _RANK = None

    def __init__(self, rate, data_format=None, seed=None, **kwargs):
        super().__init__(rate, seed=seed, **kwargs)
        self.data_format = data_format or "channels_last"
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                f'data_format must be in {{"channels_last", "channels_first"}}: {self.data_format}'
            )
        self.input_spec = InputSpec(ndim=self._RANK + 2)

    def _noise_shape(self, inputs):
        shape = array_ops.shape(inputs)
        ones = [1] * self._RANK
        if self.data_format == "channels_first":
            return array_ops.stack([shape[0], shape[1], *ones])
        return array_ops.stack([shape[0], *ones, shape[self._RANK + 1]])

    def get_config(self):
        config = super().get_config()
        del config["noise_shape"]
        return {**config, **({"data_format": self.data_format} if self._RANK > 1 else {})}


@_layer
class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole channels of lines."""

    _RANK = 1


@_layer
class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole channels of images."""

    _RANK = 2


@_layer
class SpatialDropout3D(_SpatialDropout):
    """Dropout of whole channels of volumes."""

    _RANK = 3


@_layer
class GaussianNoise(Layer):
    """In training adds normal numbers of a standard deviation."""

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.stddev = values.check_within("stddev", stddev, 0, 1)
        self.seed = seed
        self.seed_generator = seed_generator(seed) if stddev > 0 else None

    def call(self, inputs, training=None):
        def noised():
            return inputs + _normal(self, inputs, 0.0, self.stddev)

        return in_training(training, noised, lambda: array_ops.identity(inputs))

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        seed = {} if self.seed is None else {"seed": self.seed}
        return {**super().get_config(), "stddev": self.stddev, **seed}


@_layer
class GaussianDropout(Layer):
    """In training multiplies by normal numbers of mean 1 and variance rate / (1 - rate)."""

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.rate = values.check_within("rate", rate, 0, 1)
        self.seed = seed
        self.seed_generator = seed_generator(seed) if rate > 0 else None

    def call(self, inputs, training=None):
        if not 0 < self.rate < 1:
            return inputs

        def noised():
            stddev = float(np.sqrt(self.rate / (1.0 - self.rate)))
            return inputs * _normal(self, inputs, 1.0, stddev)

        return in_training(training, noised, lambda: array_ops.identity(inputs))

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}


@_layer
class AlphaDropout(Layer):
    """Dropout that keeps mean and variance of what SELU gives."""

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.rate = values.check_within("rate", rate, 0, 1)
        self.noise_shape = noise_shape
        self.seed = seed
        self.seed_generator = seed_generator(seed)

    def call(self, inputs, training=None):
        if not 0.0 < self.rate < 1.0:
            return inputs
        shape = self.noise_shape if self.noise_shape else array_ops.shape(inputs)
        lowest = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946

        def dropped():
            if self.seed_generator is None:
                drawn = random_ops.random_uniform(shape, seed=self.seed, dtype=inputs.dtype)
            else:
                generator = self.seed_generator
                drawn = random_numbers.uniform(shape, dtype=inputs.dtype, seed=generator)
            kept = math_ops.cast(math_ops.greater_equal(drawn, self.rate), inputs.dtype)
            a = ((1 - self.rate) * (1 + self.rate * lowest**2)) ** -0.5
            b = -a * lowest * self.rate
            return a * (inputs * kept + lowest * (1 - kept)) + b

        return in_training(training, dropped, lambda: array_ops.identity(inputs))

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}


@_layer
class Flatten(core.FlattenBody, Layer):
    """Makes a matrix (batch, rest) of its inputs.

    >>> print(tf.keras.layers.Flatten()(tf.ones([2, 3, 4])).shape)
    (2, 12)
    """

    def call(self, inputs):
        if inputs.shape.ndims == 1:
            return array_ops.expand_dims(inputs, 1)
        return super().call(inputs)

    def compute_output_shape(self, input_shape):
        shape = tensor_shape.as_shape(input_shape)
        if shape.ndims == 1:
            return shape.concatenate([1])
        return super().compute_output_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


@_layer
class Reshape(Layer):
    """Another shape of each sample; one size may be -1."""

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs):
        wanted = (array_ops.shape(inputs)[0], *self.target_shape)
        outputs = array_ops.reshape(inputs, wanted)
        if not values.runs_in_session():
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        target = list(self.target_shape)
        if None in dims[1:]:
            return tensor_shape.TensorShape([dims[0], *(None if d == -1 else d for d in target)])
        size = int(np.prod(dims[1:]))
        known = int(np.prod([d for d in target if d != -1]))
        if target.count(-1) > 1 or (-1 not in target and known != size):
            raise ValueError("total size of new array must be unchanged")
        if -1 in target:
            if not known or size % known:
                raise ValueError("total size of new array must be unchanged")
            target[target.index(-1)] = size // known
        return tensor_shape.TensorShape([dims[0], *target])

    def get_config(self):
        return {**super().get_config(), "target_shape": self.target_shape}


@_layer
class Permute(Layer):
    """Another order of the dimensions, which are numbered from 1, the batch aside."""

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in "
                "`dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs):
        return array_ops.transpose(inputs, perm=(0, *self.dims))

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        return tensor_shape.TensorShape([dims[0], *(dims[d] for d in self.dims)])

    def get_config(self):
        return {**super().get_config(), "dims": self.dims}


@_layer
class RepeatVector(Layer):
    """Each vector n times: (batch, features) to (batch, n, features)."""

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        self.n = values.check_positive("n", n)
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs):
        outputs = array_ops.tile(array_ops.expand_dims(inputs, 1), [1, self.n, 1])
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        return tensor_shape.TensorShape([dims[0], self.n, dims[1]])

    def get_config(self):
        return {**super().get_config(), "n": self.n}


@_layer
class Masking(Layer):
    """Masks the steps whose features all are `mask_value`."""

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value

    def compute_mask(self, inputs, mask=None):
        return math_ops.reduce_any(math_ops.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs):
        kept = math_ops.reduce_any(
            math_ops.not_equal(inputs, self.mask_value), axis=-1, keepdims=True
        )
        outputs = inputs * math_ops.cast(kept, inputs.dtype)
        outputs._keras_mask = array_ops.squeeze(kept, axis=-1)
        return outputs

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "mask_value": self.mask_value}


@_layer
class ActivityRegularization(Layer):
    """Adds a loss of its inputs, which it passes on."""

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "l1": self.l1, "l2": self.l2}


def _dumped(function):
    """(code, defaults, closure) of a function, as a configuration has it."""
    code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
    cells = function.__closure__
    closure = None if cells is None else tuple(cell.cell_contents for cell in cells)
    return code, function.__defaults__, closure


def _loaded(dumped):
    code, defaults, closure = dumped
    if closure is not None:
        closure = tuple(types.CellType(value) for value in closure)
    code = marshal.loads(base64.decodebytes(code.encode("ascii")))
    defaults = tuple(defaults) if isinstance(defaults, list) else defaults
    return types.FunctionType(code, globals(), argdefs=defaults, closure=closure)


@_layer
class Lambda(Layer):
    """A function as a layer."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        if not callable(function) and not values.runs_in_session():
            raise TypeError(f"`function` is called, but got {function!r}")
        self.function = function
        self.arguments = arguments or {}
        self.supports_masking = mask is not None
        self.mask = mask
        self._output_shape = output_shape

    def call(self, inputs, mask=None, training=None):
        arguments = dict(self.arguments)
        try:
            names = inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            names = ()
        if "mask" in names:
            arguments["mask"] = mask
        if "training" in names:
            arguments["training"] = training
        return self.function(inputs, **arguments)

    def compute_mask(self, inputs, mask=None):
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape):
        if self._output_shape is None:
            raise NotImplementedError("compute_output_shape of Lambda: give `output_shape`")
        if callable(self._output_shape):
            return tensor_shape.as_shape(self._output_shape(input_shape))
        batch = tensor_shape.as_shape(nest.flatten(input_shape)[0])[0]
        return tensor_shape.TensorShape([batch]).concatenate(self._output_shape)

    def get_config(self):
        config = {**super().get_config()}
        for key, value in (
            ("function", self.function),
            ("output_shape", self._output_shape),
            ("mask", self.mask),
        ):
            if isinstance(value, types.LambdaType) and value.__name__ == "<lambda>":
                config[key], config[f"{key}_type"] = _dumped(value), "lambda"
            elif callable(value):
                config[key], config[f"{key}_type"] = value.__name__, "function"
            else:
                config[key], config[f"{key}_type"] = value, "raw"
        config["arguments"] = self.arguments
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for key in ("function", "output_shape", "mask"):
            kind = config.pop(f"{key}_type", "raw")
            config.pop("module", None), config.pop(f"{key}_module", None)
            value = config.get(key)
            if kind == "function":
                config[key] = objects.find("layer function", value, custom_objects)
            elif kind == "lambda":
                config[key] = _loaded(value)
        return cls(**config)


@_layer
class Softmax(Layer):
    """exp(x) by the sum of it along an axis."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.axis = axis

    def call(self, inputs, mask=None):
        if mask is not None:
            inputs += (1.0 - math_ops.cast(mask, inputs.dtype)) * -1e9
        if isinstance(self.axis, (list, tuple)):
            if len(self.axis) > 1:
                total = math_ops.reduce_logsumexp(inputs, axis=self.axis, keepdims=True)
                return math_ops.exp(inputs - total)
            return nn_ops.softmax(inputs, axis=self.axis[0])
        return nn_ops.softmax(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}
