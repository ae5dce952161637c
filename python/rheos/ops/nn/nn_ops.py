"""Activations, losses and layers of neural networks."""

import math
import numbers

from rheos.framework import dtypes, errors
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import count_operations, name_scope
from rheos.framework.op_call import op1, op_list, op_results, runs_op, with_example
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.ragged import ragged_too
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.math.math_ops import sigmoid, tanh  # noqa: F401
from rheos.ops.random import random_ops, stateless_random_ops


def scale_regularization_loss(regularization_loss):
    """The sum of losses, for the one replica that there is."""
    return math_ops.reduce_sum(regularization_loss) / 1


def _weighted_losses(losses, weights):
    """Losses times weights, whose last dimension may be missing or be one too many."""
    losses = math_ops.cast(losses, dtypes.float32)
    weights = math_ops.cast(weights, dtypes.float32)
    if weights.shape.ndims and losses.shape.ndims is not None:
        if weights.shape.ndims == losses.shape.ndims + 1:
            weights = array_ops.squeeze(weights, [-1])
        elif weights.shape.ndims == losses.shape.ndims - 1:
            weights = array_ops.expand_dims(weights, -1)
    return losses * weights


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of the losses, times their weights, over the size of the batch.

    per_example_loss: of rank 1 or more, else ValueError. global_batch_size: by default the first
    dimension of the losses.
    """
    losses = convert_to_tensor(per_example_loss)
    if losses.shape.ndims == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1, "
            f"received: {losses}"
        )
    dtype = losses.dtype
    if sample_weight is not None:
        losses = math_ops.cast(_weighted_losses(losses, sample_weight), dtype)
    if global_batch_size is None:
        global_batch_size = array_ops.shape(losses)[0]
    return math_ops.reduce_sum(losses) / math_ops.cast(global_batch_size, dtype)


def _activation(function_name, op_type, doc):
    def function(features, name=None):
        return op1(op_type, name, features)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = doc
    return runs_op(op_type, "features")(ragged_too("elementwise")(function))


relu = _activation("relu", "Relu", with_example("max(x, 0)", "tf.nn.relu([-1.0, 2.0])", "[0. 2.]"))
relu6 = _activation(
    "relu6",
    "Relu6",
    with_example("min(max(x, 0), 6)", "tf.nn.relu6([-1.0, 2.0, 9.0])", "[0. 2. 6.]"),
)
elu = _activation(
    "elu",
    "Elu",
    with_example(
        "exp(x) - 1 where x < 0, else x.", "tf.nn.elu([-1.0, 2.0])", "[-0.63212055  2.        ]"
    ),
)
selu = _activation("selu", "Selu", "The scaled exponential linear unit.")
softplus = _activation(
    "softplus",
    "Softplus",
    with_example("log(exp(x) + 1)", "tf.math.softplus([0.0, 10.0])", "[ 0.6931472 10.000046 ]"),
)
softsign = _activation("softsign", "Softsign", "x / (abs(x) + 1)")


@runs_op("LeakyRelu", "features", numbers="floating", alpha="alpha")
@ragged_too("elementwise")
def leaky_relu(features, alpha=0.2, name=None):
    """alpha * x where x < 0, else x.

    >>> print(tf.nn.leaky_relu([-1.0, 2.0], alpha=0.1).numpy())
    [-0.1  2. ]
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = math_ops.cast(features, dtypes.float32)
        return op1("LeakyRelu", name, features, alpha=alpha)


def crelu(features, name=None, axis=-1):
    """relu of the features and of their negatives, joined along `axis`: twice as many."""
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        both = array_ops.concat([features, -features], axis, name=name)
        return relu(both)


@ragged_too("elementwise")
def swish(features):
    """features * sigmoid(features)"""
    features = convert_to_tensor(features, name="features")
    count_operations(2)  # identities that carry a gradient of its own
    return features * sigmoid(features)


@runs_op("L2Loss", "t")
def l2_loss(t, name=None):
    """Half the sum of squares.

    >>> print(tf.nn.l2_loss([3.0, 4.0]).numpy())
    12.5
    """
    return op1("L2Loss", name, t)


# ---- Softmax


