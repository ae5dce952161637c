"""Convolutions with a kernel of its own at each place."""

from rheos.framework import tensor_shape
from rheos.layers.convolutional import check_format, check_padding, numbers
from rheos.layers.input_spec import InputSpec
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.defaults import image_data_format
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops

_layer = objects.known("layer")

_ARGUMENTS = (
    "filters", "kernel_size", "strides", "padding", "data_format", "activation", "use_bias",
    "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer",
    "activity_regularizer", "kernel_constraint", "bias_constraint", "implementation",
)  # fmt: skip
_DEFAULTS = {
    "strides": 1,
    "padding": "valid",
    "use_bias": True,
    "kernel_initializer": "glorot_uniform",
    "bias_initializer": "zeros",
    "implementation": 1,
}


class _LocallyConnected(Layer):
    """Kernel (places, taps * channels, filters), bias (places..., filters)."""

    _RANK = None

    def __init__(self, *args, **kwargs):
        given = {name: _DEFAULTS.get(name) for name in _ARGUMENTS}
        given.update(zip(_ARGUMENTS, args))
        given.update({name: kwargs.pop(name) for name in _ARGUMENTS if name in kwargs})
        super().__init__(**kwargs)
        for name, value in resolved(given).items():
            setattr(self, name, value)
        rank = self._RANK
        self.kernel_size = numbers(self.kernel_size, rank, "kernel_size")
        self.strides = numbers(self.strides, rank, "strides")
        self.padding = check_padding(self.padding)
        self.data_format = check_format(self.data_format or image_data_format())
        if self.padding != "valid" or self.implementation != 1:
            raise NotImplementedError(
                f"{type(self).__name__}: padding='valid' with implementation=1 only"
            )
        self.input_spec = InputSpec(ndim=rank + 2)

    def _space(self, dims):
        first = 2 if self.data_format == "channels_first" else 1
        sizes = dims[first : first + self._RANK]
        if None in sizes:
            raise ValueError(
                f"the sizes of the inputs of {type(self).__name__} have to be known: {dims}"
            )
        return [
            (size - taps) // stride + 1
            for size, taps, stride in zip(sizes, self.kernel_size, self.strides)
        ]

    def build(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        channels = dims[1 if self.data_format == "channels_first" else -1]
        space, taps = self._space(dims), channels
        for size in self.kernel_size:
            taps *= size
        places = 1
        for size in space:
            places *= size
        self.kernel = self.add_weight(
            "kernel",
            shape=(places, taps, self.filters),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=(*space, self.filters),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs):
        is_first = self.data_format == "channels_first"
        if is_first:
            inputs = array_ops.transpose(inputs, [0, *range(2, self._RANK + 2), 1])
        dims = inputs.shape.as_list()
        space = self._space([dims[0], None, *dims[1:-1]] if is_first else dims)
        windows = []
        for place in range(_product(space)):
            window = inputs
            for axis in reversed(range(self._RANK)):
                at = place % space[axis]
                place //= space[axis]
                start = at * self.strides[axis]
                rows = [slice(None)] * (self._RANK + 2)
                rows[axis + 1] = slice(start, start + self.kernel_size[axis])
                window = window[tuple(rows)]
            windows.append(array_ops.reshape(window, [-1, int(self.kernel.shape[1])]))
        outputs = math_ops.matmul(array_ops.stack(windows), self.kernel)  # (places, batch, filters)
        outputs = array_ops.transpose(outputs, [1, 0, 2])
        outputs = array_ops.reshape(outputs, [-1, *space, self.filters])
        if self.bias is not None:
            outputs += self.bias
        if is_first:
            outputs = array_ops.transpose(outputs, [0, self._RANK + 1, *range(1, self._RANK + 1)])
        return self.activation(outputs)

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        space = self._space(dims)
        if self.data_format == "channels_first":
            return tensor_shape.TensorShape([dims[0], self.filters, *space])
        return tensor_shape.TensorShape([dims[0], *space, self.filters])

    def get_config(self):
        return {**super().get_config(), **config_of(self, _ARGUMENTS)}


def _product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


@_layer
class LocallyConnected1D(_LocallyConnected):
    """Convolutions of lines with a kernel at each step."""

    _RANK = 1


@_layer
class LocallyConnected2D(_LocallyConnected):
    """Convolutions of images with a kernel at each place."""

    _RANK = 2
