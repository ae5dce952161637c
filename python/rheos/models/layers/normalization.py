"""Normalization of batches and of samples."""

from rheos.framework import tensor_shape
from rheos.layers import normalization, values
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import array_ops
from rheos.ops.nn import nn_ops

_layer = objects.known("layer")


@_layer("BatchNormalizationV1", "BatchNormalizationV2")
class BatchNormalization(normalization.BatchNormalizationBody, Layer):
    """Makes the mean of each channel `beta`, and its standard deviation `gamma`.

    In training with the statistics of the batch, of which averages are kept; otherwise with these.
    """

    _WHOLE_PRECISION = True

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        moving_mean_initializer="zeros",
        moving_variance_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        settings = {
            "beta_initializer": beta_initializer,
            "gamma_initializer": gamma_initializer,
            "moving_mean_initializer": moving_mean_initializer,
            "moving_variance_initializer": moving_variance_initializer,
            "beta_regularizer": beta_regularizer,
            "gamma_regularizer": gamma_regularizer,
            "beta_constraint": beta_constraint,
            "gamma_constraint": gamma_constraint,
        }
        super().__init__(
            list(axis) if isinstance(axis, (list, tuple)) else axis,
            momentum,
            epsilon,
            center,
            scale,
            **resolved(settings),
            **kwargs,
        )
        self.supports_masking = True
        if not values.runs_in_session():
            self.fused = False  # Keras 3 takes the variance of the batch as it is

    def call(self, inputs, training=None):
        if training is None:
            training = values.learning_phase()
        if not self.trainable and not values.runs_in_session():
            training = False
        if isinstance(training, int):
            training = bool(training)
        return super().call(inputs, training)

    def get_config(self):
        names = (
            "axis", "momentum", "epsilon", "center", "scale", "beta_initializer",
            "gamma_initializer", "moving_mean_initializer", "moving_variance_initializer",
            "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint",
        )  # fmt: skip
        return {**super().get_config(), **config_of(self, names)}


@_layer
class LayerNormalization(Layer):
    """Makes mean and standard deviation of each sample, along axes, `beta` and `gamma`."""

    _WHOLE_PRECISION = True

    def __init__(
        self,
        axis=-1,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(f"the axis is a whole number or a list of such, not {axis!r}")
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        settings = {
            "beta_initializer": beta_initializer,
            "gamma_initializer": gamma_initializer,
            "beta_regularizer": beta_regularizer,
            "gamma_regularizer": gamma_regularizer,
            "beta_constraint": beta_constraint,
            "gamma_constraint": gamma_constraint,
        }
        for key, value in resolved(settings).items():
            setattr(self, key, value)
        self.supports_masking = True
        self.gamma = self.beta = None

    def _axes(self, rank):
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        axes = [a % rank if -rank <= a < rank else a for a in axes]
        for axis in axes:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(axes) != len(set(axes)):
            raise ValueError(f"Duplicate axis: {tuple(axes)}")
        return axes

    def build(self, input_shape):
        shape = tensor_shape.as_shape(input_shape)
        if shape.ndims is None:
            raise ValueError(f"Input shape {shape} has undefined rank.")
        axes = self._axes(shape.ndims)
        if values.runs_in_session():
            self.axis = axes
        sizes = [shape.size_at(a) for a in axes]
        if None in sizes:
            raise ValueError(f"the sizes of the axes {axes} of {shape} have to be known")
        for name, is_wanted in (("gamma", self.scale), ("beta", self.center)):
            if is_wanted:
                variable = self.add_weight(
                    name,
                    shape=sizes,
                    initializer=getattr(self, f"{name}_initializer"),
                    regularizer=getattr(self, f"{name}_regularizer"),
                    constraint=getattr(self, f"{name}_constraint"),
                )
                setattr(self, name, variable)
        self.built = True

    def call(self, inputs):
        rank = inputs.shape.ndims
        axes = self._axes(rank)
        dims = inputs.shape.as_list()
        mean, variance = nn_ops.moments(inputs, axes, keep_dims=True)
        kept = [dims[i] if i in axes else 1 for i in range(rank)]

        def along(variable):
            if variable is None or axes == [rank - 1]:
                return variable
            return array_ops.reshape(variable, kept)

        outputs = nn_ops.batch_normalization(
            inputs, mean, variance, along(self.beta), along(self.gamma), self.epsilon
        )
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        names = (
            "axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer",
            "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint",
        )  # fmt: skip
        return {**super().get_config(), **config_of(self, names)}


@_layer
class UnitNormalization(Layer):
    """Makes the norm of each sample, along an axis, 1."""

    _WHOLE_PRECISION = True

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.supports_masking = True

    def call(self, inputs):
        return nn_ops.l2_normalize(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


@_layer
class GroupNormalization(Layer):
    """Normalizes groups of channels of each sample by themselves."""

    _WHOLE_PRECISION = True

    def __init__(
        self,
        groups=32,
        axis=-1,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if groups != -1:  # as many as there are channels
            values.check_positive("groups", groups)
        self.groups, self.axis, self.epsilon = groups, axis, epsilon
        self.center, self.scale = center, scale
        settings = {
            "beta_initializer": beta_initializer,
            "gamma_initializer": gamma_initializer,
            "beta_regularizer": beta_regularizer,
            "gamma_regularizer": gamma_regularizer,
            "beta_constraint": beta_constraint,
            "gamma_constraint": gamma_constraint,
        }
        for key, value in resolved(settings).items():
            setattr(self, key, value)
        self.gamma = self.beta = None
        self.supports_masking = True

    def build(self, input_shape):
        size = tensor_shape.as_shape(input_shape).size_at(self.axis)
        if size is None:
            raise ValueError(f"axis {self.axis} of the input has to be known: {input_shape}")
        if self.groups == -1:
            self.groups = size
        if size % self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a divisor of the number of channels "
                f"({size})"
            )
        for name, is_wanted in (("gamma", self.scale), ("beta", self.center)):
            if is_wanted:
                variable = self.add_weight(
                    name,
                    shape=[size],
                    initializer=getattr(self, f"{name}_initializer"),
                    regularizer=getattr(self, f"{name}_regularizer"),
                    constraint=getattr(self, f"{name}_constraint"),
                )
                setattr(self, name, variable)
        self.built = True

    def call(self, inputs):
        rank = inputs.shape.ndims
        axis = self.axis % rank
        shape = array_ops.shape(inputs)
        dims = inputs.shape.as_list()
        sizes = [shape[i] if d is None else d for i, d in enumerate(dims)]
        parted = [*sizes[:axis], self.groups, dims[axis] // self.groups, *sizes[axis + 1 :]]
        x = array_ops.reshape(inputs, array_ops.stack(parted))
        axes = [i for i in range(1, rank + 1) if i != axis]
        mean, variance = nn_ops.moments(x, axes, keep_dims=True)
        kept = [1] * (rank + 1)
        kept[axis], kept[axis + 1] = self.groups, dims[axis] // self.groups

        def along(variable):
            return None if variable is None else array_ops.reshape(variable, kept)

        x = nn_ops.batch_normalization(
            x, mean, variance, along(self.beta), along(self.gamma), self.epsilon
        )
        outputs = array_ops.reshape(x, shape)
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)

    def get_config(self):
        names = (
            "groups", "axis", "epsilon", "center", "scale", "beta_initializer",
            "gamma_initializer", "beta_regularizer", "gamma_regularizer", "beta_constraint",
            "gamma_constraint",
        )  # fmt: skip
        return {**super().get_config(), **config_of(self, names)}
