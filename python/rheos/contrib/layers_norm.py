"""The normalizing layers of tf.contrib.layers."""

from rheos.contrib import variables
from rheos.contrib.arg_scope import add_arg_scope
from rheos.contrib.layer_util import (
    add_to_collections,
    collections_for,
    finish,
    keep_variable,
    variable_getter,
)
from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies
from rheos.layers.normalization import BatchNormalization, moving_average
from rheos.ops.array import array_ops
from rheos.ops.flow.smart_cond import known_flag, smart_cond
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_norm, nn_ops
from rheos.ops.state import init_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_scope import get_variable_scope, variable_scope


def _parameter(
    name, shape, dtype, initializers, default, collections, trainable, regularizers=None
):
    """One of the variables that a normalization trains or keeps."""
    return variables.model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=(initializers or {}).get(name, default()),
        regularizer=(regularizers or {}).get(name),
        collections=collections_for(collections, name),
        trainable=trainable,
    )


@add_arg_scope
def batch_norm(
    inputs,
    decay=0.999,
    center=True,
    scale=False,
    epsilon=0.001,
    activation_fn=None,
    param_initializers=None,
    param_regularizers=None,
    updates_collections=GraphKeys.UPDATE_OPS,
    is_training=True,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    batch_weights=None,
    fused=None,
    data_format="NHWC",
    zero_debias_moving_mean=False,
    scope=None,
    renorm=False,
    renorm_clipping=None,
    renorm_decay=0.99,
    adjustment=None,
):
    """Makes the mean of each channel `beta`, and its standard deviation `gamma`.

    inputs: (..., channels), or (batch, channels, ...) for data_format "NCHW". is_training: a bool
    or a scalar bool tensor: whether to use the statistics of the batch and to renew their averages,
    by operations in `updates_collections`, or, if that is None, before the output is computed.
    batch_weights: (batch,), how much each element counts. param_initializers, param_regularizers:
    dicts for beta, gamma, moving_mean and moving_variance. ValueError for other formats and
    unknown ranks.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    if fused is None:
        fused = True
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    can_fuse = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    as_usual = updates_collections is GraphKeys.UPDATE_OPS or (
        updates_collections == GraphKeys.UPDATE_OPS
    )
    if fused and can_fuse and (zero_debias_moving_mean or rank == 2 or not as_usual):
        return _Normalization(locals(), _fused_outputs, dtypes.float32).outputs()
    if batch_weights is None and as_usual and not zero_debias_moving_mean:
        return _by_core_layer(locals())
    if renorm:
        raise ValueError(
            "renorm is not supported with batch_weights, updates_collections or "
            "zero_debias_moving_mean"
        )
    return _Normalization(locals(), _plain_outputs, inputs.dtype.base_dtype).outputs()


def _by_core_layer(given):
    """By tf.layers, which can do the usual."""
    inputs = given["inputs"]
    collections = given["variables_collections"]
    reuse = given["reuse"]
    with variable_scope(
        given["scope"], "BatchNorm", [inputs], reuse=reuse, custom_getter=variable_getter()
    ) as sc:
        inputs = convert_to_tensor(inputs)
        initializers = given["param_initializers"] or {}
        regularizers = given["param_regularizers"] or {}
        layer = BatchNormalization(
            axis=1 if given["data_format"] == "NCHW" else -1,
            momentum=given["decay"],
            epsilon=given["epsilon"],
            center=given["center"],
            scale=given["scale"],
            beta_initializer=initializers.get("beta"),
            gamma_initializer=initializers.get("gamma"),
            moving_mean_initializer=initializers.get("moving_mean"),
            moving_variance_initializer=initializers.get("moving_variance"),
            beta_regularizer=regularizers.get("beta"),
            gamma_regularizer=regularizers.get("gamma"),
            trainable=given["trainable"],
            renorm=given["renorm"],
            renorm_clipping=given["renorm_clipping"],
            renorm_momentum=given["renorm_decay"],
            adjustment=given["adjustment"],
            name=sc.name,
            _scope=sc,
            _reuse=reuse,
            fused=bool(given["fused"] and given["can_fuse"] and inputs.shape.ndims == 4),
        )
        outputs = layer.apply(inputs, training=given["is_training"])
        keep_variable(layer.moving_mean, collections, "moving_mean")
        keep_variable(layer.moving_variance, collections, "moving_variance")
        if layer.beta is not None:
            keep_variable(layer.beta, collections, "beta")
        if layer.gamma is not None:
            keep_variable(layer.gamma, collections, "gamma")
        return finish(outputs, sc.name, given["outputs_collections"], given["activation_fn"])


class _Normalization:
    """Batch normalization with what tf.layers does not have, made of operations here."""

    def __init__(self, given, compute, dtype):
        self.given = given
        self.compute = compute
        self.dtype = dtype
        self.first = given["data_format"] == "NCHW"
        self.is_training = known_flag(given["is_training"])

    def outputs(self):
        given = self.given
        inputs = given["inputs"]
        with variable_scope(
            given["scope"], "BatchNorm", [inputs], reuse=given["reuse"],
            custom_getter=variable_getter() if self.compute is _plain_outputs else None,
        ) as sc:  # fmt: skip
            outputs = self.compute(self, sc, convert_to_tensor(inputs))
            return finish(outputs, sc.name, given["outputs_collections"], given["activation_fn"])

    def make_parameters(self, shape, fill_missing):
        """The variables, for `shape` channels; without beta or gamma constants if asked for."""
        given = self.given

        def make(name, default, trainable):
            return _parameter(
                name, shape, self.dtype, given["param_initializers"], default,
                given["variables_collections"], trainable, given["param_regularizers"],
            )  # fmt: skip

        def trained(name, wanted, default, value):
            if wanted:
                return make(name, default, given["trainable"])
            if not fill_missing:
                return None
            return array_ops.constant(value, dtype=self.dtype, shape=shape)

        self.beta = trained("beta", given["center"], init_ops.zeros_initializer, 0.0)
        self.gamma = trained("gamma", given["scale"], init_ops.ones_initializer, 1.0)
        # The averages are never in parts, which their updates could not change.
        scope = get_variable_scope()
        partitioner = scope.partitioner
        try:
            scope.set_partitioner(None)
            self.moving_mean = make("moving_mean", init_ops.zeros_initializer, False)
            self.moving_variance = make("moving_variance", init_ops.ones_initializer, False)
        finally:
            scope.set_partitioner(partitioner)

    def renew(self, mean, variance):
        """The operations that move the averages."""
        decay = self.given["decay"]
        return (
            moving_average(self.moving_mean, mean, decay, self.given["zero_debias_moving_mean"]),
            moving_average(self.moving_variance, variance, decay),
        )

    def renewed(self, mean, variance, values, otherwise):
        """`values`, in training after the averages moved if no collection is given for that.

        otherwise: a function that gives the values where a tensor says that this is no training.
        """
        collections = self.given["updates_collections"]
        if collections is None:

            def move_first():
                with control_dependencies(self.renew(mean, variance)):
                    made = [array_ops.identity(value) for value in values]
                return made[0] if len(made) == 1 else tuple(made)

            made = smart_cond(self.is_training, move_first, otherwise)
            return made if isinstance(made, (list, tuple)) else [made]
        averages = (self.moving_mean, self.moving_variance)
        updates = smart_cond(self.is_training, lambda: self.renew(mean, variance), lambda: averages)
        for update in updates:
            add_to_collections(collections, update)
        return values


def _fused_outputs(self, sc, inputs):
    given = self.given
    original = inputs
    if inputs.shape.ndims == 2:
        channels = inputs.shape.size_at(-1)
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        shape = [-1, channels, 1, 1] if self.first else [-1, 1, 1, channels]
        inputs = array_ops.reshape(inputs, shape)
    known = inputs.shape
    params = known[1:2] if self.first else known[-1:]
    if not params.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {params}.")
    self.make_parameters(params, fill_missing=True)
    settings = {"epsilon": given["epsilon"], "data_format": given["data_format"]}

    def of_batch():
        return nn_norm.fused_batch_norm(inputs, self.gamma, self.beta, **settings)

    def of_averages():
        return nn_norm.fused_batch_norm(
            inputs, self.gamma, self.beta, mean=self.moving_mean, variance=self.moving_variance,
            is_training=False, **settings,
        )  # fmt: skip

    outputs, mean, variance = smart_cond(self.is_training, of_batch, of_averages)
    if self.is_training is not False:
        (outputs,) = self.renewed(mean, variance, [outputs], lambda: outputs)
    outputs.set_shape(known)
    if original.shape.ndims == 2:
        outputs = array_ops.reshape(outputs, array_ops.shape(original))
    return outputs


def _plain_outputs(self, sc, inputs):
    given = self.given
    known = inputs.shape
    rank = known.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    weights = given["batch_weights"]
    if weights is not None:
        weights = convert_to_tensor(weights)
        known[0:1].assert_is_compatible_with(weights.shape)
        weights = array_ops.reshape(weights, [-1] + [1] * (rank - 1))
    if self.first:
        axes = [0, *range(2, rank)]
        params = known[1:2]
        wide = [1, known.size_at(1)] + [1] * (rank - 2)
    else:
        axes = list(range(rank - 1))
        params = known[-1:]
        wide = None
    if not params.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {params}.")
    with variable_scope(sc):
        self.make_parameters(params, fill_missing=False)
    mean, variance = self.moving_mean, self.moving_variance
    if self.is_training is not False:
        found = _moments(inputs, axes, weights, self.first)
        averages = (mean, variance)
        mean, variance = self.renewed(*found, found, lambda: averages)
        if given["updates_collections"] is not None:
            mean, variance = smart_cond(self.is_training, lambda: found, lambda: averages)
    beta, gamma = self.beta, self.gamma
    if wide is not None:
        mean = array_ops.reshape(mean, wide)
        variance = array_ops.reshape(variance, wide)
        beta = None if beta is None else array_ops.reshape(beta, wide)
        gamma = None if gamma is None else array_ops.reshape(gamma, wide)
    outputs = nn_ops.batch_normalization(inputs, mean, variance, beta, gamma, given["epsilon"])
    outputs.set_shape(known)
    return outputs


def _moments(inputs, axes, weights, keep):
    """The mean and variance over `axes`, as vectors."""
    if weights is None:
        mean, variance = nn_ops.moments(inputs, axes, keep_dims=keep)
    else:
        mean, variance = nn_norm.weighted_moments(inputs, axes, weights, keepdims=keep)
    if keep:
        mean = array_ops.reshape(mean, [-1])
        variance = array_ops.reshape(variance, [-1])
    return mean, variance


@add_arg_scope
def layer_norm(
    inputs,
    center=True,
    scale=True,
    activation_fn=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    begin_norm_axis=1,
    begin_params_axis=-1,
    scope=None,
):
    """Normalizes each element of the batch by itself.

    Mean and variance are those over the dimensions from `begin_norm_axis` on; the variables `beta`
    and `gamma` have the dimensions from `begin_params_axis` on. ValueError if these are not known.
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        known = inputs.shape
        rank = known.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        dtype = inputs.dtype.base_dtype
        if begin_norm_axis < 0:
            begin_norm_axis += rank
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) "
                f"must be < rank(inputs) ({rank})"
            )
        params = known[begin_params_axis:]
        if not params.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                f"{known}"
            )
        beta = gamma = None
        if center:
            beta = _parameter(
                "beta", params, dtype, None, init_ops.zeros_initializer, variables_collections,
                trainable,
            )  # fmt: skip
        if scale:
            gamma = _parameter(
                "gamma", params, dtype, None, init_ops.ones_initializer, variables_collections,
                trainable,
            )  # fmt: skip
        mean, variance = nn_ops.moments(inputs, list(range(begin_norm_axis, rank)), keep_dims=True)
        # Half precision has no smaller one.
        epsilon = 1e-3 if dtype == dtypes.float16 else 1e-12
        outputs = nn_ops.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(known)
        return finish(outputs, sc.name, outputs_collections, activation_fn)