def _flatten_outer_dims(logits):
    """Makes a matrix of all dimensions but the last."""
    rank = array_ops.rank(logits)
    last = array_ops.slice(array_ops.shape(logits), [math_ops.subtract(rank, 1)], [1])
    flat = array_ops.reshape(logits, array_ops.concat([[-1], last], 0))
    known = logits.shape
    if known.dims is not None:
        rows = TensorShape(known._dims_tuple[:-1]).num_elements()
        flat.set_shape([rows, known._dims_tuple[-1]])
    return flat


def _swap(x, last, dim):
    """Swaps dimension `dim` with the last one."""
    order = [math_ops.range(dim), [last], math_ops.range(dim + 1, last), [dim]]
    return array_ops.transpose(x, array_ops.concat(order, 0))


def _softmax(logits, op_type, dim, name):
    logits = convert_to_tensor(logits)
    known = logits.shape
    if isinstance(dim, (Tensor, _VariableBase)) and constant_value(dim) is not None:
        dim = int(constant_value(dim))
    if isinstance(dim, (Tensor, _VariableBase)):
        return _softmax_along(logits, op_type, dim, name)
    if dim == -1 or (known.ndims is not None and dim == known.ndims - 1):
        return op1(op_type, name, logits)
    if known.ndims is not None and not -known.ndims <= dim < known.ndims:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Dimension (={dim}) must be in the range [{-known.ndims}, {known.ndims}) where "
            f"{known.ndims} is the number of dimensions in the input.",
        )
    ndims = array_ops.rank(logits)
    if dim < 0:
        dim += ndims if known.ndims is None else known.ndims
    return _swapped_softmax(logits, op_type, dim, name)


def _softmax_along(logits, op_type, dim, name):
    """Along a dimension that is a tensor."""
    ndims = array_ops.rank(logits)
    dim = array_ops.where(math_ops.less(dim, 0), dim + ndims, dim)
    return _swapped_softmax(logits, op_type, dim, name)


def _swapped_softmax(logits, op_type, dim, name):
    """Along dimension `dim` >= 0: it is swapped with the last, and back."""
    rank = array_ops.rank(logits)
    swapped = _swap(logits, math_ops.subtract(rank, 1), dim)
    result = op1(op_type, None, swapped)
    result = _swap(result, math_ops.subtract(rank, 1), dim)
    result.set_shape(logits.shape)
    return array_ops.identity(result, name=name) if name else result


def _axis(axis, dim):
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        return dim
    return -1 if axis is None else axis


