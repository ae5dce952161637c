"""Batch normalization."""

from rheos.framework import dtypes, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, control_dependencies, name_scope
from rheos.layers import base, values
from rheos.ops.array import array_ops
from rheos.ops.flow.smart_cond import known_flag, smart_cond
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_norm, nn_ops
from rheos.ops.state import init_ops, state_ops, variable_scope
from rheos.ops.state.variables import VariableAggregation, VariableSynchronization


def moving_average(average, value, momentum, zero_debias=False, name=None):
    """Moves a variable towards a value by 1 - momentum; returns the operation's output.

    zero_debias: whether to make up for the zeros that it starts with, by two more variables.
    """
    with name_scope(name, "AssignMovingAvg") as scope:
        dtype = average.dtype.base_dtype
        decay = convert_to_tensor(1.0 - momentum, name="decay")
        if decay.dtype is not dtype:
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


def _root_of(initializer):
    """An initializer of the square roots of what another one gives."""

    def root(shape, dtype=None, partition_info=None):
        return math_ops.sqrt(initializer(shape, dtype=dtype))

    return root


class BatchNormalizationBody:
    """Makes the mean of each channel `beta`, and its standard deviation `gamma`.

    In training with the statistics of the batch, of which averages are kept (`moving_mean`,
    `moving_variance`): the operations that renew these are in the collection UPDATE_OPS and have to
    be run with each step. Otherwise with the averages. All variables are (channels,).
    With several axes the variables have all dimensions, those that are not normalized of size 1.
    renorm: whether training uses the averages too, as Batch Renormalization does; renorm_clipping
    may have rmax, rmin and dmax. virtual_batch_size: normalizes parts of the batch by themselves.
    adjustment: a function of the shape that gives a factor and an offset, for training.
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
        renorm_clipping = renorm_clipping or {}
        if renorm and set(renorm_clipping) - {"rmax", "rmin", "dmax"}:
            raise ValueError(
                f"renorm_clipping {renorm_clipping} contains keys not in ['rmax', 'rmin', 'dmax']"
            )
        special = renorm or virtual_batch_size is not None or adjustment is not None
        if fused and special:
            raise ValueError(
                "Batch normalization is not fused with renorm, virtual_batch_size or adjustment"
            )
        self.renorm = renorm
        self.renorm_clipping = renorm_clipping
        self.renorm_momentum = renorm_momentum
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.axis = [axis] if isinstance(axis, int) else list(axis)
        self.momentum = momentum
        if not values.is_tensor(momentum):
            values.check_within("momentum", momentum, float("-inf"))
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
        self.fused = False if special else fused
        self.gamma = self.beta = None
        self.moving_mean = self.moving_variance = None

    def build(self, input_shape):
        input_shape = tensor_shape.as_shape(input_shape)
        rank = input_shape.ndims
        if rank is None:
            raise ValueError("Input has undefined rank:", input_shape)
        self.axis = [a + rank if a < 0 else a for a in self.axis]
        for axis in self.axis:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(self.axis) != len(set(self.axis)):
            raise ValueError("Duplicate axis: %s" % self.axis)
        sizes = {axis: input_shape.size_at(axis) for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", input_shape)
        can_fuse = rank == 4 and self.axis in ([1], [3])
        if self.fused is None:
            self.fused = can_fuse
        elif self.fused and not can_fuse:
            raise ValueError("Batch normalization is fused only for 4D tensors, on axis 1 or 3")
        if len(self.axis) == 1 and self.virtual_batch_size is None:
            shape = [sizes[self.axis[0]]]
        else:
            shape = [sizes.get(i, 1) for i in range(rank)]
            if self.virtual_batch_size is not None:
                shape.insert(1, 1)
        half = self._dtype in ("float16", "bfloat16")
        dtype = dtypes.float32 if half else dtypes.as_dtype(self._dtype)
        self.input_spec = base.InputSpec(ndim=rank, axes=sizes)
        self._shape = shape

        def make(name, initializer, **settings):
            return self.add_weight(
                name, shape=shape, dtype=dtype, initializer=initializer, **settings
            )

        def keep(name, initializer):
            if get_default_graph()._root._is_eager:
                return make(name, initializer, trainable=False)
            return make(  # in TensorFlow 1 those of several replicas count
                name,
                initializer,
                trainable=False,
                synchronization=VariableSynchronization.ON_READ,
                aggregation=VariableAggregation.MEAN,
            )

        if self.scale:
            self.gamma = make(
                "gamma",
                self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        elif self.fused:
            self._ones = array_ops.constant(1.0, dtype=dtype, shape=shape)
        if self.center:
            self.beta = make(
                "beta",
                self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        elif self.fused:
            self._zeros = array_ops.constant(0.0, dtype=dtype, shape=shape)
        self.moving_mean = keep("moving_mean", self.moving_mean_initializer)
        self.moving_variance = keep("moving_variance", self.moving_variance_initializer)
        if self.renorm:
            # The standard deviations start where the variance does.
            deviation = _root_of(self.moving_variance_initializer)
            with colocate_with(self.moving_variance):
                self.moving_stddev = keep("moving_stddev", deviation)
            with colocate_with(self.moving_mean):
                self.renorm_mean = keep("renorm_mean", self.moving_mean_initializer)
            with colocate_with(self.moving_variance):
                self.renorm_stddev = keep("renorm_stddev", deviation)
        self.built = True

    def call(self, inputs, training=False):
        training = known_flag(training)
        if self.virtual_batch_size is not None:
            return self._in_parts(inputs, training)
        if self.fused:
            outputs = self._fused(inputs, training)
        else:
            outputs = self._plain(inputs, training)
        outputs.set_shape(inputs.shape)
        return outputs

    def _in_parts(self, inputs, training):
        """Normalizes virtual batches by themselves: every n-th element is of the same one."""
        shape = inputs.shape.as_list()
        if None in shape[1:]:
            raise NotImplementedError("batch_normalization: virtual batches of unknown shape")
        axes = self.axis
        parts = array_ops.reshape(inputs, [self.virtual_batch_size, -1, *shape[1:]])
        self.axis = [axis + 1 for axis in axes]
        try:
            outputs = array_ops.reshape(self._plain(parts, training), [-1, *shape[1:]])
        finally:
            self.axis = axes
        outputs.set_shape(inputs.shape)
        return outputs

    def _fused(self, inputs, training):
        gamma = self._ones if self.gamma is None else self.gamma
        beta = self._zeros if self.beta is None else self.beta
        settings = {
            "epsilon": self.epsilon,
            "data_format": "NCHW" if self.axis == [1] else "NHWC",
        }

        def of_batch():
            return nn_norm.fused_batch_norm(inputs, gamma, beta, **settings)

        def of_averages():
            return nn_norm.fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                is_training=False,
                **settings,
            )

        outputs, mean, variance = smart_cond(training, of_batch, of_averages)
        if isinstance(training, bool):
            momentum = convert_to_tensor(self.momentum)
        else:
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        if training is not False:
            self.add_update(self._move(self.moving_mean, mean, momentum))
            self.add_update(self._move(self.moving_variance, variance, momentum))
        return outputs

    def _plain(self, inputs, training):
        rank = inputs.shape.ndims
        scale, offset = self._along(self.gamma, rank), self._along(self.beta, rank)
        mean, variance = self.moving_mean, self.moving_variance
        if training is not False:
            if self.adjustment is not None:
                adjusted = self._adjustment(array_ops.shape(inputs), training)
                scale, offset = self._composed(scale, offset, *adjusted)
            mean, variance = self._moments(inputs, training)
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = math_ops.reduce_mean(mean, axis=1, keepdims=True)
                new_variance = math_ops.reduce_mean(variance, axis=1, keepdims=True)
            if self.renorm:
                r, d, new_mean, new_variance = self._corrections(new_mean, new_variance, training)
                r = self._along(array_ops.stop_gradient(r, name="renorm_r"), rank)
                d = self._along(array_ops.stop_gradient(d, name="renorm_d"), rank)
                scale, offset = self._composed(scale, offset, r, d)
            self._renew(new_mean, new_variance, training)
        mean = math_ops.cast(self._along(mean, rank), inputs.dtype)
        variance = math_ops.cast(self._along(variance, rank), inputs.dtype)
        if offset is not None:
            offset = math_ops.cast(offset, inputs.dtype)
        if scale is not None:
            scale = math_ops.cast(scale, inputs.dtype)
        return nn_ops.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)

    def _moments(self, inputs, training):
        """The statistics of the batch, or the averages where a tensor says so."""
        parted = self.virtual_batch_size is not None
        rank = inputs.shape.ndims
        axes = [i for i in range(rank) if i not in self.axis and not (parted and i == 1)]
        inputs = math_ops.cast(inputs, self.moving_mean.dtype.base_dtype)
        mean, variance = nn_ops.moments(inputs, axes, keep_dims=len(self.axis) > 1 or parted)
        return (
            smart_cond(training, lambda: mean, lambda: convert_to_tensor(self.moving_mean)),
            smart_cond(training, lambda: variance, lambda: convert_to_tensor(self.moving_variance)),
        )

    def _adjustment(self, shape, training):
        """The factor and the offset of the adjustment; 1 and 0 where this is no training."""
        factor, more = self.adjustment(shape)
        return (
            smart_cond(training, lambda: factor, lambda: array_ops.ones_like(factor)),
            smart_cond(training, lambda: more, lambda: array_ops.zeros_like(more)),
        )

    @staticmethod
    def _composed(scale, offset, factor, more):
        """x * factor + more, then * scale + offset, as one."""
        if scale is not None:
            factor *= scale
            more *= scale
        if offset is not None:
            more += offset
        return factor, more

    def _corrections(self, mean, variance, training):
        """What takes the statistics of a batch to the averages of renorm: a factor and an offset.

        Then mean and variance, available once those averages moved. Where this is no training, the
        factor is 1, the offset 0, and nothing moves.
        """
        deviation = math_ops.sqrt(variance + self.epsilon)
        least = math_ops.maximum(self.renorm_stddev, math_ops.sqrt(float(self.epsilon)))
        r = deviation / least
        d = (mean - self.renorm_mean) / least
        with control_dependencies([r, d]):
            mean = array_ops.identity(mean)
            deviation = array_ops.identity(deviation)
        rmin, rmax, dmax = [self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax")]
        if rmin is not None:
            r = math_ops.maximum(r, rmin)
        if rmax is not None:
            r = math_ops.minimum(r, rmax)
        if dmax is not None:
            d = math_ops.maximum(d, -dmax)
            d = math_ops.minimum(d, dmax)
        factor = smart_cond(training, lambda: r, lambda: array_ops.ones_like(r))
        offset = smart_cond(training, lambda: d, lambda: array_ops.zeros_like(d))

        def moved(average, value):
            value = array_ops.identity(value)
            return smart_cond(
                training,
                lambda: self._move(average, value, self.renorm_momentum),
                lambda: array_ops.identity(average),
            )

        moves = [moved(self.renorm_mean, mean), moved(self.renorm_stddev, deviation)]
        with control_dependencies(moves):
            return factor, offset, array_ops.identity(mean), array_ops.identity(variance)

    def _along(self, vector, rank):
        """A vector of the channels, shaped to broadcast with the inputs."""
        if vector is None or self.axis == [rank - 1] or vector.shape.ndims == rank:
            return vector
        shape = [1] * rank
        shape[self.axis[0]] = self._shape[0]
        return array_ops.reshape(vector, shape)

    def _move(self, average, value, momentum):
        with name_scope("AssignMovingAvg") as scope, colocate_with(average):
            return moving_average(average, value, momentum, name=scope)

    def _renew(self, mean, variance, training):
        """Adds the operations that move the averages; where this is no training, they do not."""

        def move_variance():
            if not self.renorm:
                return self._move(self.moving_variance, variance, self.momentum)
            deviation = math_ops.sqrt(variance + self.epsilon)
            deviation = self._move(self.moving_stddev, deviation, self.momentum)
            square = nn_ops.relu(deviation * deviation - self.epsilon)
            return state_ops.assign(self.moving_variance, square, name="AssignNewValue")

        def move_mean():
            return self._move(self.moving_mean, mean, self.momentum)

        self.add_update(smart_cond(training, move_mean, lambda: self.moving_mean))
        self.add_update(smart_cond(training, move_variance, lambda: self.moving_variance))

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)


class BatchNormalization(BatchNormalizationBody, base.Layer):
    """Batch normalization with variables of a variable scope."""


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
    return base.apply_once(BatchNormalization, locals(), "training")
