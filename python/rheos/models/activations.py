"""Activation functions, by name too."""

from rheos.framework.op_call import op1
from rheos.layers import values
from rheos.models import objects
from rheos.ops.array import array_ops
from rheos.ops.math import clip_ops, math_ops, special_math_ops
from rheos.ops.nn import nn_ops

_activation = objects.known("activation function")


@_activation
def softmax(x, axis=-1):
    """exp(x) by the sum of it along an axis; ValueError for tensors of one dimension."""
    if x.shape.ndims == 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D: {x}")
    return _with_logits(nn_ops.softmax(x, axis=axis), x)


def _with_logits(output, logits):
    """An output that remembers, in version 2, what losses had better be computed of."""
    if not values.runs_in_session():
        output._keras_logits = logits
    return output


@_activation
def elu(x, alpha=1.0):
    """x, or alpha * (exp(x) - 1) where x is negative."""
    result = nn_ops.elu(x)
    if alpha == 1:
        return result
    return _where(x > 0, result, alpha * result)


@_activation
def selu(x):
    """elu scaled such that means and variances stay."""
    return nn_ops.selu(x)


@_activation
def softplus(x):
    """log(1 + exp(x))."""
    return nn_ops.softplus(x)


@_activation
def softsign(x):
    """x / (1 + |x|)."""
    return nn_ops.softsign(x)


@_activation
def relu(x, alpha=0.0, max_value=None, threshold=0, negative_slope=None):
    """max(x, 0); with a slope below `threshold`, cut at `max_value`."""
    alpha = alpha if negative_slope is None else negative_slope
    below = None
    if alpha != 0:
        if max_value is None and threshold == 0:
            return nn_ops.leaky_relu(x, alpha=alpha)
        below = nn_ops.relu(-x + threshold) if threshold != 0 else nn_ops.relu(-x)
    cut = max_value is not None
    if threshold != 0:
        x = x * math_ops.cast(x > threshold, x.dtype.base_dtype)
    elif max_value == 6:
        x, cut = nn_ops.relu6(x), False
    else:
        x = nn_ops.relu(x)
    if cut:
        x = clip_ops.clip_by_value(x, 0.0, float(max_value))
    return x if below is None else x - alpha * below


@_activation
def tanh(x):
    """The hyperbolic tangent.

    >>> print(tf.tanh([0.0, 1.0]).numpy())
    [0.        0.7615941]
    """
    return math_ops.tanh(x)


@_activation
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return _with_logits(math_ops.sigmoid(x), x)


@_activation
def exponential(x):
    """exp(x)."""
    return math_ops.exp(x)


@_activation
def hard_sigmoid(x):
    """0.2 * x + 0.5, cut at 0 and 1; of Keras 3 x / 6 + 0.5."""
    if not values.runs_in_session():
        return clip_ops.clip_by_value(x + 3.0, 0.0, 6.0) * (1.0 / 6.0)
    return clip_ops.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


@_activation
def linear(x):
    """x itself."""
    return x


@_activation
def gelu(x, approximate=False):
    """x times the normal distribution's function of x, or Hendrycks and Gimpel's tanh of it."""
    if approximate:
        inner = 0.7978845608028654 * (x + 0.044715 * math_ops.pow(x, 3))
        return 0.5 * x * (1.0 + math_ops.tanh(inner))
    return 0.5 * x * (1.0 + math_ops.erf(x / 1.4142135623730951))


@_activation
def swish(x):
    """x * sigmoid(x)."""
    return x * math_ops.sigmoid(x)


silu = objects.table("activation function")["silu"] = swish


@_activation
def mish(x):
    """x * tanh(softplus(x))."""
    return x * math_ops.tanh(nn_ops.softplus(x))


@_activation
def relu6(x):
    """max(x, 0), cut at 6."""
    return nn_ops.relu6(x)


@_activation
def leaky_relu(x, negative_slope=0.2):
    """x, or a share of it where it is negative."""
    return nn_ops.leaky_relu(x, alpha=negative_slope)


