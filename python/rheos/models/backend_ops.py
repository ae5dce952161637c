"""The functions of tensors of tf.keras.backend."""

import numpy as np

from rheos.framework import dtypes, tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope  # noqa: F401
from rheos.framework.sparse_tensor import SparseTensor
from rheos.layers import values
from rheos.layers.convolutional import op_format
from rheos.models import activations, losses
from rheos.models.defaults import floatx
from rheos.models.layers import merge
from rheos.models.rnn_loop import rnn  # noqa: F401
from rheos.ops.array import array_ops, constant_op, rearrange_ops, sparse_ops
from rheos.ops.differentiation import gradients as gradients_module
from rheos.ops.flow import control_flow_ops, functional_ops
from rheos.ops.flow.smart_cond import known_flag, smart_cond
from rheos.ops.io import logging_ops
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.media import image_ops
from rheos.ops.nn import ctc_ops, nn_conv, nn_ops, nn_pool
from rheos.ops.random import random_ops
from rheos.ops.state import state_ops
from rheos.ops.state.variables import Variable

_SMALL = 1e-7

# ---- Making


def constant(value, dtype=None, shape=None, name=None):
    """A constant."""
    return constant_op.constant(value, dtype=dtype or floatx(), shape=shape, name=name)


def _variable(value, dtype, name):
    return Variable(value, dtype=dtypes.as_dtype(dtype), name=name, use_resource=True)


def zeros(shape, dtype=None, name=None):
    """A variable of zeros; a tensor, where the shape is not known."""
    dtype = dtype or floatx()
    found = array_ops.zeros(shape, dtype)
    known = tensor_shape.as_shape(found.shape).is_fully_defined()
    return _variable(found, dtype, name) if known else found


def ones(shape, dtype=None, name=None):
    """A variable of ones; a tensor, where the shape is not known."""
    dtype = dtype or floatx()
    found = array_ops.ones(shape, dtype)
    known = tensor_shape.as_shape(found.shape).is_fully_defined()
    return _variable(found, dtype, name) if known else found


def eye(size, dtype=None, name=None):
    """A variable of an identity matrix."""
    dtype = dtype or floatx()
    return _variable(rearrange_ops.eye(size, dtype=dtypes.as_dtype(dtype)), dtype, name)


def zeros_like(x, dtype=None, name=None):
    """Zeros of the shape of x."""
    return array_ops.zeros_like(x, dtype=dtype, name=name)