@add_arg_scope
def instance_norm(
    inputs,
    center=True,
    scale=True,
    epsilon=1e-6,
    activation_fn=None,
    param_initializers=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    data_format="NHWC",
    scope=None,
):
    """Normalizes each channel of each element of the batch by itself.

    inputs: (batch, ..., channels), or (batch, channels, ...) for data_format "NCHW". Variables:
    `beta` and `gamma` (channels,). ValueError for other formats and unknown channels.
    """
    inputs = convert_to_tensor(inputs)
    known = inputs.shape
    rank = known.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        axis = 1 if data_format == "NCHW" else rank - 1
        wide = [1] * rank
        wide[axis] = known.size_at(axis)
        params = known[axis : axis + 1]
        if not params.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {params}.")
        axes = [i for i in range(1, rank) if i != axis]
        beta, gamma = _centre_and_scale(
            center, scale, params, inputs.dtype.base_dtype, param_initializers,
            variables_collections, trainable, wide if data_format == "NCHW" else None,
        )  # fmt: skip
        mean, variance = nn_ops.moments(inputs, axes, keep_dims=True)
        outputs = nn_ops.batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        outputs.set_shape(known)
        return finish(outputs, sc.name, outputs_collections, activation_fn)


def _centre_and_scale(center, scale, params, dtype, initializers, collections, trainable, wide):
    """beta and gamma, None where they are not wanted, in the shape `wide` if it is given."""
    beta = gamma = None
    if center:
        beta = _parameter(
            "beta", params, dtype, initializers, init_ops.zeros_initializer, collections, trainable
        )
        beta = beta if wide is None else array_ops.reshape(beta, wide)
    if scale:
        gamma = _parameter(
            "gamma", params, dtype, initializers, init_ops.ones_initializer, collections, trainable
        )
        gamma = gamma if wide is None else array_ops.reshape(gamma, wide)
    return beta, gamma


