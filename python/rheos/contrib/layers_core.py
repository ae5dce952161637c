"""The layers of tf.contrib.layers: products and convolutions with weights, pooling, dropout.

They make a variable scope with `weights` and `biases` in it, then normalize, then activate. All
can take their arguments from arg_scope().
"""

import functools

from rheos.contrib import variables
from rheos.contrib.arg_scope import add_arg_scope
from rheos.contrib.initializers import xavier_initializer
from rheos.contrib.layer_util import (
    collect,
    collections_for,
    finish,
    format_of,
    keep_variable,
    two,
    variable_getter,
)
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.layers import convolutional, core, pooling
from rheos.ops.array import array_ops
from rheos.ops.nn import nn_conv, nn_ops, nn_pool
from rheos.ops.state import init_ops
from rheos.ops.state.variable_scope import variable_scope

_XAVIER = xavier_initializer()
_ZEROS = init_ops.zeros_initializer()
_RENAMED = {"bias": "biases", "kernel": "weights"}
_RENAMED_SEPARABLE = {
    "bias": "biases",
    "depthwise_kernel": "depthwise_weights",
    "pointwise_kernel": "pointwise_weights",
}


def _keep_weights(layer, variables_collections):
    keep_variable(layer.kernel, variables_collections, "weights")
    if layer.use_bias:
        keep_variable(layer.bias, variables_collections, "biases")