@runs_op("Softmax", "logits")
@ragged_too("softmax_of")
def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) / sum(exp(x)) along `axis` (the last by default).

    >>> print(tf.nn.softmax([[0.0, 0.0]]).numpy())
    [[0.5 0.5]]
    """
    return _softmax(logits, "Softmax", _axis(axis, dim), name)


@runs_op("LogSoftmax", "logits")
@ragged_too("softmax_of")
def log_softmax(logits, axis=None, name=None, dim=None):
    """The logarithm of softmax along `axis` (the last by default).

    >>> print(tf.nn.log_softmax([[0.0, 0.0]]).numpy())
    [[-0.6931472 -0.6931472]]
    """
    return _softmax(logits, "LogSoftmax", _axis(axis, dim), name)


# ---- Losses


def _ensure_named(name, sentinel, labels, logits):
    if sentinel is not None:
        raise ValueError(f"Only call `{name}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _move_to_end(x, axis, rank):
    """x with a dimension behind the others, which keep their order."""
    order = [math_ops.range(axis), math_ops.range(axis + 1, rank), [axis]]
    return array_ops.transpose(x, array_ops.concat(order, 0))


def _softmax_cross_entropy(labels, logits, axis, name):
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        result_dtype = logits.dtype.base_dtype
        precise = logits
        if result_dtype in (dtypes.float16, dtypes.bfloat16):
            precise = math_ops.cast(logits, dtypes.float32)
        labels = math_ops.cast(labels, precise.dtype.base_dtype)
        input_rank = array_ops.rank(precise)
        shape = logits.shape
        if axis != -1:
            at = axis
            if axis < 0:
                at = axis + (input_rank if shape.ndims is None else shape.ndims)
            precise = _move_to_end(precise, at, input_rank)
            labels = _move_to_end(labels, at, input_rank)
        if precise._is_eager and precise._rank() == labels._rank() > 0:
            cost = _costs_of_rows(precise, labels, precise.shape.as_list(), name)
            return math_ops.cast(cost, result_dtype)
        input_shape = array_ops.shape(precise)
        precise = _flatten_outer_dims(precise)
        labels = _flatten_outer_dims(labels)
        cost = op1("SoftmaxCrossEntropyWithLogits", name, precise, labels)
        outer = array_ops.slice(input_shape, [0], [math_ops.subtract(input_rank, 1)])
        cost = array_ops.reshape(cost, outer)
        if shape.ndims is not None:
            dims = list(shape._dims_tuple)
            del dims[axis]
            cost.set_shape(dims)
        return math_ops.cast(cost, result_dtype)


def _costs_of_rows(logits, labels, dims, name):
    """The cross entropies of the last dimension, where all dimensions are known."""
    if len(dims) != 2:
        logits = array_ops.reshape(logits, [-1, dims[-1]])
        labels = array_ops.reshape(labels, [-1, labels.shape.as_list()[-1]])
    cost = op_list("SoftmaxCrossEntropyWithLogits", name, logits, labels)[0]
    return cost if len(dims) == 2 else array_ops.reshape(cost, dims[:-1])


def softmax_cross_entropy_with_logits_v2(labels=None, logits=None, axis=None, name=None, dim=None):
    """The cross entropy of softmax(logits) with `labels`; gradients flow to both.

    >>> labels, logits = [[1.0, 0.0]], [[0.0, 0.0]]
    >>> print(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits).numpy())
    [0.6931472]
    """
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    return _softmax_cross_entropy(labels, logits, _axis(axis, dim), name)


def softmax_cross_entropy_with_logits(
    _sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None
):
    """The cross entropy of softmax(logits) with `labels`; gradients flow to the logits only."""
    _ensure_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    axis = dim if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
    return _softmax_cross_entropy(labels, logits, axis, name)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross entropy of softmax(logits) with the classes in `labels`.

    >>> logits = [[0.0, 0.0], [0.0, 10.0]]
    >>> print(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 0], logits=logits).numpy())
    [ 0.6931472 10.000046 ]
    """
    _ensure_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        result_dtype = logits.dtype.base_dtype
        precise = logits
        if result_dtype in (dtypes.float16, dtypes.bfloat16):
            precise = math_ops.cast(logits, dtypes.float32)
        labels_shape = array_ops.shape(labels)
        if logits.shape.ndims == 0:
            raise ValueError(f"Logits cannot be scalars - received shape {logits.shape}.")
        if logits.shape.ndims is not None and labels.shape.ndims not in (
            None,
            logits.shape.ndims - 1,
        ):
            raise ValueError(
                f"Rank mismatch: Rank of labels (received {labels.shape.ndims}) should equal "
                f"rank of logits minus 1 (received {logits.shape.ndims})."
            )
        kind = "SparseSoftmaxCrossEntropyWithLogits"
        if logits.shape.ndims == 2:
            cost = op_list(kind, name, precise, labels)[0]
        else:
            classes = array_ops.shape(logits)[array_ops.rank(logits) - 1]
            precise = array_ops.reshape(precise, [-1, classes])
            labels = array_ops.reshape(labels, [-1])
            cost = op_list(kind, name, precise, labels)[0]
            static = labels_shape
            cost = array_ops.reshape(cost, static)
            if logits.shape.ndims is not None:
                cost.set_shape(logits.shape[:-1])
        return math_ops.cast(cost, result_dtype)


