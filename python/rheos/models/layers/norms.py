"""Layers that Keras 3 has for normalizing: by the root of the mean square, by spectral norm."""

from rheos.framework import tensor_shape
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.drawn_initializers import TruncatedNormal
from rheos.models.layers.core import in_training
from rheos.models.layers.wrappers import Wrapper
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import state_ops

_layer = objects.known("layer")


@_layer
class Identity(Layer):
    """Its inputs."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.built = True

    def call(self, inputs):
        return inputs

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)


@_layer
class RMSNormalization(Layer):
    """inputs by the root of the mean of their squares along an axis, times a scale."""

    def __init__(self, axis=-1, epsilon=1e-6, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.epsilon = axis, epsilon
        self.supports_masking = True

    def _axes(self):
        return [self.axis] if isinstance(self.axis, int) else sorted(self.axis)

    def build(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        sizes = [dims[a] for a in self._axes()]
        self.scale = self.add_weight("scale", shape=sizes, initializer="ones")
        self.built = True

    def call(self, inputs):
        rank, axes = inputs.shape.ndims, self._axes()
        square = math_ops.reduce_mean(math_ops.square(inputs), axis=axes, keepdims=True)
        shape = [1] * rank
        for axis, size in zip(axes, self.scale.shape.as_list()):
            shape[axis] = size
        return inputs * math_ops.rsqrt(square + self.epsilon) * array_ops.reshape(self.scale, shape)

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis, "epsilon": self.epsilon}


@_layer
class SpectralNormalization(Wrapper):
    """A layer whose kernel is divided by its largest singular value, in training."""

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError(
                "`power_iterations` should be greater than zero. Received: "
                f"`power_iterations={power_iterations}`"
            )
        self.power_iterations = power_iterations

    def build(self, input_shape=None):
        super().build(input_shape)
        kernel = self._kernel()
        self.vector_u = self.add_weight(
            "vector_u",
            shape=(1, kernel.shape.as_list()[-1]),
            initializer=TruncatedNormal(stddev=0.02),
            trainable=False,
            dtype=kernel.dtype,
        )

    def _kernel(self):
        for name in ("kernel", "embeddings"):
            if getattr(self.layer, name, None) is not None:
                return getattr(self.layer, name)
        raise ValueError(
            f"{type(self.layer).__name__} object has no attribute 'kernel' nor 'embeddings'"
        )

    def call(self, inputs, training=False):
        def normalized():
            u, kernel = self._normalized()
            state_ops.assign(self.vector_u, u)
            return kernel

        kernel = self._kernel()
        found = in_training(training, normalized, lambda: array_ops.identity(kernel))
        state_ops.assign(kernel, found)
        return self.layer(inputs)

    def _normalized(self):
        kernel = self._kernel()
        matrix = array_ops.reshape(kernel, [-1, kernel.shape.as_list()[-1]])
        u = array_ops.identity(self.vector_u)
        for _ in range(self.power_iterations):
            v = nn_ops.l2_normalize(math_ops.matmul(u, matrix, transpose_b=True))
            u = nn_ops.l2_normalize(math_ops.matmul(v, matrix))
        u, v = array_ops.stop_gradient(u), array_ops.stop_gradient(v)
        sigma = math_ops.matmul(math_ops.matmul(v, matrix), u, transpose_b=True)
        return u, array_ops.reshape(kernel / sigma, array_ops.shape(kernel))

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "power_iterations": self.power_iterations}
