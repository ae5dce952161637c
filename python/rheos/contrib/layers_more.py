"""Smaller layers of tf.contrib.layers, layers made of layers, and embeddings of ids."""

from rheos.contrib import variables
from rheos.contrib.arg_scope import add_arg_scope
from rheos.contrib.initializers import xavier_initializer
from rheos.contrib.layer_util import collect, collections_for, finish, last_dimension
from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import array_ops, embedding_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_scope import get_variable, variable_scope

_ZEROS = init_ops.zeros_initializer()


@add_arg_scope
def bias_add(
    inputs,
    activation_fn=None,
    initializer=_ZEROS,
    regularizer=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    data_format="NHWC",
    scope=None,
):
    """Adds the variable `biases` (channels,) to the channels of the inputs, and activates."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and data_format == "NCHW":
            raise ValueError(f"Data format NCHW only supports 4D Tensor, but input has rank {rank}")
        count = inputs.shape.size_at(1 if data_format == "NCHW" else -1)
        if count is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = variables.model_variable(
            "biases",
            shape=[count],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=collections_for(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = nn_ops.bias_add(inputs, biases, data_format=data_format)
        return finish(outputs, sc.name, outputs_collections, activation_fn)


@add_arg_scope
def one_hot_encoding(
    labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None
):
    """Labels (batch,) as rows (batch, num_classes) with `on_value` at the label."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = math_ops.to_int64(labels)
        outputs = array_ops.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect(outputs_collections, sc, outputs)