@ragged_too("binary")
def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross entropy of sigmoid(logits) with `labels`, element by element.

    >>> print(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0]).numpy())
    [0.6931472]
    """
    _ensure_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        if not labels.shape.is_compatible_with(logits.shape):
            raise ValueError(
                f"logits and labels must have the same shape ({logits.shape} vs {labels.shape})"
            )
        zeros = array_ops.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        clipped = array_ops.where(positive, logits, zeros)
        negative_size = array_ops.where(positive, -logits, logits)
        return math_ops.add(
            clipped - logits * labels,
            math_ops.log1p(math_ops.exp(negative_size)),
            name=name,
        )


def weighted_cross_entropy_with_logits(
    labels=None, logits=None, pos_weight=None, name=None, targets=None
):
    """Like sigmoid_cross_entropy_with_logits; positive labels count `pos_weight` times."""
    labels = targets if labels is None else labels
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        if not labels.shape.is_compatible_with(logits.shape):
            raise ValueError(
                f"logits and labels must have the same shape ({logits.shape} vs {labels.shape})"
            )
        weight = 1 + (pos_weight - 1) * labels
        return math_ops.add(
            (1 - labels) * logits,
            weight * (math_ops.log1p(math_ops.exp(-math_ops.abs(logits))) + relu(-logits)),
            name=name,
        )


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - log_input * targets, element by element.

    compute_full_loss: whether to add Stirling's approximation of log(targets!), for targets above
    1. ValueError if the shapes differ.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        if not targets.shape.is_compatible_with(log_input.shape):
            raise ValueError(
                f"log_input and targets must have the same shape ({log_input.shape} vs "
                f"{targets.shape})"
            )
        result = math_ops.exp(log_input) - log_input * targets
        if compute_full_loss:
            half = constant(0.5, dtype=targets.dtype)
            two_pi = constant(2 * math.pi, dtype=targets.dtype)
            stirling = (targets * math_ops.log(targets)) - targets
            stirling += half * math_ops.log(two_pi * targets)
            zeros = array_ops.zeros_like(targets, dtype=targets.dtype)
            ones = array_ops.ones_like(targets, dtype=targets.dtype)
            small = math_ops.logical_and(targets >= zeros, targets <= ones)
            result += array_ops.where(small, zeros, stirling)
        return result


# ---- Layers


@runs_op("BiasAdd", "value bias", numbers="real")
def bias_add(value, bias, data_format=None, name=None):
    """Adds a vector along the channels of `value`.

    >>> print(tf.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]).numpy())
    [[11. 22.]
     [13. 24.]]
    """
    with name_scope(name, "BiasAdd", [value, bias]) as name:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError("data_format must be of the form `N...C` or `NC...`")
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        return op1("BiasAdd", name, value, bias, data_format=data_format)


def xw_plus_b(x, weights, biases, name=None):
    """x @ weights + biases"""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(math_ops.matmul(x, weights), biases, name=name)


def relu_layer(x, weights, biases, name=None):
    """relu(x @ weights + biases)"""
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return relu(bias_add(math_ops.matmul(x, weights), biases), name=name)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Sets elements to 0 with probability `rate` (1 - keep_prob) and scales the others up."""
    if keep_prob is not None:
        if rate is not None:
            raise ValueError("Cannot specify both 'rate' and 'keep_prob'")
        try:
            rate = 1 - keep_prob
        except TypeError:
            raise ValueError(
                f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
            ) from None
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return dropout_v2(x, rate, noise_shape, seed, name)


