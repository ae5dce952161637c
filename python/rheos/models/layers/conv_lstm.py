"""Long short-term memory whose gates are convolutions of images."""

from rheos.framework import tensor_shape
from rheos.layers import values
from rheos.layers.convolutional import check_format, check_padding, numbers, op_format
from rheos.layers.input_spec import InputSpec
from rheos.layers.layer import Layer
from rheos.models import objects, random_numbers
from rheos.models.defaults import image_data_format
from rheos.models.initializers import Ones
from rheos.models.layers.core import in_training, seed_generator
from rheos.models.layers.recurrent import RNN, several
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import array_ops
from rheos.ops.nn import nn_conv, nn_ops

_layer = objects.known("layer")

_ARGUMENTS = (
    "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
    "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer",
    "bias_initializer", "unit_forget_bias", "kernel_regularizer", "recurrent_regularizer",
    "bias_regularizer", "kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout",
    "recurrent_dropout",
)  # fmt: skip
_DEFAULTS = {
    "strides": 1,
    "padding": "valid",
    "dilation_rate": 1,
    "activation": "tanh",
    "recurrent_activation": "hard_sigmoid",
    "use_bias": True,
    "kernel_initializer": "glorot_uniform",
    "recurrent_initializer": "orthogonal",
    "bias_initializer": "zeros",
    "unit_forget_bias": True,
    "dropout": 0.0,
    "recurrent_dropout": 0.0,
}


class ConvLSTMCell(Layer):
    """A cell of images of a rank (batch, ..., channels), and states of the output's shape."""

    def __init__(self, rank, *args, **kwargs):
        given = {name: _DEFAULTS.get(name) for name in _ARGUMENTS}
        if not values.runs_in_session():
            given["recurrent_activation"] = "sigmoid"
        given.update(zip(_ARGUMENTS, args))
        given.update({name: kwargs.pop(name) for name in _ARGUMENTS if name in kwargs})
        seed = kwargs.pop("seed", None)
        super().__init__(**kwargs)
        self.seed = seed
        self.seed_generator = seed_generator(seed)
        for name, value in resolved(given).items():
            setattr(self, name, value)
        self.rank = rank
        for name in ("kernel_size", "strides", "dilation_rate"):
            sizes = numbers(getattr(self, name), rank, name)
            setattr(self, name, values.check_positive(name, sizes))
        self.padding = check_padding(self.padding)
        self.data_format = check_format(self.data_format or image_data_format())
        self._masks = {}

    @property
    def state_size(self):
        """The number of channels of the output and of the memory."""
        return [self.filters, self.filters]

    @property
    def _axis(self):
        return 1 if self.data_format == "channels_first" else -1

    def build(self, input_shape):
        channels = tensor_shape.as_shape(input_shape).size_at(self._axis)
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        for name, size, kind in (
            ("kernel", channels, "kernel"),
            ("recurrent_kernel", self.filters, "recurrent"),
        ):
            variable = self.add_weight(
                name,
                shape=(*self.kernel_size, size, self.filters * 4),
                initializer=getattr(self, f"{kind}_initializer"),
                regularizer=getattr(self, f"{kind}_regularizer"),
                constraint=getattr(self, f"{kind}_constraint"),
            )
            setattr(self, name, variable)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=(self.filters * 4,),
                initializer=self._first_bias if self.unit_forget_bias else self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def _first_bias(self, shape, dtype=None, **kwargs):
        parts = [
            self.bias_initializer((self.filters,), dtype=dtype),
            Ones()((self.filters,), dtype=dtype),
            self.bias_initializer((self.filters * 2,), dtype=dtype),
        ]
        return array_ops.concat(parts, axis=0)

    def _convolve(self, x, kernel, is_state):
        return nn_conv.convolution(
            x,
            kernel,
            "SAME" if is_state else self.padding.upper(),
            strides=[1] * self.rank if is_state else list(self.strides),
            dilation_rate=[1] * self.rank if is_state else list(self.dilation_rate),
            data_format=op_format(self.data_format, self.rank + 2),
        )

    def reset_dropout_mask(self):
        """Forgets the mask of the inputs, for the next sequence."""
        self._masks.pop("input", None)

    def reset_recurrent_dropout_mask(self):
        """Forgets the mask of the states, for the next sequence."""
        self._masks.pop("state", None)

    def _drawn(self, ones, rate):
        if self.seed_generator is None:
            return nn_ops.dropout(ones, rate=rate)
        return random_numbers.dropout(ones, rate, seed=self.seed_generator)

    def _products(self, kind, rate, x, kernel, is_state, training):
        """The convolutions for the four gates, of inputs of which some are dropped."""
        kernels = array_ops.split(kernel, 4, axis=self.rank + 1)
        if not rate:
            return [self._convolve(x, k, is_state) for k in kernels]
        if kind not in self._masks:
            ones = array_ops.ones_like(x)
            self._masks[kind] = [
                in_training(
                    training,
                    lambda: self._drawn(ones, rate),
                    lambda: array_ops.identity(ones),
                )
                for _ in range(4)
            ]
        return [self._convolve(x * m, k, is_state) for m, k in zip(self._masks[kind], kernels)]

    def call(self, inputs, states, training=None):
        before, memory = states
        x = self._products("input", self.dropout, inputs, self.kernel, False, training)
        if self.bias is not None:
            shape = [self.filters, *[1] * self.rank] if self._axis == 1 else [self.filters]
            parts = [array_ops.reshape(b, shape) for b in array_ops.split(self.bias, 4)]
            x = [a + b for a, b in zip(x, parts)]
        h = self._products(
            "state", self.recurrent_dropout, before, self.recurrent_kernel, True, training
        )
        i = self.recurrent_activation(x[0] + h[0])
        f = self.recurrent_activation(x[1] + h[1])
        memory = f * memory + i * self.activation(x[2] + h[2])
        output = self.recurrent_activation(x[3] + h[3]) * self.activation(memory)
        return output, [output, memory]

    def get_config(self):
        return {**super().get_config(), **config_of(self, _ARGUMENTS)}


