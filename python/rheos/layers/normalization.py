"""Batch normalization."""

from rheos.framework import dtypes, tensor_shape
from rheos.framework.graph import colocate_with, convert_to_tensor, name_scope
from rheos.layers import base
from rheos.layers.core import known_flag
from rheos.ops import (
    array_ops,
    init_ops,
    math_ops,
    nn_norm,
    nn_ops,
    state_ops,
    variable_scope,
)


def moving_average(average, value, momentum, zero_debias=False, name=None):
    """Moves a variable towards a value by 1 - momentum; returns the operation's output.

    zero_debias: whether to make up for the zeros that it starts with, by two more variables.
    """
    with name_scope(name, "AssignMovingAvg") as scope:
        dtype = average.dtype.base_dtype
        decay = convert_to_tensor(1.0 - momentum, name="decay")
        if decay.dtype != dtype:
            decay = math_ops.cast(decay, dtype)
        value = math_ops.cast(value, dtype)
        if not zero_debias:
            return state_ops.assign_sub(average, (average - value) * decay, name=scope)
        biased, steps = _sums_from_zero(average)
        biased = state_ops.assign_sub(biased, (biased - value) * decay)
        steps = state_ops.assign_add(steps, 1.0)
        share = 1 - math_ops.pow(1.0 - decay, steps)
        return state_ops.assign(average, biased / share, name=scope)


def _sums_from_zero(average):
    """Variables for an average that starts with zeros, and for the number of steps."""
    with (
        variable_scope.variable_scope(average.op.name, auxiliary_name_scope=False),
        colocate_with(average),
    ):
        return [
            variable_scope.get_variable(
                name,
                shape=shape,
                dtype=average.dtype.base_dtype,
                initializer=init_ops.zeros_initializer(),
                trainable=False,
            )
            for name, shape in (("biased", average.shape), ("local_step", []))
        ]


