"""Pooling: the maximum or the mean over windows, or over all there is."""

from rheos.framework import tensor_shape
from rheos.layers import pooling
from rheos.layers.convolutional import check_format
from rheos.layers.input_spec import InputSpec
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.defaults import image_data_format
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_pool

_layer = objects.known("layer")


class _Pooling(pooling.PoolingBody, Layer):
    """Pooling whose strides are the size of the windows if nothing is said."""

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(
            pool_size,
            pool_size if strides is None else strides,
            padding,
            data_format or image_data_format(),
            **kwargs,
        )

    def get_config(self):
        return {
            **super().get_config(),
            "strides": self.strides,
            "pool_size": self.pool_size,
            "padding": self.padding,
            "data_format": self.data_format,
        }


@_layer("MaxPool1D")
class MaxPooling1D(_Pooling):
    """The maximum over windows of lines."""

    _FUNCTION, _RANK = staticmethod(nn_pool.max_pool), 1


@_layer("MaxPool2D")
class MaxPooling2D(_Pooling):
    """The maximum over windows of images."""

    _FUNCTION, _RANK = staticmethod(nn_pool.max_pool), 2


@_layer("MaxPool3D")
class MaxPooling3D(_Pooling):
    """The maximum over windows of volumes."""

    _FUNCTION, _RANK = staticmethod(nn_pool.max_pool3d), 3


@_layer("AvgPool1D")
class AveragePooling1D(_Pooling):
    """The mean over windows of lines."""

    _FUNCTION, _RANK = staticmethod(nn_pool.avg_pool), 1


@_layer("AvgPool2D")
class AveragePooling2D(_Pooling):
    """The mean over windows of images."""

    _FUNCTION, _RANK = staticmethod(nn_pool.avg_pool), 2


@_layer("AvgPool3D")
class AveragePooling3D(_Pooling):
    """The mean over windows of volumes."""

    _FUNCTION, _RANK = staticmethod(nn_pool.avg_pool3d), 3


class _GlobalPooling(Layer):
    """The maximum or the mean of each channel."""

    _REDUCE = _RANK = None

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.data_format = check_format(data_format or image_data_format())
        self.keepdims = keepdims
        self.input_spec = InputSpec(ndim=self._RANK + 2)

    def _axes(self):
        first = 2 if self.data_format == "channels_first" else 1
        return list(range(first, first + self._RANK))

    def call(self, inputs):
        return type(self)._REDUCE(inputs, axis=self._axes(), keepdims=self.keepdims)

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        axes = self._axes()
        if self.keepdims:
            return tensor_shape.TensorShape([1 if i in axes else d for i, d in enumerate(dims)])
        return tensor_shape.TensorShape([d for i, d in enumerate(dims) if i not in axes])

    def get_config(self):
        config = {**super().get_config(), "data_format": self.data_format}
        return {**config, **({"keepdims": True} if self.keepdims else {})}


@_layer("GlobalMaxPool1D")
class GlobalMaxPooling1D(_GlobalPooling):
    """The maximum of each channel of lines."""

    _REDUCE, _RANK = staticmethod(math_ops.reduce_max), 1


@_layer("GlobalMaxPool2D")
class GlobalMaxPooling2D(_GlobalPooling):
    """The maximum of each channel of images."""

    _REDUCE, _RANK = staticmethod(math_ops.reduce_max), 2


@_layer("GlobalMaxPool3D")
class GlobalMaxPooling3D(_GlobalPooling):
    """The maximum of each channel of volumes."""

    _REDUCE, _RANK = staticmethod(math_ops.reduce_max), 3


@_layer("GlobalAvgPool1D")
class GlobalAveragePooling1D(_GlobalPooling):
    """The mean of each channel of lines, of the steps that are not masked."""

    _REDUCE, _RANK = staticmethod(math_ops.reduce_mean), 1

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return super().call(inputs)
        axis = self._axes()[0]
        mask = array_ops.expand_dims(math_ops.cast(mask, inputs.dtype), 2 if axis == 1 else 1)
        total = math_ops.reduce_sum(inputs * mask, axis=axis, keepdims=self.keepdims)
        return total / math_ops.reduce_sum(mask, axis=axis, keepdims=self.keepdims)

    def compute_mask(self, inputs, mask=None):
        return None


@_layer("GlobalAvgPool2D")
class GlobalAveragePooling2D(_GlobalPooling):
    """The mean of each channel of images."""

    _REDUCE, _RANK = staticmethod(math_ops.reduce_mean), 2


@_layer("GlobalAvgPool3D")
class GlobalAveragePooling3D(_GlobalPooling):
    """The mean of each channel of volumes."""

    _REDUCE, _RANK = staticmethod(math_ops.reduce_mean), 3


MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
GlobalMaxPool1D, GlobalMaxPool2D = GlobalMaxPooling1D, GlobalMaxPooling2D
GlobalMaxPool3D = GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D