class _ConvLSTM(RNN):
    """Convolutional long short-term memory over images of a rank."""

    _RANK = None

    def __init__(self, filters, kernel_size, *args, **kwargs):
        own = dict(zip(_ARGUMENTS[2:], args))
        own.update({name: kwargs.pop(name) for name in _ARGUMENTS[2:] if name in kwargs})
        activity = resolved({"activity_regularizer": kwargs.pop("activity_regularizer", None)})
        own.update({"seed": kwargs.pop("seed")} if "seed" in kwargs else {})
        super().__init__(ConvLSTMCell(self._RANK, filters, kernel_size, **own), **kwargs)
        self.activity_regularizer = activity["activity_regularizer"]
        self.input_spec = InputSpec(ndim=self._RANK + 3)

    def __getattr__(self, name):
        if name in _ARGUMENTS and "cell" in self.__dict__:
            return getattr(self.cell, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_initial_state(self, inputs):
        """Zeros of the shape that the cell gives for the first step."""
        cell = self.cell
        first = array_ops.zeros_like(inputs[:, 0])
        channels = first.shape.as_list()[cell._axis]
        zeros = array_ops.zeros((*cell.kernel_size, channels, cell.filters), inputs.dtype)
        state = cell._convolve(first, zeros, False)
        return [state, state]

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        cell = self.cell
        first = 3 if cell.data_format == "channels_first" else 2
        space = []
        for i in range(self._RANK):
            size = dims[first + i]
            if size is not None:
                taps = (cell.kernel_size[i] - 1) * cell.dilation_rate[i] + 1
                size = size - taps + 1 if cell.padding == "valid" else size
                size = -(-size // cell.strides[i])
            space.append(size)
        one = [cell.filters, *space] if first == 3 else [*space, cell.filters]
        time = dims[1:2] if self.return_sequences else []
        shape = tensor_shape.TensorShape([dims[0], *time, *one])
        if self.return_state:
            state = tensor_shape.TensorShape([dims[0], *one])
            return several(shape, state, state)
        return shape

    def get_config(self):
        config = {**super().get_config(), **config_of(self.cell, _ARGUMENTS)}
        config["activity_regularizer"] = objects.serialize(self.activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


@_layer
class ConvLSTM1D(_ConvLSTM):
    """Convolutional long short-term memory of (batch, time, steps, channels)."""

    _RANK = 1


@_layer
class ConvLSTM2D(_ConvLSTM):
    """Convolutional long short-term memory of films (batch, time, height, width, channels)."""

    _RANK = 2


@_layer
class ConvLSTM3D(_ConvLSTM):
    """Convolutional long short-term memory of volumes (batch, time, x, y, z, channels)."""

    _RANK = 3
