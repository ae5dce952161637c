"""Normalizing flows: bijectors whose shifts and scales a network computes."""

import functools

import numpy as np

from rheos.contrib.bijectors import ConditionalBijector
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.core import Dense, dense
from rheos.layers.normalization import BatchNormalization as _Normalization
from rheos.ops.array import array_ops
from rheos.ops.flow.control_flow_ops import while_loop
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops
from rheos.ops.state.template import make_template

_UNKNOWN_SIZE = "Rightmost dimension must be known prior to graph execution."


class MaskedAutoregressiveFlow(ConditionalBijector):
    """y[i] = x[i] exp(log_scale[i]) + shift[i], of shifts and scales of y[0] to y[i - 1].

    shift_and_log_scale_fn: of y to both, (..., d) each; either may be None. inverse() is one call
    of it, forward() as many as y has elements: in a loop, or `unroll_loop` one after the other.
    """

    def __init__(
        self,
        shift_and_log_scale_fn,
        is_constant_jacobian=False,
        validate_args=False,
        unroll_loop=False,
        name=None,
    ):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args, name=name or "masked_autoregressive_flow",
        )  # fmt: skip

    def _moved(self, x, y, conditions):
        """The next y of x, of which one more element is right."""
        shift, log_scale = self._shift_and_log_scale_fn(y, **conditions)
        moved = x if log_scale is None else x * math_ops.exp(log_scale)
        return moved if shift is None else moved + shift

    def _forward(self, x, **conditions):
        y = array_ops.zeros_like(x, name="y0")
        known = x.shape.with_rank_at_least(1).size_at(-1)
        if self._unroll_loop:
            if known is None:
                raise ValueError("The final dimension of `x` must be known at graph construction "
                                 "time if `unroll_loop=True`. `x.shape: %r`" % x.shape)  # fmt: skip
            for _ in range(known):
                y = self._moved(x, y, conditions)
            return y
        count = array_ops.shape(x)[-1]
        _, y = while_loop(
            lambda i, _: i < count,
            lambda i, y: (i + 1, self._moved(x, y, conditions)),
            [0, y],
            shape_invariants=[TensorShape([]), x.shape],
        )
        return y

    def _inverse(self, y, **conditions):
        shift, log_scale = self._shift_and_log_scale_fn(y, **conditions)
        x = y if shift is None else y - shift
        return x if log_scale is None else x * math_ops.exp(-log_scale)

    def _inverse_log_det_jacobian(self, y, **conditions):
        _, log_scale = self._shift_and_log_scale_fn(y, **conditions)
        if log_scale is None:
            return convert_to_tensor(0.0, y.dtype.base_dtype, name="ildj")
        return -math_ops.reduce_sum(log_scale, axis=-1)


def _mask(num_blocks, n_in, n_out, exclusive):
    """(n_in, n_out): which inputs an output may depend on, those of its block or of ones before."""
    mask = np.zeros([n_in, n_out], np.float32)
    wide, high = n_in // num_blocks, n_out // num_blocks
    for block in range(num_blocks):
        mask[block * wide : (block + 1) * wide, (block + bool(exclusive)) * high :] = 1
    return mask


def masked_dense(
    inputs,
    units,
    num_blocks=None,
    exclusive=False,
    kernel_initializer=None,
    reuse=None,
    name=None,
    *args,
    **kwargs,
):
    """A dense layer of `num_blocks` blocks, which depend on blocks of the inputs before them.

    exclusive: not on their own one. NotImplementedError if the last size is not known.
    """
    depth = inputs.shape.with_rank_at_least(1).size_at(-1)
    if depth is None:
        raise NotImplementedError(_UNKNOWN_SIZE)
    mask = _mask(num_blocks, depth, units, exclusive)
    if kernel_initializer is None:
        kernel_initializer = init_ops.GlorotNormal()

    def initializer(shape, dtype=None, partition_info=None):
        return mask * kernel_initializer(shape, dtype)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = Dense(
            units, *args, kernel_initializer=initializer, kernel_constraint=lambda x: mask * x,
            name=name, dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **kwargs,
        )  # fmt: skip
        return layer.apply(inputs)