@_activation
def log_softmax(x, axis=-1):
    """The logarithm of softmax."""
    return nn_ops.log_softmax(x, axis=axis)


@_activation
def log_sigmoid(x):
    """The logarithm of sigmoid."""
    return special_math_ops.log_sigmoid(x)


@_activation
def celu(x, alpha=1.0):
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""
    below = alpha * (math_ops.exp(math_ops.minimum(x, 0.0) / alpha) - 1.0)
    return math_ops.maximum(x, 0.0) + below


@_activation
def glu(x, axis=-1):
    """The first half along an axis times the sigmoid of the second."""
    first, second = array_ops.split(x, 2, axis=axis)
    return first * math_ops.sigmoid(second)


@_activation
def hard_tanh(x):
    """x, cut at -1 and 1."""
    return clip_ops.clip_by_value(x, -1.0, 1.0)


@_activation
def hard_shrink(x, threshold=0.5):
    """x, or 0 from -threshold to threshold."""
    return x * math_ops.cast(math_ops.abs(x) > threshold, x.dtype.base_dtype)


@_activation("hard_swish")
def hard_silu(x):
    """x * hard_sigmoid(x)."""
    return x * clip_ops.clip_by_value(x + 3.0, 0.0, 6.0) * (1.0 / 6.0)


hard_swish = hard_silu


@_activation
def soft_shrink(x, threshold=0.5):
    """x nearer to 0 by a threshold, 0 where that passes it."""
    return math_ops.sign(x) * math_ops.maximum(math_ops.abs(x) - threshold, 0.0)


@_activation
def sparse_plus(x):
    """0 below -1, x above 1, ((x + 1) / 2) ^ 2 between."""
    inside = clip_ops.clip_by_value(x, -1.0, 1.0) + 1.0
    return 0.25 * inside * inside + math_ops.maximum(x - 1.0, 0.0)


@_activation
def sparse_sigmoid(x):
    """(x + 1) / 2, cut at 0 and 1."""
    return 0.5 * clip_ops.clip_by_value(x + 1.0, 0.0, 2.0)


@_activation
def squareplus(x, b=4):
    """(x + the root of x ^ 2 + b) / 2."""
    return (x + math_ops.sqrt(math_ops.square(x) + float(b))) / 2.0


@_activation
def tanh_shrink(x):
    """x - tanh(x)."""
    return x - math_ops.tanh(x)


@_activation
def threshold(x, threshold, default_value):
    """x, or another value where it is not above a threshold."""
    above = math_ops.cast(x > threshold, x.dtype.base_dtype)
    return x * above + default_value * (1.0 - above)


@_activation
def sparsemax(x, axis=-1):
    """Shares of which many are 0; of several as TensorFlow 2.21 has them, whose sum is not 1."""
    rank = x.shape.ndims
    order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
    moved = array_ops.transpose(x, order)
    ordered, _ = nn_ops.top_k(moved, array_ops.shape(moved)[-1])
    ranks = math_ops.range(1, array_ops.shape(moved)[-1] + 1)
    ranks = math_ops.cast(ranks, x.dtype.base_dtype)
    sums = math_ops.cumsum(ordered, axis=-1)
    is_kept = math_ops.cast(1.0 + ranks * ordered > sums, x.dtype.base_dtype)
    count = math_ops.reduce_sum(is_kept, axis=-1, keepdims=True)
    total = math_ops.reduce_sum(is_kept * sums, axis=-1, keepdims=True)
    found = math_ops.maximum(moved - (total - 1.0) / count, 0.0)
    return array_ops.transpose(found, [order.index(i) for i in range(rank)])


def _where(condition, x, y):
    return op1("Select", None, condition, x, y)


def get(identifier):
    """The activation function of a name, a configuration or itself; None: linear."""
    if identifier is None:
        return linear
    return objects.get("activation function", identifier)


def serialize(activation):
    """The name of an activation function."""
    return objects.serialize(activation)


def deserialize(name, custom_objects=None):
    """The activation function of that name."""
    return objects.deserialize("activation function", name, custom_objects)