@add_arg_scope
def fully_connected(
    inputs,
    num_outputs,
    activation_fn=nn_ops.relu,
    normalizer_fn=None,
    normalizer_params=None,
    weights_initializer=_XAVIER,
    weights_regularizer=None,
    biases_initializer=_ZEROS,
    biases_regularizer=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    scope=None,
):
    """activation_fn(inputs @ weights + biases): inputs (..., n), returns (..., num_outputs).

    normalizer_fn: comes in the place of the biases, called with `normalizer_params`.
    biases_initializer: None for no biases. scope: of the variables `weights` (n, num_outputs) and
    `biases`. ValueError if num_outputs is no whole number or n is not known.
    """
    if isinstance(num_outputs, bool) or not hasattr(num_outputs, "__index__"):
        raise ValueError(f"num_outputs type should be one of [int], got {type(num_outputs)}.")
    with variable_scope(
        scope,
        "fully_connected",
        [inputs],
        reuse=reuse,
        custom_getter=variable_getter(_RENAMED),
    ) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dense(
            units=num_outputs,
            use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=sc.name,
            dtype=inputs.dtype.base_dtype,
            _scope=sc,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        _keep_weights(layer, variables_collections)
        return finish(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def _convolution(
    layer_class,
    default_scope,
    inputs,
    num_outputs,
    kernel_size,
    stride,
    padding,
    data_format,
    activation_fn,
    normalizer_fn,
    normalizer_params,
    weights_initializer,
    weights_regularizer,
    biases_initializer,
    biases_regularizer,
    reuse,
    variables_collections,
    outputs_collections,
    trainable,
    scope,
    **settings,
):
    """layer_class: of tf.layers, or a function that gives one for the rank of the inputs."""
    with variable_scope(
        scope, default_scope, [inputs], reuse=reuse, custom_getter=variable_getter(_RENAMED)
    ) as sc:
        inputs = convert_to_tensor(inputs)
        if not isinstance(layer_class, type):
            layer_class = layer_class(inputs)
        layer = layer_class(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=data_format,
            use_bias=not normalizer_fn and bool(biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=sc.name,
            dtype=inputs.dtype.base_dtype,
            _scope=sc,
            _reuse=reuse,
            **settings,
        )
        outputs = layer.apply(inputs)
        _keep_weights(layer, variables_collections)
        return finish(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


_LAYER_OF_RANK = {3: convolutional.Conv1D, 4: convolutional.Conv2D, 5: convolutional.Conv3D}


@add_arg_scope
def convolution(
    inputs,
    num_outputs,
    kernel_size,
    stride=1,
    padding="SAME",
    data_format=None,
    rate=1,
    activation_fn=nn_ops.relu,
    normalizer_fn=None,
    normalizer_params=None,
    weights_initializer=_XAVIER,
    weights_regularizer=None,
    biases_initializer=_ZEROS,
    biases_regularizer=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    scope=None,
    conv_dims=None,
):
    """A convolution of one, two or three spatial dimensions, as the inputs have.

    inputs: (batch, spatial..., channels), or as `data_format` ("NCHW" and the like) says.
    kernel_size, stride, rate: one number, or one for each spatial dimension. normalizer_fn: comes
    in the place of the biases, called with `normalizer_params`. scope: of the variables `weights`
    (spatial..., channels, num_outputs) and `biases`. conv_dims: how many spatial dimensions the
    inputs must have. ValueError for other ranks and formats.
    """
    layout = format_of(data_format, _FORMATS)

    def layer_class(inputs):
        rank = inputs.shape.ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(
                f"Convolution expects input with rank {conv_dims + 2}, got {inputs.shape.ndims}"
            )
        if rank not in _LAYER_OF_RANK:
            raise ValueError("Convolution not supported for input with rank", rank)
        return _LAYER_OF_RANK[rank]

    return _convolution(
        layer_class,
        "Conv",
        inputs,
        num_outputs,
        kernel_size,
        stride,
        padding,
        layout,
        activation_fn,
        normalizer_fn,
        normalizer_params,
        weights_initializer,
        weights_regularizer,
        biases_initializer,
        biases_regularizer,
        reuse,
        variables_collections,
        outputs_collections,
        trainable,
        scope,
        dilation_rate=rate,
    )


def _convolution_of(conv_dims, name, noun):
    def function(
        inputs,
        num_outputs,
        kernel_size,
        stride=1,
        padding="SAME",
        data_format=None,
        rate=1,
        activation_fn=nn_ops.relu,
        normalizer_fn=None,
        normalizer_params=None,
        weights_initializer=_XAVIER,
        weights_regularizer=None,
        biases_initializer=_ZEROS,
        biases_regularizer=None,
        reuse=None,
        variables_collections=None,
        outputs_collections=None,
        trainable=True,
        scope=None,
    ):
        return convolution(
            inputs,
            num_outputs,
            kernel_size,
            stride,
            padding,
            data_format,
            rate,
            activation_fn,
            normalizer_fn,
            normalizer_params,
            weights_initializer,
            weights_regularizer,
            biases_initializer,
            biases_regularizer,
            reuse,
            variables_collections,
            outputs_collections,
            trainable,
            scope,
            conv_dims=conv_dims,
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A convolution of {noun}; see convolution()."
    return add_arg_scope(function)


convolution1d = _convolution_of(1, "convolution1d", "lines (batch, width, channels)")
convolution2d = _convolution_of(2, "convolution2d", "images (batch, height, width, channels)")
convolution3d = _convolution_of(
    3, "convolution3d", "volumes (batch, depth, height, width, channels)"
)


def _transposed(name, layer_class, scope_name, formats, noun):
    def function(
        inputs,
        num_outputs,
        kernel_size,
        stride=1,
        padding="SAME",
        data_format=formats[1],
        activation_fn=nn_ops.relu,
        normalizer_fn=None,
        normalizer_params=None,
        weights_initializer=_XAVIER,
        weights_regularizer=None,
        biases_initializer=_ZEROS,
        biases_regularizer=None,
        reuse=None,
        variables_collections=None,
        outputs_collections=None,
        trainable=True,
        scope=None,
    ):
        return _convolution(
            layer_class,
            scope_name,
            inputs,
            num_outputs,
            kernel_size,
            stride,
            padding,
            format_of(data_format, formats),
            activation_fn,
            normalizer_fn,
            normalizer_params,
            weights_initializer,
            weights_regularizer,
            biases_initializer,
            biases_regularizer,
            reuse,
            variables_collections,
            outputs_collections,
            trainable,
            scope,
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"A transposed convolution of {noun}: `stride` times as large.\n\n"
        "    The variable `weights` is (spatial..., num_outputs, channels); the rest is as for\n"
        "    convolution().\n    "
    )
    return add_arg_scope(function)


convolution2d_transpose = _transposed(
    "convolution2d_transpose",
    convolutional.Conv2DTranspose,
    "Conv2d_transpose",
    ("NCHW", "NHWC"),
    "images",
)
convolution3d_transpose = _transposed(
    "convolution3d_transpose",
    convolutional.Conv3DTranspose,
    "Conv3d_transpose",
    ("NCDHW", "NDHWC"),
    "volumes",
)


@add_arg_scope
def convolution2d_in_plane(
    inputs,
    kernel_size,
    stride=1,
    padding="SAME",
    activation_fn=nn_ops.relu,
    normalizer_fn=None,
    normalizer_params=None,
    weights_initializer=_XAVIER,
    weights_regularizer=None,
    biases_initializer=_ZEROS,
    biases_regularizer=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    scope=None,
):
    """A convolution of each channel of images with the same weights.

    inputs: (batch, height, width, channels). The variable `weights` is kernel_size + (1, 1),
    `biases` (channels,).
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        dtype = inputs.dtype.base_dtype
        kernel_h, kernel_w = two(kernel_size)
        stride_h, stride_w = two(stride)
        channels = inputs.shape.size_at(3)
        weights = variables.model_variable(
            "weights",
            shape=[kernel_h, kernel_w, 1, 1],
            dtype=dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            collections=collections_for(variables_collections, "weights"),
            trainable=trainable,
        )
        wide = array_ops.tile(weights, [1, 1, channels, 1])
        outputs = nn_conv.depthwise_conv2d(inputs, wide, [1, stride_h, stride_w, 1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            biases = _biases(
                channels, dtype, biases_initializer, biases_regularizer, variables_collections,
                trainable,
            )  # fmt: skip
            outputs = nn_ops.bias_add(outputs, biases)
        return finish(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _biases(count, dtype, initializer, regularizer, variables_collections, trainable):
    return variables.model_variable(
        "biases",
        shape=[count],
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections_for(variables_collections, "biases"),
    )


@add_arg_scope
def separable_convolution2d(
    inputs,
    num_outputs,
    kernel_size,
    depth_multiplier=1,
    stride=1,
    padding="SAME",
    data_format="NHWC",
    rate=1,
    activation_fn=nn_ops.relu,
    normalizer_fn=None,
    normalizer_params=None,
    weights_initializer=_XAVIER,
    pointwise_initializer=None,
    weights_regularizer=None,
    biases_initializer=_ZEROS,
    biases_regularizer=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    scope=None,
):
    """A convolution of each channel of images, then one that mixes the channels.

    num_outputs: None leaves the second one out. Variables: `depthwise_weights` (height, width,
    channels, depth_multiplier), `pointwise_weights` (1, 1, channels * depth_multiplier,
    num_outputs), `biases`. The rest is as for convolution().
    """
    layout = format_of(data_format, ("NCHW", "NHWC"))
    with variable_scope(
        scope,
        "SeparableConv2d",
        [inputs],
        reuse=reuse,
        custom_getter=variable_getter(_RENAMED_SEPARABLE),
    ) as sc:
        inputs = convert_to_tensor(inputs)
        if pointwise_initializer is None:
            pointwise_initializer = weights_initializer
        if num_outputs is not None:
            layer = convolutional.SeparableConv2D(
                filters=num_outputs,
                kernel_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=layout,
                dilation_rate=two(rate),
                depth_multiplier=depth_multiplier,
                use_bias=not normalizer_fn and bool(biases_initializer),
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer,
                bias_initializer=biases_initializer,
                depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                trainable=trainable,
                name=sc.name,
                dtype=inputs.dtype.base_dtype,
                _scope=sc,
                _reuse=reuse,
            )
            outputs = layer.apply(inputs)
            keep_variable(layer.depthwise_kernel, variables_collections, "weights")
            keep_variable(layer.pointwise_kernel, variables_collections, "weights")
            if layer.use_bias:
                keep_variable(layer.bias, variables_collections, "biases")
        else:
            outputs = _depthwise(
                inputs,
                two(kernel_size),
                depth_multiplier,
                two(stride),
                padding,
                data_format,
                rate,
                functools.partial(
                    variables.model_variable,
                    initializer=weights_initializer,
                    regularizer=weights_regularizer,
                    trainable=trainable,
                    collections=collections_for(variables_collections, "weights"),
                ),
            )
            if normalizer_fn is None and biases_initializer is not None:
                count = outputs.shape.size_at(1 if layout == "channels_first" else 3)
                biases = _biases(
                    count, inputs.dtype.base_dtype, biases_initializer, biases_regularizer,
                    variables_collections, trainable,
                )  # fmt: skip
                outputs = nn_ops.bias_add(outputs, biases, data_format=data_format)
        return finish(
            outputs, sc.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _depthwise(inputs, kernel, multiplier, stride, padding, data_format, rate, make):
    first = data_format.startswith("NC")
    channels = inputs.shape.size_at(1 if first else -1)
    weights = make(
        "depthwise_weights", shape=[*kernel, channels, multiplier], dtype=inputs.dtype.base_dtype
    )
    strides = [1, 1, *stride] if first else [1, *stride, 1]
    return nn_conv.depthwise_conv2d(
        inputs, weights, strides, padding, rate=two(rate), data_format=data_format
    )


# ---- Without weights


def _pooling(name, layer_class, scope_name, formats, what):
    def function(
        inputs,
        kernel_size,
        stride=2,
        padding="VALID",
        data_format=formats[1],
        outputs_collections=None,
        scope=None,
    ):
        layout = format_of(data_format, formats)
        with name_scope(scope, scope_name, [inputs]) as sc:
            inputs = convert_to_tensor(inputs)
            layer = layer_class(
                pool_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=layout,
                _scope=sc,
            )
            return collect(outputs_collections, sc, layer.apply(inputs))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{what}. kernel_size, stride: one number, or one for each spatial dimension.\n\n"
        f"    inputs: as data_format says, {' or '.join(formats)}; ValueError for others.\n    "
    )
    return add_arg_scope(function)


max_pool2d = _pooling(
    "max_pool2d", pooling.MaxPooling2D, "MaxPool2D", ("NCHW", "NHWC"), "The maximum over windows"
)
avg_pool2d = _pooling(
    "avg_pool2d", pooling.AveragePooling2D, "AvgPool2D", ("NCHW", "NHWC"), "The mean over windows"
)
max_pool3d = _pooling(
    "max_pool3d", pooling.MaxPooling3D, "MaxPool3D", ("NCDHW", "NDHWC"), "The maximum over windows"
)
avg_pool3d = _pooling(
    "avg_pool3d", pooling.AveragePooling3D, "AvgPool3D", ("NCDHW", "NDHWC"), "The mean over windows"
)


@add_arg_scope
def pool(
    inputs,
    kernel_size,
    pooling_type,
    padding="VALID",
    data_format=None,
    dilation_rate=1,
    stride=1,
    outputs_collections=None,
    scope=None,
):
    """The maximum or the mean ("MAX", "AVG") over windows in any number of dimensions."""
    scope_name = pooling_type.lower() + "_pool"
    with name_scope(scope, scope_name, [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        count = rank - 2

        def many(value, name):
            values = [value] * count if isinstance(value, int) else [int(v) for v in value]
            if len(values) != count:
                raise ValueError(f"{name} must have {count} elements")
            return values

        outputs = nn_pool.pool(
            input=inputs,
            window_shape=many(kernel_size, "kernel_size"),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=many(dilation_rate, "dilation_rate"),
            strides=many(stride, "stride"),
            name=sc,
        )
        return collect(outputs_collections, sc, outputs)


@add_arg_scope
def dropout(
    inputs,
    keep_prob=0.5,
    noise_shape=None,
    is_training=True,
    outputs_collections=None,
    scope=None,
    seed=None,
):
    """In training keeps elements with probability `keep_prob`, scaled up; others become 0.

    is_training: a bool or a scalar bool tensor.
    """
    with variable_scope(scope, "Dropout", [inputs], custom_getter=variable_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(
            rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc
        )
        return collect(outputs_collections, sc.name, layer.apply(inputs, training=is_training))


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    """Makes a matrix (batch, rest) of its inputs."""
    with name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        return collect(outputs_collections, sc, core.flatten(inputs))


linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=nn_ops.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn_ops.relu6)
