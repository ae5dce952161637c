"""Pooling layers: the maximum or the mean over windows.

`pool_size` and `strides` are one number or one for each spatial dimension; `padding` and
`data_format` are those of the convolution layers.
"""

from rheos.framework import tensor_shape
from rheos.layers import base, values
from rheos.layers.convolutional import check_format, check_padding, numbers, op_format
from rheos.ops.array import array_ops
from rheos.ops.nn import nn_pool


class PoolingBody:
    """Pooling of `_RANK` spatial dimensions by a function of nn_pool, which the subclass says."""

    _FUNCTION = _RANK = None

    def __init__(
        self,
        pool_size,
        strides,
        padding="valid",
        data_format="channels_last",
        name=None,
        **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        rank = self.rank = self._RANK
        self.pool_size = values.check_positive("pool_size", numbers(pool_size, rank, "pool_size"))
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        self.strides = values.check_positive("strides", numbers(strides, rank, "strides"))
        self.padding = check_padding(padding)
        self.data_format = check_format(data_format)
        self.input_spec = base.InputSpec(ndim=rank + 2)

    def call(self, inputs):
        size, strides, rank = self.pool_size, self.strides, self.rank
        first = self.data_format == "channels_first"
        if rank == 1:
            # A line is an image of one column.
            place = 3 if first else 2
            inputs = array_ops.expand_dims(inputs, place)
            size, strides, rank = (*size, 1), (*strides, 1), 2
        outputs = self._FUNCTION(
            inputs,
            ksize=(1, 1, *size) if first else (1, *size, 1),
            strides=(1, 1, *strides) if first else (1, *strides, 1),
            padding=self.padding.upper(),
            data_format=op_format(self.data_format, rank + 2),
        )
        return array_ops.squeeze(outputs, place) if self.rank == 1 else outputs

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        start = 2 if self.data_format == "channels_first" else 1
        for i in range(self.rank):
            if dims[start + i] is not None:
                size = dims[start + i]
                if self.padding == "valid":
                    size -= self.pool_size[i] - 1
                dims[start + i] = -(-size // self.strides[i])
        return tensor_shape.TensorShape(dims)


class AveragePooling1D(PoolingBody, base.Layer):
    """The mean over windows of lines (batch, width, channels)."""

    _FUNCTION, _RANK = staticmethod(nn_pool.avg_pool), 1


class AveragePooling2D(PoolingBody, base.Layer):
    """The mean over windows of images (batch, height, width, channels)."""

    _FUNCTION, _RANK = staticmethod(nn_pool.avg_pool), 2


class AveragePooling3D(PoolingBody, base.Layer):
    """The mean over windows of volumes (batch, depth, height, width, channels)."""

    _FUNCTION, _RANK = staticmethod(nn_pool.avg_pool3d), 3


class MaxPooling1D(PoolingBody, base.Layer):
    """The maximum over windows of lines (batch, width, channels)."""

    _FUNCTION, _RANK = staticmethod(nn_pool.max_pool), 1


class MaxPooling2D(PoolingBody, base.Layer):
    """The maximum over windows of images (batch, height, width, channels)."""

    _FUNCTION, _RANK = staticmethod(nn_pool.max_pool), 2


class MaxPooling3D(PoolingBody, base.Layer):
    """The maximum over windows of volumes (batch, depth, height, width, channels)."""

    _FUNCTION, _RANK = staticmethod(nn_pool.max_pool3d), 3


def average_pooling1d(
    inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None
):
    """The mean over windows of lines (batch, width, channels)."""
    layer = AveragePooling1D(
        pool_size, strides, padding=padding, data_format=data_format, name=name
    )
    return layer.apply(inputs)


def average_pooling2d(
    inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None
):
    """The mean over windows of images (batch, height, width, channels)."""
    layer = AveragePooling2D(
        pool_size, strides, padding=padding, data_format=data_format, name=name
    )
    return layer.apply(inputs)


def average_pooling3d(
    inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None
):
    """The mean over windows of volumes (batch, depth, height, width, channels)."""
    layer = AveragePooling3D(
        pool_size, strides, padding=padding, data_format=data_format, name=name
    )
    return layer.apply(inputs)


def max_pooling1d(
    inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None
):
    """The maximum over windows of lines (batch, width, channels)."""
    layer = MaxPooling1D(pool_size, strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


def max_pooling2d(
    inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None
):
    """The maximum over windows of images (batch, height, width, channels).

    >>> print(tf.layers.max_pooling2d(tf.zeros([1, 8, 8, 3]), 2, 2).shape)
    (1, 4, 4, 3)
    """
    layer = MaxPooling2D(pool_size, strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)


def max_pooling3d(
    inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None
):
    """The maximum over windows of volumes (batch, depth, height, width, channels)."""
    layer = MaxPooling3D(pool_size, strides, padding=padding, data_format=data_format, name=name)
    return layer.apply(inputs)