def _noise_shape(x, noise_shape):
    """What dropout draws numbers for; a None in noise_shape is the dimension of x."""
    if noise_shape is None:
        return array_ops.shape(x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    try:
        known = TensorShape(noise_shape).as_list()
    except (TypeError, ValueError):
        return noise_shape  # some sizes are tensors
    own = x.shape.as_list() if x.shape.ndims == len(known) else known
    if None not in known:
        return known
    sizes = array_ops.shape(x) if None in (o for k, o in zip(known, own) if k is None) else None
    return [
        k if k is not None else o if o is not None else sizes[i]
        for i, (k, o) in enumerate(zip(known, own))
    ]


@ragged_too("elementwise")
def dropout_v2(x, rate, noise_shape=None, seed=None, name=None):
    """Sets elements to 0 with probability `rate` and scales the others up.

    >>> kept = tf.nn.dropout(tf.ones([1000]), rate=0.5)
    >>> print(set(kept.numpy().tolist()) == {0.0, 2.0})
    True
    """

    def uniform(shape, dtype):
        return random_ops.random_uniform(shape, seed=seed, dtype=dtype)

    return dropout_by(uniform, x, rate, noise_shape, name)


@ragged_too("elementwise")
def stateless_dropout(x, rate, seed, rng_alg="auto_select", noise_shape=None, name=None):
    """dropout() whose choice follows from the seed, two integers."""

    def uniform(shape, dtype):
        return stateless_random_ops.stateless_random_uniform(shape, seed, dtype=dtype)

    return dropout_by(uniform, x, rate, noise_shape, name)


def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """dropout() by the numbers from 0 to 1 that uniform_sampler(shape, dtype) gives."""
    return dropout_by(
        lambda shape, dtype: uniform_sampler(shape=shape, dtype=dtype), x, rate, noise_shape, name
    )


def dropout_by(uniform, x, rate, noise_shape, name):
    """Sets elements to 0 where uniform(shape, dtype) is below `rate`, and scales the others up."""
    with name_scope(name, "dropout", [x]):
        is_number = isinstance(rate, numbers.Real)
        if is_number and not 0 <= rate < 1:
            raise ValueError(
                f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}"
            )
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. Got a "
                f"{x.dtype} tensor instead."
            )
        if is_number and rate == 0:
            return x
        rate = convert_to_tensor(rate, dtype=x.dtype.base_dtype, name="rate")
        rate.shape.assert_has_rank(0)
        known = constant_value(rate)
        if known is not None and known == 0:
            return x
        shape = _noise_shape(x, noise_shape)
        noise = uniform(shape, x.dtype.base_dtype)
        scale = 1 / (1 - rate)
        keep = noise >= rate
        result = x * scale * math_ops.cast(keep, x.dtype.base_dtype)
        result.set_shape(x.shape)
        return result


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """The mean and the variance of x over the dimensions in `axes`.

    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
    >>> print(mean.numpy(), variance.numpy())
    2.0 1.0
    """
    keep = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x)
        y = math_ops.cast(x, dtypes.float32) if x.dtype == dtypes.float16 else x
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = math_ops.reduce_mean(
            math_ops.squared_difference(y, array_ops.stop_gradient(mean)),
            axes,
            keepdims=True,
            name="variance",
        )
        if not keep:
            mean = array_ops.squeeze(mean, axes)
            variance = array_ops.squeeze(variance, axes)
        if x.dtype == dtypes.float16:
            return math_ops.cast(mean, dtypes.float16), math_ops.cast(variance, dtypes.float16)
        return mean, variance


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset"""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor = math_ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        scaled = x * math_ops.cast(factor, x.dtype)
        rest = offset - mean * factor if offset is not None else -mean * factor
        return scaled + math_ops.cast(rest, x.dtype)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x divided by its euclidean norm along `axis`.

    >>> print(tf.nn.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    axis = dim if axis is None else axis
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        total = math_ops.reduce_sum(math_ops.square(x), axis, keepdims=True)
        return math_ops.multiply(x, math_ops.rsqrt(math_ops.maximum(total, epsilon)), name=name)


def zero_fraction(value, name=None):
    """The fraction of elements that are zero.

    >>> print(tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]).numpy())
    0.5
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        count = array_ops.size(value, out_type=dtypes.int64)
        count_operations(15)  # a conditional on whether the number of elements needs 64 bits
        zeros = count - math_ops.count_nonzero(value)
        fraction = math_ops.cast(zeros, dtypes.float32) / math_ops.cast(count, dtypes.float32)
        return array_ops.identity(fraction, "fraction")


def top_k(input, k=1, sorted=True, name=None):
    """The k largest elements of each row, and their indices.

    >>> values, places = tf.math.top_k([[1, 9, 5]], k=2)
    >>> print(values.numpy(), places.numpy())
    [[9 5]] [[1 2]]
    """
    return op_results("TopKV2", name, input, k, sorted=sorted)


def in_top_k(predictions, targets, k, name=None):
    """Whether each target is among the k largest predictions of its row.

    >>> print(tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.2, 0.8]], k=1).numpy())
    [False  True]
    """
    with name_scope(name, "in_top_k"):
        return op1("InTopKV2", None, predictions, targets, k)