def _clipped_with_gradient(x, low, high):
    """x between two numbers, whose gradient is that of x."""
    return x + array_ops.stop_gradient(clip_ops.clip_by_value(x, low, high) - x)


def masked_autoregressive_default_template(
    hidden_layers,
    shift_only=False,
    activation=nn_ops.relu,
    log_scale_min_clip=-5.0,
    log_scale_max_clip=3.0,
    log_scale_clip_gradient=False,
    name=None,
    *args,
    **kwargs,
):
    """The network of MADE (Germain and others, 2015): a function of x to (shift, log_scale).

    hidden_layers: their sizes. shift_only: log_scale is None. log_scale_clip_gradient: whether what
    is clipped has no gradient.
    """
    layer = functools.partial(masked_dense, *args, **kwargs)
    with name_scope(name, "masked_autoregressive_default_template", [log_scale_min_clip]):

        def network(x):
            depth = x.shape.with_rank_at_least(1).size_at(-1)
            if depth is None:
                raise NotImplementedError(_UNKNOWN_SIZE)
            full = x.shape.is_fully_defined()
            shape = x.shape.as_list() if full else array_ops.shape(x)
            if x.shape.ndims == 1:
                x = x[None, ...]
            for i, units in enumerate(hidden_layers):
                x = layer(inputs=x, units=units, num_blocks=depth, exclusive=i == 0,
                          activation=activation)  # fmt: skip
            units = (1 if shift_only else 2) * depth
            x = layer(inputs=x, units=units, num_blocks=depth, activation=None)
            if shift_only:
                return array_ops.reshape(x, shape), None
            x = array_ops.reshape(x, array_ops.concat([shape, [2]], axis=0))
            shift, log_scale = array_ops.unstack(x, num=2, axis=-1)
            clip = clip_ops.clip_by_value if log_scale_clip_gradient else _clipped_with_gradient
            return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

        return make_template("masked_autoregressive_default_template", network)


class RealNVP(ConditionalBijector):
    """The first `num_masked` elements as they are, the others moved and scaled as they say.

    shift_and_log_scale_fn: of the first elements and the number of others to (shift, log_scale) of
    these; either may be None. ValueError unless some elements are left.
    """

    def __init__(
        self,
        num_masked,
        shift_and_log_scale_fn,
        is_constant_jacobian=False,
        validate_args=False,
        name=None,
    ):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._input_depth = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args, name=name or "real_nvp",
        )  # fmt: skip

    def _note_depth(self, x):
        if self._input_depth is None:
            self._input_depth = x.shape.with_rank_at_least(1).size_at(-1)
            if self._input_depth is None:
                raise NotImplementedError(_UNKNOWN_SIZE)
            if self._num_masked >= self._input_depth:
                raise ValueError("Number of masked units must be smaller than the event size.")

    def _asked(self, x, conditions):
        """(the first elements, the others, their shift, the logarithm of their scale)."""
        self._note_depth(x)
        first, rest = x[..., : self._num_masked], x[..., self._num_masked :]
        count = self._input_depth - self._num_masked
        return (first, rest, *self._shift_and_log_scale_fn(first, count, **conditions))

    def _forward(self, x, **conditions):
        first, rest, shift, log_scale = self._asked(x, conditions)
        if log_scale is not None:
            rest *= math_ops.exp(log_scale)
        if shift is not None:
            rest += shift
        return array_ops.concat([first, rest], axis=-1)

    def _inverse(self, y, **conditions):
        first, rest, shift, log_scale = self._asked(y, conditions)
        if shift is not None:
            rest -= shift
        if log_scale is not None:
            rest *= math_ops.exp(-log_scale)
        return array_ops.concat([first, rest], axis=-1)

    def _forward_log_det_jacobian(self, x, **conditions):
        log_scale = self._asked(x, conditions)[3]
        if log_scale is None:
            return convert_to_tensor(0.0, x.dtype, name="fldj")
        return math_ops.reduce_sum(log_scale, axis=-1)

    def _inverse_log_det_jacobian(self, y, **conditions):
        return -self._forward_log_det_jacobian(y, **conditions)