class BatchNormalization(base.Layer):
    """Makes the mean of each channel `beta`, and its standard deviation `gamma`.

    In training with the statistics of the batch, of which averages are kept (`moving_mean`,
    `moving_variance`): the operations that renew these are in the collection UPDATE_OPS and have to
    be run with each step. Otherwise with the averages. All variables are (channels,).
    renorm, virtual_batch_size and adjustment are not in Rheos yet.
    """

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer=None,
        gamma_initializer=None,
        moving_mean_initializer=None,
        moving_variance_initializer=None,
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        renorm=False,
        renorm_clipping=None,
        renorm_momentum=0.99,
        fused=None,
        trainable=True,
        virtual_batch_size=None,
        adjustment=None,
        name=None,
        **kwargs,
    ):
        super().__init__(trainable, name, **kwargs)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise NotImplementedError(
                "batch_normalization: renorm, virtual_batch_size and adjustment"
            )
        self.axis = [axis] if isinstance(axis, int) else list(axis)
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = beta_initializer or init_ops.zeros_initializer()
        self.gamma_initializer = gamma_initializer or init_ops.ones_initializer()
        self.moving_mean_initializer = moving_mean_initializer or init_ops.zeros_initializer()
        self.moving_variance_initializer = (
            moving_variance_initializer or init_ops.ones_initializer()
        )
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        self.fused = fused
        self.gamma = self.beta = None
        self.moving_mean = self.moving_variance = None

    def build(self, input_shape):
        input_shape = tensor_shape.as_shape(input_shape)
        rank = input_shape.ndims
        if rank is None:
            raise ValueError("Input has undefined rank:", input_shape)
        self.axis = [a + rank if a < 0 else a for a in self.axis]
        if any(not 0 <= a < rank for a in self.axis):
            raise ValueError(f"Invalid axis: {self.axis}")
        if len(self.axis) > 1:
            raise NotImplementedError("batch_normalization: several axes")
        axis = self.axis[0]
        size = input_shape[axis].value
        if size is None:
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", input_shape)
        if self.fused is None:
            self.fused = rank == 4 and axis in (1, 3)
        elif self.fused and (rank != 4 or axis not in (1, 3)):
            raise ValueError("Batch normalization is fused only for 4D tensors, on axis 1 or 3")
        half = self._dtype in ("float16", "bfloat16")
        dtype = dtypes.float32 if half else dtypes.as_dtype(self._dtype)
        self.input_spec = base.InputSpec(ndim=rank, axes={axis: size})
        if self.scale:
            self.gamma = self.add_weight(
                "gamma",
                shape=[size],
                dtype=dtype,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        elif self.fused:
            self._ones = array_ops.constant(1.0, dtype=dtype, shape=[size])
        if self.center:
            self.beta = self.add_weight(
                "beta",
                shape=[size],
                dtype=dtype,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        elif self.fused:
            self._zeros = array_ops.constant(0.0, dtype=dtype, shape=[size])
        self._size = size
        self.moving_mean = self.add_weight(
            "moving_mean",
            shape=[size],
            dtype=dtype,
            initializer=self.moving_mean_initializer,
            trainable=False,
        )
        self.moving_variance = self.add_weight(
            "moving_variance",
            shape=[size],
            dtype=dtype,
            initializer=self.moving_variance_initializer,
            trainable=False,
        )
        self.built = True

    def call(self, inputs, training=False):
        training = known_flag(training)
        if self.fused:
            outputs = self._fused(inputs, training)
        else:
            outputs = self._plain(inputs, training)
        outputs.set_shape(inputs.shape)
        return outputs

    def _fused(self, inputs, training):
        gamma = self._ones if self.gamma is None else self.gamma
        beta = self._zeros if self.beta is None else self.beta
        settings = {
            "epsilon": self.epsilon,
            "data_format": "NCHW" if self.axis == [1] else "NHWC",
        }
        if training is not False:
            of_batch = nn_norm.fused_batch_norm(inputs, gamma, beta, **settings)
            outputs, mean, variance = of_batch
        if training is not True:
            of_average = nn_norm.fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                is_training=False,
                **settings,
            )
            outputs = of_average[0]
        if training is True or training is False:
            momentum = convert_to_tensor(self.momentum)
        else:
            # Both are computed and one is picked, so that no control flow is needed.
            outputs = array_ops.where(training, of_batch[0], of_average[0])
            momentum = array_ops.where(
                training, convert_to_tensor(self.momentum), convert_to_tensor(1.0)
            )
        if training is not False:
            self._renew(mean, variance, momentum)
        return outputs

    def _plain(self, inputs, training):
        rank = inputs.shape.ndims
        axes = [i for i in range(rank) if i not in self.axis]
        scale, offset = self._along(self.gamma, rank), self._along(self.beta, rank)
        mean, variance = self.moving_mean, self.moving_variance
        if training is not False:
            mean, variance = nn_ops.moments(inputs, axes, keep_dims=False)
            momentum = self.momentum
            of_batch = mean, variance
            if training is not True:
                mean = array_ops.where(training, mean, convert_to_tensor(self.moving_mean))
                variance = array_ops.where(
                    training, variance, convert_to_tensor(self.moving_variance)
                )
                momentum = array_ops.where(
                    training, convert_to_tensor(momentum), convert_to_tensor(1.0)
                )
            self._renew(*of_batch, momentum)
        mean = math_ops.cast(self._along(mean, rank), inputs.dtype)
        variance = math_ops.cast(self._along(variance, rank), inputs.dtype)
        if offset is not None:
            offset = math_ops.cast(offset, inputs.dtype)
        return nn_ops.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)

    def _along(self, vector, rank):
        """A vector of the channels, shaped to broadcast with the inputs."""
        if vector is None or self.axis == [rank - 1]:
            return vector
        shape = [1] * rank
        shape[self.axis[0]] = self._size
        return array_ops.reshape(vector, shape)

    def _renew(self, mean, variance, momentum):
        for average, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            with name_scope("AssignMovingAvg") as scope, colocate_with(average):
                self.add_update(moving_average(average, value, momentum, name=scope))

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)


def batch_normalization(
    inputs,
    axis=-1,
    momentum=0.99,
    epsilon=1e-3,
    center=True,
    scale=True,
    beta_initializer=None,
    gamma_initializer=None,
    moving_mean_initializer=None,
    moving_variance_initializer=None,
    beta_regularizer=None,
    gamma_regularizer=None,
    beta_constraint=None,
    gamma_constraint=None,
    training=False,
    trainable=True,
    name=None,
    reuse=None,
    renorm=False,
    renorm_clipping=None,
    renorm_momentum=0.99,
    fused=None,
    virtual_batch_size=None,
    adjustment=None,
):
    """Makes the mean of each channel `beta`, and its standard deviation `gamma`.

    inputs: any shape; axis: where its channels are. training: a bool or a scalar bool tensor:
    whether to use the statistics of the batch and to renew their averages by operations in the
    collection UPDATE_OPS. Variables: gamma, beta, moving_mean, moving_variance, all (channels,).
    """
    layer = BatchNormalization(
        axis=axis,
        momentum=momentum,
        epsilon=epsilon,
        center=center,
        scale=scale,
        beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer,
        moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer,
        beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer,
        beta_constraint=beta_constraint,
        gamma_constraint=gamma_constraint,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_momentum=renorm_momentum,
        fused=fused,
        trainable=trainable,
        virtual_batch_size=virtual_batch_size,
        adjustment=adjustment,
        name=name,
        _reuse=reuse,
        _scope=name,
    )
    return layer.apply(inputs, training=training)