@add_arg_scope
def softmax(logits, scope=None):
    """The softmax along the last dimension, whose size has to be known."""
    with variable_scope(scope, "softmax", [logits]):
        count = last_dimension(logits.shape, min_rank=2)
        rows = array_ops.reshape(logits, [-1, count])
        result = array_ops.reshape(nn_ops.softmax(rows), array_ops.shape(logits))
        result.set_shape(logits.shape)
        return result


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """The inputs divided by their euclidean norms along `dim`."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.shape.ndims:
            raise ValueError("The input rank must be known.")
        rank = inputs.shape.ndims
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = math_ops.sqrt(epsilon + math_ops.reduce_sum(math_ops.square(inputs), dim, True))
        multiples = []
        if dim > 0:
            multiples.append(array_ops.ones([dim], dtypes.int32))
        multiples.append(array_ops.strided_slice(array_ops.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            multiples.append(array_ops.ones([rank - 1 - dim], dtypes.int32))
        return math_ops.div(inputs, array_ops.tile(lengths, array_ops.concat(multiples, 0)))


@add_arg_scope
def maxout(inputs, num_units, axis=-1, scope=None):
    """The maximum over groups of features: `num_units` remain along `axis`.

    ValueError if the features are not a multiple of num_units.
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        sizes = inputs.shape.as_list()
        features = sizes[axis]
        if features % num_units:
            raise ValueError(
                f"number of features({features}) is not a multiple of num_units({num_units})"
            )
        sizes[axis] = num_units
        sizes += [features // num_units]
        shape = array_ops.shape(inputs)
        sizes = [shape[i] if s is None else s for i, s in enumerate(sizes)]
        return math_ops.reduce_max(array_ops.reshape(inputs, sizes), -1, keepdims=False)


def repeat(inputs, repetitions, layer, *args, **kwargs):
    """Applies a layer several times: repeat(x, 2, conv2d, 64, 3, scope="c") is c/c_1, c/c_2."""
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = scope or _layer_name(layer, "repeat")
        for i in range(repetitions):
            outputs = layer(outputs, *args, **kwargs, scope=f"{scope}_{i + 1}")
        return outputs


def stack(inputs, layer, stack_args, **kwargs):
    """Applies a layer with each of several arguments: stack(x, fully_connected, [32, 64])."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = scope or _layer_name(layer, "stack")
        for i, layer_args in enumerate(stack_args):
            if not isinstance(layer_args, (list, tuple)):
                layer_args = [layer_args]
            outputs = layer(outputs, *layer_args, **kwargs, scope=f"{scope}_{i + 1}")
        return outputs


def _layer_name(layer, otherwise):
    if hasattr(layer, "__name__"):
        return layer.__name__
    if hasattr(layer, "func") and hasattr(layer.func, "__name__"):
        return layer.func.__name__
    return otherwise


@add_arg_scope
def spatial_softmax(
    features,
    temperature=None,
    name=None,
    variables_collections=None,
    trainable=True,
    data_format="NHWC",
):
    """Where each channel of images is large: the mean place by a softmax over all places.

    features: (batch, height, width, channels) or as data_format says. Returns (batch, 2 *
    channels), x and y from -1 to 1. temperature: of the softmax; None makes it a variable.
    """
    with variable_scope(name, "spatial_softmax"):
        shape = array_ops.shape(features)
        static = features.shape
        if data_format == "NHWC":
            height, width, channels = shape[1], shape[2], static.size_at(3)
        elif data_format == "NCHW":
            height, width, channels = shape[2], shape[3], static.size_at(1)
        else:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should "
                             "be defined. Found `None`.")  # fmt: skip
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            pos_x, pos_y = array_ops.meshgrid(
                math_ops.lin_space(-1.0, 1.0, num=height),
                math_ops.lin_space(-1.0, 1.0, num=width),
                indexing="ij",
            )
            pos_x = array_ops.reshape(pos_x, [height * width])
            pos_y = array_ops.reshape(pos_y, [height * width])
            if temperature is None:
                temperature = variables.model_variable(
                    "temperature",
                    shape=(),
                    dtype=dtypes.float32,
                    initializer=init_ops.ones_initializer(),
                    collections=collections_for(variables_collections, "temperature"),
                    trainable=trainable,
                )
            if data_format == "NCHW":
                features = array_ops.reshape(features, [-1, height * width])
            else:
                features = array_ops.reshape(
                    array_ops.transpose(features, [0, 3, 1, 2]), [-1, height * width]
                )
            attention = nn_ops.softmax(features / temperature)
            expected_x = math_ops.reduce_sum(pos_x * attention, [1], keepdims=True)
            expected_y = math_ops.reduce_sum(pos_y * attention, [1], keepdims=True)
            places = array_ops.concat([expected_x, expected_y], 1)
            result = array_ops.reshape(places, [-1, channels * 2])
            result.set_shape([None, channels * 2])
            return result


@add_arg_scope
def images_to_sequence(inputs, data_format="NHWC", outputs_collections=None, scope=None):
    """Images (batch, height, width, channels) as sequences (width, batch * height, channels)."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        first = data_format == "NCHW"
        height_at, width_at, depth_at = (2, 3, 1) if first else (1, 2, 3)
        known = inputs.shape.as_list()
        sizes = array_ops.shape(inputs)
        batch, height = sizes[0], sizes[height_at]
        width = -1 if known[width_at] is None else known[width_at]
        columns = array_ops.transpose(inputs, [width_at, 0, height_at, depth_at])
        sequences = array_ops.reshape(columns, [width, batch * height, known[depth_at]])
        return collect(outputs_collections, sc, sequences)


@add_arg_scope
def sequence_to_images(
    inputs, height, output_data_format="channels_last", outputs_collections=None, scope=None
):
    """Sequences (width, batch * height, channels) as images of that height."""
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, rows, depth = inputs.shape.as_list()
        if rows is None:
            rows = -1
        else:
            rows //= height
        columns = array_ops.reshape(inputs, [width or -1, rows, height, depth])
        first = output_data_format == "channels_first"
        images = array_ops.transpose(columns, [1, 3, 2, 0] if first else [1, 2, 0, 3])
        return collect(outputs_collections, sc, images)


def legacy_fully_connected(
    x,
    num_output_units,
    activation_fn=None,
    weight_init=None,
    bias_init=_ZEROS,
    name=None,
    weight_collections=(GraphKeys.WEIGHTS,),
    bias_collections=(GraphKeys.BIASES,),
    output_collections=(GraphKeys.ACTIVATIONS,),
    trainable=True,
    weight_regularizer=None,
    bias_regularizer=None,
):
    """activation_fn(x @ weights + bias), as tf.contrib.learn had it: x (..., n).

    weight_init: None for Xavier's; bias_init: None for no bias. Variables: `weights` (n,
    num_output_units) and `bias`, in the collections given. ValueError if n is not known.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        dims = x.shape.dims
        if dims is None:
            raise ValueError("dims of x must be known but is None")
        if len(dims) < 2:
            raise ValueError(f"rank of x must be at least 2 not: {len(dims)}")
        size = dims[-1].value
        if size is None:
            raise ValueError("last dimension of x must be known but is None")
        dtype = x.dtype.base_dtype
        weights = get_variable(
            "weights",
            shape=[size, num_output_units],
            dtype=dtype,
            initializer=weight_init or xavier_initializer(),
            collections=[*(weight_collections or []), GraphKeys.GLOBAL_VARIABLES],
            regularizer=weight_regularizer,
            trainable=trainable,
        )
        rows = x if len(dims) <= 2 else array_ops.reshape(x, [-1, size])
        y = math_ops.matmul(rows, weights)
        if bias_init is not None:
            bias = get_variable(
                "bias",
                shape=[num_output_units],
                dtype=dtype,
                initializer=bias_init,
                collections=[*(bias_collections or []), GraphKeys.GLOBAL_VARIABLES],
                regularizer=bias_regularizer,
                trainable=trainable,
            )
            y = nn_ops.bias_add(y, bias)
        if len(dims) > 2:
            outer = array_ops.unstack(array_ops.shape(x))
            outer[-1] = num_output_units
            y = array_ops.reshape(y, array_ops.stack(outer))
            static = x.shape.as_list()
            static[-1] = num_output_units
            y.set_shape(static)
        if activation_fn:
            y = activation_fn(y)
        graph = get_default_graph()
        for collection in output_collections or ():
            graph.add_to_collection(collection, y)
        return y


# ---- Embeddings


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """embedding_lookup() that looks each different id up once."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        shape = array_ops.shape(ids)
        flat = array_ops.reshape(ids, math_ops.reduce_prod(shape, keepdims=True))
        different, places = array_ops.unique(flat)
        rows = embedding_ops.embedding_lookup(params, different, partition_strategy)
        found = array_ops.gather(rows, places)
        sizes = array_ops.concat([shape, array_ops.shape(rows)[1:]], 0)
        result = array_ops.reshape(found, sizes)
        result.set_shape(ids.shape.concatenate(rows.shape.with_rank_at_least(1)[1:]))
        return result


def embed_sequence(
    ids,
    vocab_size=None,
    embed_dim=None,
    unique=False,
    initializer=None,
    regularizer=None,
    trainable=True,
    scope=None,
    reuse=None,
):
    """Rows of the variable `embeddings` (vocab_size, embed_dim) for ids (batch, length).

    reuse: whether it has to exist; else both sizes have to be given (ValueError).
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got vocab_size="
            f"{vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        embeddings = variables.model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if unique:
            return embedding_lookup_unique(embeddings, ids)
        return embedding_ops.embedding_lookup(embeddings, ids)


def bow_encoder(
    ids,
    vocab_size,
    embed_dim,
    sparse_lookup=True,
    initializer=None,
    regularizer=None,
    trainable=True,
    scope=None,
    reuse=None,
):
    """The mean of the rows of the variable `embeddings` for the ids of each element.

    ids: (batch, length), dense or sparse. Returns (batch, embed_dim).
    """
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = variables.model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if sparse_lookup:
            sparse = ids if isinstance(ids, SparseTensor) else _sparse_ids(ids)
            return embedding_ops.safe_embedding_lookup_sparse(
                [embeddings], sparse, combiner="mean", default_id=0, name="embedding_lookup"
            )
        if isinstance(ids, SparseTensor):
            raise TypeError("ids are expected to be dense Tensor, got: %s" % ids)
        return math_ops.reduce_mean(embedding_ops.embedding_lookup(embeddings, ids), axis=1)


def _sparse_ids(ids, ignored=0):
    """The elements other than `ignored`, as a SparseTensor."""
    with name_scope("DenseToSparseTensor"):
        ids = convert_to_tensor(ids)
        ignored = math_ops.cast(ignored, ids.dtype, name="ignore_value")
        indices = array_ops.where(math_ops.not_equal(ids, ignored), name="indices")
        values = array_ops.gather_nd(ids, indices, name="values")
        shape = array_ops.shape(ids, name="dense_shape", out_type=dtypes.int64)
        return SparseTensor(indices, values, shape)


def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    """The elements other than `eos_token`, as a SparseTensor."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        indices = array_ops.where(
            math_ops.not_equal(tensor, array_ops.constant(eos_token, tensor.dtype))
        )
        values = array_ops.gather_nd(tensor, indices)
        shape = array_ops.shape(tensor, out_type=dtypes.int64)
        return collect(outputs_collections, sc.name, SparseTensor(indices, values, shape))


# ---- Older spellings, with these names of arguments


def legacy_linear(*args, **kwargs):
    """legacy_fully_connected() without an activation."""
    return legacy_fully_connected(*args, activation_fn=None, **kwargs)


def legacy_relu(*args, **kwargs):
    """legacy_fully_connected() with relu."""
    return legacy_fully_connected(*args, activation_fn=nn_ops.relu, **kwargs)
