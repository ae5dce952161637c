"""Activations that have settings or variables."""

from rheos.framework import tensor_shape
from rheos.layers import values
from rheos.layers.input_spec import InputSpec
from rheos.layers.layer import Layer
from rheos.models import activations, objects
from rheos.models.defaults import setting
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops

_layer = objects.known("layer")


class _Activation(Layer):
    """A function of each element, with settings."""

    _SETTINGS = ()

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), **config_of(self, self._SETTINGS)}


@_layer
class LeakyReLU(_Activation):
    """x, or alpha * x where it is negative."""

    _SETTINGS = ("alpha",)

    def __init__(self, alpha=0.3, negative_slope=None, **kwargs):
        super().__init__(**kwargs)
        slope = alpha if negative_slope is None else negative_slope
        self.alpha = setting(values.check_within("negative_slope", slope, 0))
        self.negative_slope = self.alpha

    def call(self, inputs):
        return nn_ops.leaky_relu(inputs, alpha=self.alpha)


@_layer
class ELU(_Activation):
    """x, or alpha * (exp(x) - 1) where it is negative."""

    _SETTINGS = ("alpha",)

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self.alpha = setting(alpha)

    def call(self, inputs):
        return activations.elu(inputs, self.alpha)


@_layer
class ThresholdedReLU(_Activation):
    """x where it is above theta, else 0."""

    _SETTINGS = ("theta",)

    def __init__(self, theta=1.0, **kwargs):
        super().__init__(**kwargs)
        self.theta = setting(theta)

    def call(self, inputs):
        return inputs * math_ops.cast(math_ops.greater(inputs, self.theta), inputs.dtype)


@_layer
class ReLU(_Activation):
    """max(x, 0), with a slope below a threshold, cut at a value."""

    _SETTINGS = ("max_value", "negative_slope", "threshold")

    def __init__(self, max_value=None, negative_slope=0, threshold=0, **kwargs):
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError("max_value of ReLU layer cannot be negative value: %s" % max_value)
        if negative_slope < 0.0:
            raise ValueError(
                "negative_slope of ReLU layer cannot be negative value: %s" % negative_slope
            )
        self.max_value = None if max_value is None else setting(max_value)
        self.negative_slope = setting(negative_slope)
        self.threshold = setting(threshold)

    def call(self, inputs):
        return activations.relu(
            inputs, alpha=self.negative_slope, max_value=self.max_value, threshold=self.threshold
        )


@_layer
class PReLU(_Activation):
    """x, or alpha * x where it is negative; alpha is a variable."""

    _SETTINGS = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(
        self,
        alpha_initializer="zeros",
        alpha_regularizer=None,
        alpha_constraint=None,
        shared_axes=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        settings = {
            "alpha_initializer": alpha_initializer,
            "alpha_regularizer": alpha_regularizer,
            "alpha_constraint": alpha_constraint,
        }
        for name, value in resolved(settings).items():
            setattr(self, name, value)
        if shared_axes is not None and not isinstance(shared_axes, (list, tuple)):
            shared_axes = [shared_axes]
        self.shared_axes = None if shared_axes is None else list(shared_axes)

    def build(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        shape = dims[1:]
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        self.alpha = self.add_weight(
            "alpha",
            shape=shape,
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        axes = {i: dims[i] for i in range(1, len(dims)) if i not in (self.shared_axes or ())}
        self.input_spec = InputSpec(ndim=len(dims), axes=axes)
        self.built = True

    def call(self, inputs):
        return nn_ops.relu(inputs) + -self.alpha * nn_ops.relu(-inputs)