def ones_like(x, dtype=None, name=None):
    """Ones of the shape of x."""
    return array_ops.ones_like(x, dtype=dtype, name=name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable of uniform numbers."""
    dtype = dtype or floatx()
    value = random_ops.random_uniform(shape, low, high, dtypes.as_dtype(dtype), seed=seed)
    return _variable(value, dtype, name)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable of normal numbers."""
    dtype = dtype or floatx()
    value = random_ops.random_normal(shape, mean, scale, dtypes.as_dtype(dtype), seed=seed)
    return _variable(value, dtype, name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers."""
    dtype = dtypes.as_dtype(dtype or floatx())
    return random_ops.random_normal(shape, mean, stddev, dtype, seed=_seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform numbers."""
    dtype = dtypes.as_dtype(dtype or floatx())
    return random_ops.random_uniform(shape, minval, maxval, dtype, seed=_seed(seed))


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """Ones with probability p, else zeros."""
    dtype = dtypes.as_dtype(dtype or floatx())
    drawn = random_ops.random_uniform(shape, dtype=dtype, seed=_seed(seed))
    return math_ops.cast(drawn <= p, dtype)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two standard deviations of the mean."""
    dtype = dtypes.as_dtype(dtype or floatx())
    return random_ops.truncated_normal(shape, mean, stddev, dtype, seed=_seed(seed))


def _seed(seed):
    return np.random.randint(10**7) if seed is None else seed


# ---- What they are


def is_sparse(tensor):
    """Whether it is a sparse tensor."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor):
    """A dense tensor of a sparse one."""
    return sparse_ops.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def is_keras_tensor(x):
    """Whether a layer, or Input(), made it."""
    if not values.is_tensor(x):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`.")
    return hasattr(x, "_keras_history")


def shape(x):
    """The shape as a tensor."""
    return array_ops.shape(x)


def int_shape(x):
    """The shape as a tuple with None for what is not known; None if the rank is not."""
    found = tensor_shape.as_shape(x.shape)
    return None if found.ndims is None else tuple(found.as_list())


def ndim(x):
    """The number of dimensions."""
    return tensor_shape.as_shape(x.shape).ndims


def dtype(x):
    """The name of the dtype."""
    return x.dtype.base_dtype.name


def count_params(x):
    """The number of elements."""
    return int(np.prod(tensor_shape.as_shape(x.shape).as_list()))


def cast_to_floatx(x):
    """An array, or tensor, of the default dtype."""
    if values.is_tensor(x):
        return math_ops.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


# ---- Changing variables


def update(x, new_x):
    """Sets a variable."""
    return state_ops.assign(x, new_x)


def update_add(x, increment):
    """Adds to a variable."""
    return state_ops.assign_add(x, increment)


def update_sub(x, decrement):
    """Subtracts from a variable."""
    return state_ops.assign_sub(x, decrement)


def moving_average_update(x, value, momentum):
    """Moves a variable towards a value by 1 - momentum."""
    return state_ops.assign_sub(x, (x - value) * (1 - momentum))


def manual_variable_initialization(value):
    """Whether variables are left for the program to initialize: only False is there."""
    if value:
        raise NotImplementedError("variables are initialized when the session first needs them")


# ---- Products


def dot(x, y):
    """The product of x (..., n) and y (..., n, m)."""
    x_rank, y_rank = ndim(x), ndim(y)
    if x_rank is not None and (x_rank > 2 or y_rank > 2):
        return math_ops.tensordot(x, y, [[x_rank - 1], [max(y_rank - 2, 0)]])
    if is_sparse(x):
        return sparse_ops.sparse_tensor_dense_matmul(x, y)
    return math_ops.matmul(x, y)


def batch_dot(x, y, axes=None):
    """The dot products of the samples of x and y along axes."""
    x_rank, y_rank = ndim(x), ndim(y)
    if axes is None:
        axes = (x_rank - 1, y_rank - 1 if y_rank == 2 else y_rank - 2)
    axes = (axes, axes) if isinstance(axes, int) else tuple(axes)
    axes = (axes[0] % x_rank, axes[1] % y_rank)
    return merge.batch_dot(convert_to_tensor(x), convert_to_tensor(y), axes)


def transpose(x):
    """The dimensions the other way round."""
    return array_ops.transpose(x)


def gather(reference, indices):
    """Rows of a tensor."""
    return array_ops.gather(reference, indices)


# ---- Reductions


def _reduction(name, function, doc):
    def reduce(x, axis=None, keepdims=False):
        return function(x, axis=axis, keepdims=keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = doc
    return reduce


def _floats(x):
    x = convert_to_tensor(x)
    return math_ops.cast(x, floatx()) if x.dtype.base_dtype == dtypes.bool else x


max = _reduction("max", math_ops.reduce_max, "The largest element along axes.")
min = _reduction("min", math_ops.reduce_min, "The smallest element along axes.")
sum = _reduction("sum", math_ops.reduce_sum, "The sum along axes.")
prod = _reduction("prod", math_ops.reduce_prod, "The product along axes.")
logsumexp = _reduction(
    "logsumexp", math_ops.reduce_logsumexp, "The logarithm of the sum of exp(x) along axes."
)


def mean(x, axis=None, keepdims=False):
    """The mean along axes."""
    return math_ops.reduce_mean(_floats(x), axis=axis, keepdims=keepdims)


def var(x, axis=None, keepdims=False):
    """The variance along axes."""
    x = _floats(x)
    center = math_ops.reduce_mean(x, axis=axis, keepdims=True)
    return math_ops.reduce_mean(math_ops.square(x - center), axis=axis, keepdims=keepdims)


def std(x, axis=None, keepdims=False):
    """The standard deviation along axes."""
    return math_ops.sqrt(var(x, axis=axis, keepdims=keepdims))


def any(x, axis=None, keepdims=False):
    """Whether one is true along axes."""
    return math_ops.reduce_any(math_ops.cast(x, dtypes.bool), axis=axis, keepdims=keepdims)


def all(x, axis=None, keepdims=False):
    """Whether all are true along axes."""
    return math_ops.reduce_all(math_ops.cast(x, dtypes.bool), axis=axis, keepdims=keepdims)


def cumsum(x, axis=0):
    """The sums so far along an axis."""
    return math_ops.cumsum(x, axis=axis)


def cumprod(x, axis=0):
    """The products so far along an axis."""
    return math_ops.cumprod(x, axis=axis)


def argmax(x, axis=-1):
    """Where the largest element is along an axis."""
    return math_ops.argmax(x, axis)


def argmin(x, axis=-1):
    """Where the smallest element is along an axis."""
    return math_ops.argmin(x, axis)


# ---- Elements


def _of_elements(name, function, doc):
    def of_elements(x):
        return function(x)

    of_elements.__name__ = of_elements.__qualname__ = name
    of_elements.__doc__ = doc
    return of_elements


square = _of_elements("square", math_ops.square, "x * x.")
abs = _of_elements("abs", math_ops.abs, "|x|.")
exp = _of_elements("exp", math_ops.exp, "exp(x).")
log = _of_elements("log", math_ops.log, "The natural logarithm.")
round = _of_elements("round", math_ops.round, "The nearest whole number, an even one of two.")
sign = _of_elements("sign", math_ops.sign, "-1, 0 or 1.")
sin = _of_elements("sin", math_ops.sin, "The sine.")
cos = _of_elements("cos", math_ops.cos, "The cosine.")
tanh = _of_elements("tanh", math_ops.tanh, "The hyperbolic tangent.")
sigmoid = _of_elements("sigmoid", math_ops.sigmoid, "1 / (1 + exp(-x)).")
softplus = _of_elements("softplus", nn_ops.softplus, "log(1 + exp(x)).")
softsign = _of_elements("softsign", nn_ops.softsign, "x / (1 + |x|).")
hard_sigmoid = _of_elements("hard_sigmoid", activations.hard_sigmoid, "0.2 * x + 0.5, cut.")


def sqrt(x):
    """The root, 0 of what is negative."""
    x = convert_to_tensor(x)
    return math_ops.sqrt(math_ops.maximum(x, math_ops.cast(0.0, x.dtype.base_dtype)))


def pow(x, a):
    """x to the power of a."""
    return math_ops.pow(x, a)


def clip(x, min_value, max_value):
    """x cut at both ends."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)):
        max_value = min_value if max_value < min_value else max_value
    x = convert_to_tensor(x)
    low = -np.inf if min_value is None else min_value
    high = np.inf if max_value is None else max_value
    low, high = (math_ops.cast(v, x.dtype.base_dtype) for v in (low, high))
    return clip_ops.clip_by_value(x, low, high)


def equal(x, y):
    """x == y, element by element."""
    return math_ops.equal(x, y)


def not_equal(x, y):
    """x != y, element by element."""
    return math_ops.not_equal(x, y)


def greater(x, y):
    """x > y, element by element."""
    return math_ops.greater(x, y)


def greater_equal(x, y):
    """x >= y, element by element."""
    return math_ops.greater_equal(x, y)


def less(x, y):
    """x < y, element by element."""
    return math_ops.less(x, y)


def less_equal(x, y):
    """x <= y, element by element."""
    return math_ops.less_equal(x, y)


def maximum(x, y):
    """The larger ones."""
    return math_ops.maximum(x, y)


def minimum(x, y):
    """The smaller ones."""
    return math_ops.minimum(x, y)


# ---- Networks


def relu(x, alpha=0.0, max_value=None, threshold=0):
    """max(x, 0), with a slope below a threshold, cut at a value."""
    return activations.relu(x, alpha, max_value, threshold)


def elu(x, alpha=1.0):
    """x, or alpha * (exp(x) - 1) where it is negative."""
    return activations.elu(x, alpha)


def softmax(x, axis=-1):
    """exp(x) by the sum of it."""
    return nn_ops.softmax(x, axis=axis)


def dropout(x, level, noise_shape=None, seed=None):
    """Sets elements to 0 with a probability, and scales the others up."""
    return nn_ops.dropout(x, rate=level, noise_shape=noise_shape, seed=_seed(seed))


def l2_normalize(x, axis=None):
    """x by its norm along an axis."""
    return nn_ops.l2_normalize(x, axis=axis)


def in_top_k(predictions, targets, k):
    """Whether targets are among the k largest predictions."""
    return nn_ops.in_top_k(predictions, targets, k)


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Cross entropy of one-hot labels and probabilities, or logits; of each sample."""
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """Cross entropy of the numbers of the right classes; of each sample."""
    return losses.sparse_categorical_crossentropy(target, output, from_logits, axis)


def binary_crossentropy(target, output, from_logits=False):
    """Cross entropy of each element."""
    output = convert_to_tensor(output)
    target = math_ops.cast(convert_to_tensor(target), output.dtype)
    return losses.binary_crossentropy_of_elements(target, output, from_logits)


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """(x - mean) / sqrt(var + epsilon) * gamma + beta."""
    return nn_ops.batch_normalization(x, mean, var, beta, gamma, epsilon)


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """(normalized x, mean, variance) by the statistics of the batch."""
    found, variance = nn_ops.moments(x, reduction_axes)
    rank = ndim(x)
    if sorted(reduction_axes) == list(range(rank - 1)):
        normalized = nn_ops.batch_normalization(x, found, variance, beta, gamma, epsilon)
        return normalized, found, variance
    sizes = array_ops.shape(x)
    kept = array_ops.stack([1 if i in reduction_axes else sizes[i] for i in range(rank)])

    def along(v):
        return None if v is None else array_ops.reshape(v, kept)

    normalized = nn_ops.batch_normalization(
        x, along(found), along(variance), along(beta), along(gamma), epsilon
    )
    return normalized, found, variance


def _format(data_format, rank):
    return op_format(data_format or "channels_last", rank)


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution of lines."""
    if padding == "causal":
        before = dilation_rate * (kernel.shape.as_list()[0] - 1)
        x = temporal_padding(x, (before, 0))
        padding = "valid"
    return nn_conv.convolution(
        x,
        kernel,
        padding.upper(),
        strides=[strides],
        dilation_rate=[dilation_rate],
        data_format=_format(data_format, 3),
    )


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution of images."""
    return nn_conv.convolution(
        x,
        kernel,
        padding.upper(),
        strides=list(strides),
        dilation_rate=list(dilation_rate),
        data_format=_format(data_format, 4),
    )


def conv3d(
    x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)
):
    """A convolution of volumes."""
    return nn_conv.convolution(
        x,
        kernel,
        padding.upper(),
        strides=list(strides),
        dilation_rate=list(dilation_rate),
        data_format=_format(data_format, 5),
    )


def conv2d_transpose(
    x, kernel, output_shape, strides=(1, 1), padding="valid", data_format=None,
    dilation_rate=(1, 1),
):  # fmt: skip
    """A transposed convolution of images."""
    first = data_format == "channels_first"
    return nn_conv.conv2d_transpose(
        x,
        kernel,
        array_ops.stack(list(output_shape)),
        (1, 1, *strides) if first else (1, *strides, 1),
        padding=padding.upper(),
        data_format=_format(data_format, 4),
    )


def depthwise_conv2d(
    x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)
):
    """A convolution of each channel of images by itself."""
    first = data_format == "channels_first"
    return nn_conv.depthwise_conv2d(
        x,
        depthwise_kernel,
        (1, 1, *strides) if first else (1, *strides, 1),
        padding.upper(),
        rate=dilation_rate,
        data_format=_format(data_format, 4),
    )


def separable_conv2d(
    x, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding="valid", data_format=None,
    dilation_rate=(1, 1),
):  # fmt: skip
    """A separable convolution of images."""
    first = data_format == "channels_first"
    return nn_conv.separable_conv2d(
        x,
        depthwise_kernel,
        pointwise_kernel,
        (1, 1, *strides) if first else (1, *strides, 1),
        padding.upper(),
        rate=dilation_rate,
        data_format=_format(data_format, 4),
    )


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Pooling of images: "max" or "avg"."""
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 2)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Pooling of volumes: "max" or "avg"."""
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 3)


def _pool(x, pool_size, strides, padding, data_format, pool_mode, rank):
    functions = {
        ("max", 2): nn_pool.max_pool,
        ("avg", 2): nn_pool.avg_pool,
        ("max", 3): nn_pool.max_pool3d,
        ("avg", 3): nn_pool.avg_pool3d,
    }
    if (pool_mode, rank) not in functions:
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    first = data_format == "channels_first"
    return functions[pool_mode, rank](
        x,
        (1, 1, *pool_size) if first else (1, *pool_size, 1),
        (1, 1, *strides) if first else (1, *strides, 1),
        padding.upper(),
        data_format=_format(data_format, rank + 2),
    )


def bias_add(x, bias, data_format=None):
    """x + bias along the channels."""
    if data_format == "channels_first":
        rank = ndim(x)
        return x + array_ops.reshape(bias, [1, -1, *([1] * (rank - 2))])
    return nn_ops.bias_add(x, bias) if ndim(bias) == 1 else x + bias


# ---- Shapes


def reshape(x, shape):
    """x in another shape."""
    return array_ops.reshape(x, shape)


def permute_dimensions(x, pattern):
    """The dimensions in another order."""
    return array_ops.transpose(x, perm=pattern)


def expand_dims(x, axis=-1):
    """A dimension of 1 more."""
    return array_ops.expand_dims(x, axis)


def squeeze(x, axis):
    """A dimension of 1 less."""
    return array_ops.squeeze(x, [axis])


def flatten(x):
    """All elements in a row."""
    return array_ops.reshape(x, [-1])


def batch_flatten(x):
    """A matrix (batch, rest)."""
    rest = tensor_shape.as_shape(x.shape)[1:]
    size = rest.num_elements() if rest.is_fully_defined() else None
    if size is None:
        size = math_ops.reduce_prod(array_ops.shape(x)[1:])
    result = array_ops.reshape(x, array_ops.stack([-1, size]))
    result.set_shape([None, size if isinstance(size, int) else None])
    return result


def concatenate(tensors, axis=-1):
    """Tensors joined along an axis."""
    axis = axis if axis >= 0 or not ndim(tensors[0]) else axis % ndim(tensors[0])
    return array_ops.concat([to_dense(x) for x in tensors], axis)


def stack(x, axis=0):
    """Tensors put together along a new axis."""
    return array_ops.stack(x, axis=axis)


def repeat(x, n):
    """(batch, n, features) of (batch, features)."""
    return array_ops.tile(array_ops.expand_dims(x, 1), array_ops.stack([1, n, 1]))


def repeat_elements(x, rep, axis):
    """Each element several times along an axis."""
    return rearrange_ops.repeat(x, rep, axis=axis)


def tile(x, n):
    """x several times along each axis."""
    return array_ops.tile(x, [n] if isinstance(n, int) else n)


def reverse(x, axes):
    """The other way round along axes."""
    return rearrange_ops.reverse_v2(x, [axes] if isinstance(axes, int) else axes)


def arange(start, stop=None, step=1, dtype="int32"):
    """Numbers from a start to before a stop."""
    if stop is None:
        start, stop = 0, start
    if stop is not None and isinstance(stop, int) and isinstance(start, int) and stop < start:
        stop = start if step > 0 else stop
    return math_ops.cast(math_ops.range(start, limit=stop, delta=step), dtype)


def one_hot(indices, num_classes):
    """One-hot rows of numbers."""
    return array_ops.one_hot(indices, depth=num_classes, axis=-1)


def temporal_padding(x, padding=(1, 1)):
    """Zeros before and after lines."""
    return array_ops.pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Zeros around images."""
    pairs = [list(p) for p in padding]
    if data_format == "channels_first":
        return array_ops.pad(x, [[0, 0], [0, 0], *pairs])
    return array_ops.pad(x, [[0, 0], *pairs, [0, 0]])


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Zeros around volumes."""
    return spatial_2d_padding(x, padding, data_format)


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Images several times as high and wide."""
    first = data_format == "channels_first"
    rows, columns = (2, 3) if first else (1, 2)
    dims = x.shape.as_list()
    if dims[rows] is None or dims[columns] is None:
        size = array_ops.shape(x)[rows : columns + 1]
        size *= convert_to_tensor(np.array([height_factor, width_factor], dtype="int32"))
    else:
        size = convert_to_tensor([dims[rows] * height_factor, dims[columns] * width_factor])
    if first:
        x = array_ops.transpose(x, [0, 2, 3, 1])
    functions = {
        "nearest": image_ops.resize_nearest_neighbor,
        "bilinear": image_ops.resize_bilinear,
        "bicubic": image_ops.resize_bicubic,
    }
    if interpolation not in functions:
        raise ValueError('interpolation should be one of "nearest" or "bilinear".')
    x = functions[interpolation](x, size, half_pixel_centers=True)
    if first:
        x = array_ops.transpose(x, [0, 3, 1, 2])
    dims[rows] = None if dims[rows] is None else dims[rows] * height_factor
    dims[columns] = None if dims[columns] is None else dims[columns] * width_factor
    x.set_shape(dims)
    return x


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Volumes several times as deep, high and wide."""
    first = 2 if data_format == "channels_first" else 1
    for i, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = rearrange_ops.repeat(x, factor, axis=first + i)
    return x


# ---- Control


def switch(condition, then_expression, else_expression):
    """One of two tensors, or of what two functions give; of each element where there are more."""
    if condition.dtype.base_dtype != dtypes.bool:
        condition = math_ops.cast(condition, dtypes.bool)
    then_function = then_expression if callable(then_expression) else lambda: then_expression
    else_function = else_expression if callable(else_expression) else lambda: else_expression
    if ndim(condition) == 0:
        return control_flow_ops.cond(
            condition,
            lambda: array_ops.identity(then_function()),
            lambda: array_ops.identity(else_function()),
        )
    x, y = convert_to_tensor(then_function()), convert_to_tensor(else_function())
    if ndim(condition) > ndim(x):
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={ndim(condition)}, ndim(then_expression)={ndim(x)}"
        )
    for _ in range(ndim(x) - ndim(condition)):
        condition = array_ops.expand_dims(condition, -1)
    return rearrange_ops.where_v2(condition, x, y)


def in_train_phase(x, alt, training=None):
    """x in training, else `alt`; both may be functions."""
    if training is None:
        training = values.learning_phase()
    if isinstance(training, int) and training:
        return x() if callable(x) else x
    if isinstance(training, int):
        return alt() if callable(alt) else alt
    return smart_cond(
        known_flag(training),
        lambda: array_ops.identity(x() if callable(x) else x),
        lambda: array_ops.identity(alt() if callable(alt) else alt),
    )


def in_test_phase(x, alt, training=None):
    """x where this is no training, else `alt`."""
    return in_train_phase(alt, x, training=training)


def map_fn(fn, elems, name=None, dtype=None):
    """A function of each row."""
    return functional_ops.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(fn, elems, initializer=None, name=None):
    """A function of what was so far and each row, from the first on."""
    return functional_ops.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn, elems, initializer=None, name=None):
    """A function of what was so far and each row, from the last on."""
    return functional_ops.foldr(fn, elems, initializer=initializer, name=name)


def stop_gradient(variables):
    """Tensors that gradients do not go through."""
    if isinstance(variables, (list, tuple)):
        return [array_ops.stop_gradient(v) for v in variables]
    return array_ops.stop_gradient(variables)


def gradients(loss, variables):
    """The gradients of a loss."""
    return gradients_module.gradients(loss, variables)


def print_tensor(x, message=""):
    """x, which is printed when it is computed."""
    with control_dependencies([logging_ops.print_v2(message, x)]):
        return array_ops.identity(x)


class _Function:
    """What runs tensors in the session, for arrays of inputs."""

    def __init__(self, inputs, outputs, updates):
        self._inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        self._is_single = not isinstance(outputs, (list, tuple))
        self._outputs = [outputs] if self._is_single else list(outputs)
        self._updates = [
            control_flow_ops.group(*[state_ops.assign(*u) if isinstance(u, tuple) else u])
            for u in updates or ()
        ]

    def __call__(self, inputs):
        given = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        feed = {}
        for tensor, value in zip(self._inputs, given):
            if value is None:
                continue
            feed[tensor] = value
        found = values.get_session().run([*self._outputs, *self._updates], feed)
        found = found[: len(self._outputs)]
        return found[0] if self._is_single else found


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A function of arrays that gives the values of tensors, and runs updates."""
    return _Function(inputs, outputs, updates)


# ---- Connectionist temporal classification


def ctc_label_dense_to_sparse(labels, label_lengths):
    """Labels (batch, most) as a sparse tensor of their lengths."""
    shape_of = array_ops.shape(labels)
    mask = rearrange_ops.sequence_mask(label_lengths, shape_of[1])
    places = array_ops.where(mask)
    return SparseTensor(
        places, array_ops.gather_nd(labels, places), math_ops.cast(shape_of, dtypes.int64)
    )


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """The loss of each sample: labels (batch, most), probabilities (batch, time, classes)."""
    label_length = math_ops.cast(array_ops.squeeze(label_length, [-1]), dtypes.int32)
    input_length = math_ops.cast(array_ops.squeeze(input_length, [-1]), dtypes.int32)
    sparse = ctc_label_dense_to_sparse(math_ops.cast(y_true, dtypes.int32), label_length)
    logits = math_ops.log(array_ops.transpose(y_pred, perm=[1, 0, 2]) + _SMALL)
    found = ctc_ops.ctc_loss(inputs=logits, labels=sparse, sequence_length=input_length)
    return array_ops.expand_dims(found, 1)


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """(decoded labels, -1 where there is none; their log probabilities)."""
    logits = math_ops.log(array_ops.transpose(y_pred, perm=[1, 0, 2]) + _SMALL)
    lengths = math_ops.cast(input_length, dtypes.int32)
    if greedy:
        decoded, log_prob = ctc_ops.ctc_greedy_decoder(inputs=logits, sequence_length=lengths)
    else:
        decoded, log_prob = ctc_ops.ctc_beam_search_decoder(
            inputs=logits,
            sequence_length=lengths,
            beam_width=beam_width,
            top_paths=top_paths,
            merge_repeated=False,
        )
    dense = [
        sparse_ops.sparse_to_dense(d.indices, d.dense_shape, d.values, default_value=-1)
        for d in decoded
    ]
    return dense, log_prob