@add_arg_scope
def group_norm(
    inputs,
    groups=32,
    channels_axis=-1,
    reduction_axes=(-3, -2),
    center=True,
    scale=True,
    epsilon=1e-6,
    activation_fn=None,
    param_initializers=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    scope=None,
    mean_close_to_zero=False,
):
    """Normalizes groups of channels of each element of the batch by themselves.

    reduction_axes: over which mean and variance go besides the channels of a group. Variables:
    `beta` and `gamma` (channels,). ValueError if the channels are not known, are not whole groups,
    or are among the reduction_axes. mean_close_to_zero: computes the variance from the squares.
    """
    inputs = convert_to_tensor(inputs)
    known = inputs.shape
    rank = known.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    axis = channels_axis + rank if channels_axis < 0 else channels_axis
    channels = known.size_at(axis)
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {known}.")
    reduced = [a + rank if a < 0 else a for a in reduction_axes]
    if any(a > rank for a in reduced):
        raise ValueError("Axis is out of bounds.")
    if axis in reduced:
        raise ValueError(f"reduction_axes must not have channels_axis: {reduction_axes}")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    shape = array_ops.shape(inputs)
    sizes = [shape[i] if d is None else d for i, d in enumerate(known.as_list())]
    grouped = list(sizes)
    grouped[axis : axis + 1] = [groups, channels // groups]
    axes = [axis + 1] + [a + 1 if a > axis else a for a in reduced]
    inputs = array_ops.reshape(inputs, grouped)
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        wide = [1] * (rank + 1)
        wide[axis : axis + 2] = [groups, channels // groups]
        beta, gamma = _centre_and_scale(
            center, scale, known[axis : axis + 1], inputs.dtype.base_dtype, param_initializers,
            variables_collections, trainable, wide,
        )  # fmt: skip
        if mean_close_to_zero:
            statistics = nn_norm.sufficient_statistics(inputs, axes, keep_dims=True)
            mean, variance = nn_norm.normalize_moments(*statistics[:3], shift=None)
        else:
            mean, variance = nn_ops.moments(inputs, axes, keep_dims=True)
        gain = math_ops.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = array_ops.reshape(inputs * gain + offset, sizes)
        outputs.set_shape(known)
        return finish(outputs, sc.name, outputs_collections, activation_fn)