def real_nvp_default_template(
    hidden_layers, shift_only=False, activation=nn_ops.relu, name=None, *args, **kwargs
):
    """A network of dense layers of these sizes, as RealNVP wants it."""
    with name_scope(name, "real_nvp_default_template"):

        def network(x, output_units):
            single = x.shape.ndims == 1
            if single:
                x = x[None, ...]
            for units in hidden_layers:
                x = dense(x, units, activation, *args, **kwargs)
            x = dense(x, (1 if shift_only else 2) * output_units, None, *args, **kwargs)
            if single:
                x = array_ops.squeeze(x, [0])
            if shift_only:
                return x, None
            return tuple(array_ops.split(x, 2, axis=-1))

        return make_template("real_nvp_default_template", network)


def _above_zero(x):
    return nn_ops.relu(x) + 1e-6


class BatchNormalization(ConditionalBijector):
    """inverse() normalizes a batch, forward() takes that back.

    batchnorm_layer: of tf.layers, whose gamma has to stay above 0 and which is not renormalized; by
    default one of its own. training: whether it normalizes by the batch, rather than by what it
    remembers.
    """

    def __init__(
        self, batchnorm_layer=None, training=True, validate_args=False, name="batch_normalization"
    ):
        self.batchnorm = batchnorm_layer or _Normalization(gamma_constraint=_above_zero)
        if not isinstance(self.batchnorm, _Normalization):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if getattr(self.batchnorm, "renorm", False):
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if getattr(self.batchnorm, "virtual_batch_size", None):
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self._training = training
        super().__init__(
            forward_min_event_ndims=1, inverse_min_event_ndims=1, validate_args=validate_args,
            name=name,
        )  # fmt: skip

    def _axes(self):
        axis = self.batchnorm.axis
        return [axis] if isinstance(axis, int) else list(axis)

    def _along_axes(self, x, ndims):
        """A vector of the layer with sizes of 1 where the batch is reduced over."""
        if x is None:
            return None
        axes = [axis % ndims for axis in self._axes()]
        if axes == [ndims - 1]:
            return x
        sizes = [1] * ndims
        sizes[axes[0]] = -1
        return array_ops.reshape(x, sizes)

    def _forward(self, x):
        layer = self.batchnorm
        if not layer.built:
            layer.build(x.shape)
        spread = functools.partial(self._along_axes, ndims=x.shape.ndims)
        beta = spread(layer.beta if layer.center else None)
        gamma = spread(layer.gamma if layer.scale else None)
        y = x if beta is None else x - beta
        if gamma is not None:
            y = y / gamma
        deviation = math_ops.sqrt(spread(layer.moving_variance) + layer.epsilon)
        return y * deviation + spread(layer.moving_mean)

    def _inverse(self, y):
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x):
        return -self._inverse_log_det_jacobian(x)

    def _inverse_log_det_jacobian(self, y):
        layer = self.batchnorm
        if not layer.built:
            layer.build(y.shape)
        kept = {axis % y.shape.ndims for axis in self._axes()}
        over = [axis for axis in range(y.shape.ndims) if axis not in kept]
        if self._training:
            _, variance = nn_ops.moments(y, axes=over, keep_dims=True)
        else:
            variance = layer.moving_variance
        logs = -0.5 * math_ops.reduce_sum(math_ops.log(variance + layer.epsilon))
        if layer.scale:
            logs += math_ops.reduce_sum(math_ops.log(layer.gamma))
        return logs
