"""Losses: of labels and predictions, one for each element of a batch; reduced by the classes."""

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor
from rheos.layers import values
from rheos.models import objects
from rheos.models.shapes_of_losses import (
    Reduction,
    as_floats,
    mask_of,
    reduced,
    reduced_with_mask,
    same_rank,
    squeeze_last,
    weighted,
)
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.flow.smart_cond import smart_cond
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.nn import nn_ops

_loss = objects.known("loss function")
_SMALL = 1e-7


def _both(y_true, y_pred):
    """Labels and predictions as floating point numbers of the same dtype."""
    y_pred = as_floats(y_pred)
    return math_ops.cast(convert_to_tensor(y_true), y_pred.dtype), y_pred


def _fitted(y_true, y_pred):
    """_both(); in version 2 of the same rank, where one has a last dimension of 1 too many."""
    found = _both(y_true, y_pred)
    return found if values.runs_in_session() else same_rank(*found)


def _check_shapes(y_true, y_pred):
    """ValueError in version 2 where labels would be broadcast to predictions, or these to them."""
    if not values.runs_in_session() and not y_true.shape.is_compatible_with(y_pred.shape):
        raise ValueError(
            f"labels and predictions must have the same shape, not {y_true.shape} and "
            f"{y_pred.shape}"
        )


def _mean(x):
    return math_ops.reduce_mean(x, axis=-1)


@_loss("mse", "MSE")
def mean_squared_error(y_true, y_pred):
    """The mean of squared differences along the last axis."""
    y_true, y_pred = _fitted(y_true, y_pred)
    return _mean(math_ops.squared_difference(y_pred, y_true))


@_loss("mae", "MAE")
def mean_absolute_error(y_true, y_pred):
    """The mean of absolute differences along the last axis."""
    y_true, y_pred = _fitted(y_true, y_pred)
    return _mean(math_ops.abs(y_pred - y_true))


@_loss("mape", "MAPE")
def mean_absolute_percentage_error(y_true, y_pred):
    """100 times the mean of relative differences."""
    y_true, y_pred = _fitted(y_true, y_pred)
    size = clip_ops.clip_by_value(math_ops.abs(y_true), _SMALL, y_true.dtype.max)
    return 100.0 * _mean(math_ops.abs((y_true - y_pred) / size))


@_loss("msle", "MSLE")
def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean of squared differences of log(1 + x)."""
    y_true, y_pred = _fitted(y_true, y_pred)
    first = math_ops.log(clip_ops.clip_by_value(y_pred, _SMALL, y_pred.dtype.max) + 1.0)
    second = math_ops.log(clip_ops.clip_by_value(y_true, _SMALL, y_pred.dtype.max) + 1.0)
    return _mean(math_ops.squared_difference(first, second))


def _signs(y_true):
    """Labels of -1 and 1, made of such of 0 and 1 where there is nothing else."""
    is_binary = math_ops.reduce_all(
        math_ops.logical_or(math_ops.equal(y_true, 0.0), math_ops.equal(y_true, 1.0))
    )
    return smart_cond(is_binary, lambda: 2.0 * y_true - 1.0, lambda: array_ops.identity(y_true))


@_loss
def squared_hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0) ^ 2; labels -1 and 1, or 0 and 1."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(math_ops.square(math_ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0)))


@_loss
def hinge(y_true, y_pred):
    """The mean of max(1 - y_true * y_pred, 0); labels -1 and 1, or 0 and 1."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(math_ops.maximum(1.0 - _signs(y_true) * y_pred, 0.0))


@_loss
def categorical_hinge(y_true, y_pred):
    """max(1 + the largest wrong prediction - the right one, 0); labels one-hot."""
    y_true, y_pred = _both(y_true, y_pred)
    right = math_ops.reduce_sum(y_true * y_pred, axis=-1)
    wrong = math_ops.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return math_ops.maximum(0.0, wrong - right + 1.0)


@_loss("Huber", "huber_loss")
def huber(y_true, y_pred, delta=1.0):
    """Half the squared difference, linear where that is more than `delta`; the mean of it."""
    y_true, y_pred = _fitted(y_true, y_pred)
    error = math_ops.abs(y_pred - y_true)
    small = math_ops.minimum(error, delta)
    return _mean(0.5 * small * small + delta * (error - small))


def huber_loss(y_true, y_pred, delta=1.0):
    """Huber's loss of each element."""
    y_true, y_pred = _both(y_true, y_pred)
    error = math_ops.abs(y_pred - y_true)
    small = math_ops.minimum(error, delta)
    return 0.5 * small * small + delta * (error - small)


@_loss("log_cosh")
def logcosh(y_true, y_pred):
    """The mean of log(cosh(y_pred - y_true))."""
    y_true, y_pred = _fitted(y_true, y_pred)
    x = y_pred - y_true
    return _mean(x + nn_ops.softplus(-2.0 * x) - 0.6931471805599453)


def _logits_behind(output, op_type):
    """What a Softmax or Sigmoid was made of, None for other tensors.

    As in Keras 3, layers' activations of either kind count for both.
    """
    if getattr(output, "_keras_logits", None) is not None:
        return output._keras_logits
    if isinstance(output, Tensor) and not getattr(output, "_is_eager", False):
        op = output.op
        while op.type == "Identity":
            op = op.inputs[0].op
        if op.type == op_type:
            return op.inputs[0]
    return None


def _crossentropy(target, output, from_logits, axis):
    if not from_logits:
        logits = _logits_behind(output, "Softmax") if axis in (-1, output.shape.ndims) else None
        if logits is None:
            output = output / math_ops.reduce_sum(output, axis=axis, keepdims=True)
            output = clip_ops.clip_by_value(output, _SMALL, 1.0 - _SMALL)
            return -math_ops.reduce_sum(target * math_ops.log(output), axis=axis)
        output = logits
    return nn_ops.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)


@_loss
def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0, axis=-1):
    """Cross entropy of one-hot labels and probabilities, or logits."""
    y_true, y_pred = _both(y_true, y_pred)
    _check_shapes(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda: 1.0 / _size(y_true))
    return _crossentropy(y_true, y_pred, from_logits, axis)


def _size(y):
    place = 1 if values.runs_in_session() else -1
    return math_ops.cast(array_ops.shape(y)[place], y.dtype)


def _smoothed(y_true, smoothing, uniform):
    if isinstance(smoothing, (int, float)) and not smoothing:
        return y_true
    smoothing = math_ops.cast(convert_to_tensor(smoothing), y_true.dtype)
    return y_true * (1.0 - smoothing) + smoothing * uniform()


@_loss
def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, axis=-1, ignore_class=None):
    """Cross entropy of the numbers of the right classes, and probabilities or logits.

    >>> loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    >>> print(loss([0], [[0.0, 0.0]]).numpy())
    0.6931472
    """
    output = as_floats(y_pred)
    rank = output.shape.ndims
    if axis not in (-1, rank - 1):
        order = [*range(axis % rank), *range(axis % rank + 1, rank), axis % rank]
        output = array_ops.transpose(output, order)
    if not from_logits:
        logits = _logits_behind(output, "Softmax")
        if logits is None:
            output = math_ops.log(clip_ops.clip_by_value(output, _SMALL, 1 - _SMALL))
        else:
            output = logits
    target = convert_to_tensor(y_true)
    output_shape = output.shape.as_list() if output._is_eager else array_ops.shape(output)
    if not values.runs_in_session():
        target = _one_fewer(target, output)
    labels = math_ops.cast(array_ops.reshape(target, [-1]), "int64")
    kept = None
    if ignore_class is not None:
        kept = math_ops.not_equal(labels, ignore_class)
        labels = labels * math_ops.cast(kept, labels.dtype)
    logits = array_ops.reshape(output, [-1, output_shape[-1]])
    result = nn_ops.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    if kept is not None:
        result = result * math_ops.cast(kept, result.dtype)
    if rank is None or rank > 2:
        result = array_ops.reshape(result, output_shape[:-1])
        result.set_shape(output.shape[:-1])
    if kept is not None:
        result._keras_mask = array_ops.reshape(kept, array_ops.shape(result))
    return result


def _one_fewer(target, output):
    """Numbers of classes without a last dimension of 1; ValueError unless one fits each row."""
    if target.shape.ndims is not None and target.shape.ndims == output.shape.ndims:
        target = array_ops.squeeze(target, [-1]) if target.shape.as_list()[-1] == 1 else target
    if not target.shape.is_compatible_with(output.shape[:-1]):
        raise ValueError(
            f"labels of shape {target.shape} are not the numbers of the classes of predictions of "
            f"shape {output.shape}"
        )
    return target


def binary_crossentropy_of_elements(target, output, from_logits=False):
    """The cross entropy of each element's probability, or logit."""
    if not from_logits:
        logits = _logits_behind(output, "Sigmoid")
        if logits is None:
            output = clip_ops.clip_by_value(output, _SMALL, 1.0 - _SMALL)
            found = target * math_ops.log(output + _SMALL)
            found += (1.0 - target) * math_ops.log(1.0 - output + _SMALL)
            return -found
        output = logits
    return nn_ops.sigmoid_cross_entropy_with_logits(labels=target, logits=output)


@_loss
def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0, axis=-1):
    """The mean cross entropy of labels of 0 and 1, and probabilities or logits."""
    y_true, y_pred = _both(y_true, y_pred)
    _check_shapes(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda: 0.5)
    return math_ops.reduce_mean(
        binary_crossentropy_of_elements(y_true, y_pred, from_logits), axis=axis
    )


@_loss
def binary_focal_crossentropy(
    y_true,
    y_pred,
    apply_class_balancing=False,
    alpha=0.25,
    gamma=2.0,
    from_logits=False,
    label_smoothing=0.0,
    axis=-1,
):
    """Binary cross entropy times (1 - the probability of the right answer) ^ gamma."""
    y_true, y_pred = _both(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda: 0.5)
    if from_logits:
        y_pred = math_ops.sigmoid(y_pred)
    entropy = binary_crossentropy_of_elements(y_true, y_pred)
    right = y_true * y_pred + (1.0 - y_true) * (1.0 - y_pred)
    focal = math_ops.pow(1.0 - right, gamma) * entropy
    if apply_class_balancing:
        focal = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * focal
    return math_ops.reduce_mean(focal, axis=axis)


@_loss
def categorical_focal_crossentropy(
    y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
):
    """Categorical cross entropy times alpha * (1 - probability) ^ gamma."""
    y_true, y_pred = _both(y_true, y_pred)
    y_true = _smoothed(y_true, label_smoothing, lambda: 1.0 / _size(y_true))
    if from_logits:
        y_pred = nn_ops.softmax(y_pred, axis=axis)
    y_pred = y_pred / math_ops.reduce_sum(y_pred, axis=axis, keepdims=True)
    y_pred = clip_ops.clip_by_value(y_pred, _SMALL, 1.0 - _SMALL)
    entropy = -y_true * math_ops.log(y_pred)
    return math_ops.reduce_sum(alpha * math_ops.pow(1.0 - y_pred, gamma) * entropy, axis=axis)


@_loss("kld", "KLD", "kl_divergence")
def kullback_leibler_divergence(y_true, y_pred):
    """The divergence of two distributions."""
    y_true, y_pred = _both(y_true, y_pred)
    y_true = clip_ops.clip_by_value(y_true, _SMALL, 1.0)
    y_pred = clip_ops.clip_by_value(y_pred, _SMALL, 1.0)
    return math_ops.reduce_sum(y_true * math_ops.log(y_true / y_pred), axis=-1)


@_loss
def poisson(y_true, y_pred):
    """The mean of y_pred - y_true * log(y_pred)."""
    y_true, y_pred = _both(y_true, y_pred)
    return _mean(y_pred - y_true * math_ops.log(y_pred + _SMALL))


@_loss("cosine_proximity", "cosine")
def cosine_similarity(y_true, y_pred, axis=-1):
    """The negative cosine of the angle of labels and predictions; TensorFlow 1's is positive."""
    found = cosine_of(y_true, y_pred, axis)
    return found if values.runs_in_session() else -found


def cosine_of(y_true, y_pred, axis=-1):
    """The cosine of the angle between labels and predictions."""
    y_true, y_pred = _fitted(y_true, y_pred)
    y_true = nn_ops.l2_normalize(y_true, axis=axis)
    y_pred = nn_ops.l2_normalize(y_pred, axis=axis)
    return math_ops.reduce_sum(y_true * y_pred, axis=axis)


@_loss
def dice(y_true, y_pred, axis=None):
    """1 - the Dice coefficient."""
    y_true, y_pred = _both(y_true, y_pred)
    both = math_ops.reduce_sum(y_true * y_pred, axis=axis)
    all_of = math_ops.reduce_sum(y_true, axis=axis) + math_ops.reduce_sum(y_pred, axis=axis)
    return 1 - math_ops.div_no_nan(2.0 * both, all_of + _SMALL)


@_loss
def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    """1 - Tversky's index, in which what was missed weighs alpha, what is wrong beta."""
    y_true, y_pred = _both(y_true, y_pred)
    both = math_ops.reduce_sum(y_true * y_pred, axis=axis)
    wrong = math_ops.reduce_sum((1 - y_true) * y_pred, axis=axis)
    missed = math_ops.reduce_sum(y_true * (1 - y_pred), axis=axis)
    return 1 - math_ops.div_no_nan(both, both + missed * alpha + wrong * beta + _SMALL)


@_loss
def categorical_generalized_cross_entropy(y_true, y_pred, q):
    """(1 - the probability of the right class ^ q) / q; labels are numbers of classes."""
    y_pred = as_floats(y_pred)
    labels = math_ops.cast(convert_to_tensor(y_true), "int32")
    right = array_ops.one_hot(labels, array_ops.shape(y_pred)[-1], dtype=y_pred.dtype)
    probability = math_ops.reduce_sum(y_pred * right, axis=-1)
    return (1 - math_ops.pow(probability, q)) / q


@_loss
def circle(
    y_true,
    y_pred,
    ref_labels=None,
    ref_embeddings=None,
    remove_diagonal=True,
    gamma=80,
    margin=0.4,
):
    """Sun and others' circle loss of embeddings by their labels."""
    y_pred = as_floats(y_pred)
    labels = array_ops.reshape(math_ops.cast(convert_to_tensor(y_true), "int32"), [-1, 1])
    others = y_pred if ref_embeddings is None else as_floats(ref_embeddings)
    other_labels = labels if ref_labels is None else ref_labels
    other_labels = math_ops.cast(convert_to_tensor(other_labels), "int32")
    distance = math_ops.maximum(1 - math_ops.matmul(y_pred, others, transpose_b=True), 0.0)
    is_same = math_ops.equal(labels, array_ops.reshape(other_labels, [1, -1]))
    same = math_ops.cast(is_same, distance.dtype)
    other = 1.0 - same
    if remove_diagonal:
        same = same - rearrange_ops.eye(array_ops.shape(labels)[0], dtype=distance.dtype)

    def spread(weights, wanted, mask, sign):
        weights = math_ops.maximum(weights * mask, 0.0)
        found = sign * gamma * weights * (wanted - distance)
        found = found * mask + (1.0 - mask) * found.dtype.min
        return math_ops.reduce_logsumexp(found, axis=1)

    losses = nn_ops.softplus(
        spread(margin + distance, margin, same, -1.0)
        + spread(1 + margin - distance, 1 - margin, other, 1.0)
    )
    losses._keras_mask = losses > 0.0
    return losses


# ---- Losses as objects


def _dtype_named(dtype):
    """The name of a dtype, or of that which a policy computes in."""
    return dtypes.as_dtype(getattr(dtype, "compute_dtype", dtype)).name


def _scope_name(name):
    """A name as scopes take it: that of a lambda without its brackets."""
    return name.strip("<>")


class Loss:
    """A loss with a reduction: call() gives one for each element of a batch."""

    def __init__(self, reduction=Reduction.AUTO, name=None, dtype=None):
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name
        self._dtype = None if dtype is None else _dtype_named(dtype)

    @property
    def dtype(self):
        """The name of the dtype that it computes in: by default that of floating point numbers."""
        return self._dtype or values.root_graph().__dict__.get("_floatx", "float32")

    def __call__(self, y_true, y_pred, sample_weight=None):
        with name_scope(_scope_name(self.name or type(self).__name__.lower())):
            if not values.runs_in_session():
                return self._reduced_as_keras3(y_true, y_pred, sample_weight)
            losses = weighted(self.call(y_true, y_pred), sample_weight)
            return reduced(losses, self._reduction(), sample_weight)

    def _reduced_as_keras3(self, y_true, y_pred, weights):
        given = y_pred
        y_true, y_pred = (
            nest.map_leaves(lambda x: as_floats(x, self.dtype), y) for y in (y_true, y_pred)
        )
        found = self.call(y_true, y_pred)
        mask = mask_of(given, found)
        losses = as_floats(found, self.dtype)
        return reduced_with_mask(losses, self._reduction(), weights, mask)

    def _reduction(self):
        auto = self.reduction == Reduction.AUTO
        return Reduction.SUM_OVER_BATCH_SIZE if auto else self.reduction

    def call(self, y_true, y_pred):
        """The losses of the elements of a batch."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self):
        """What makes a loss like this."""
        return {"reduction": self.reduction, "name": self.name}

    @classmethod
    def from_config(cls, config):
        """A loss like the one whose get_config() this was."""
        return cls(**config)


class LossFunctionWrapper(Loss):
    """The loss of a function of labels and predictions."""

    def __init__(self, fn, reduction=Reduction.AUTO, name=None, dtype=None, **kwargs):
        super().__init__(reduction, name, dtype)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true, y_pred):
        if isinstance(y_pred, Tensor) and not values.runs_in_session():
            y_true, y_pred = same_rank(convert_to_tensor(y_true), y_pred)
        elif isinstance(y_pred, Tensor) and self.fn not in _OF_CLASSES:
            y_true, y_pred = squeeze_last(y_true, y_pred)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        settings = dict(self._fn_kwargs)
        if values.runs_in_session():  # TensorFlow 1 does not know these of most losses
            for name, default in (("axis", -1), ("ignore_class", None)):
                if settings.get(name, ()) == default and self.fn is not cosine_similarity:
                    del settings[name]
        return {**super().get_config(), **settings}


_OF_CLASSES = {sparse_categorical_crossentropy, categorical_generalized_cross_entropy, circle}


def _of_function(name, function, default_name, defaults):
    """A class of losses for a function; `defaults` are the arguments it takes, in order."""

    def __init__(self, *args, **kwargs):
        names = [*defaults, "reduction", "name", "dtype"]
        if len(args) > len(names):
            raise TypeError(f"{name}() takes at most {len(names)} arguments, got {len(args)}")
        given = dict(zip(names, args))
        for key, value in kwargs.items():
            if key not in names:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            if key in given:
                raise TypeError(f"{name}() got multiple values for argument '{key}'")
            given[key] = value
        reduction = given.pop("reduction", Reduction.AUTO)
        own_name = given.pop("name", default_name)
        dtype = given.pop("dtype", None)
        LossFunctionWrapper.__init__(
            self, function, reduction, own_name, dtype, **{**defaults, **given}
        )
        for key, value in self._fn_kwargs.items():
            setattr(self, key, value)

    body = {"__init__": __init__, "__doc__": function.__doc__, "__module__": __name__}
    made = type(name, (LossFunctionWrapper,), body)
    objects.table("loss function")[name] = made
    return made


CategoricalGeneralizedCrossEntropy = _of_function(
    "CategoricalGeneralizedCrossEntropy",
    categorical_generalized_cross_entropy,
    "categorical_generalized_cross_entropy",
    {"q": 0.5},
)


@_loss
class Circle(LossFunctionWrapper):
    """Sun and others' circle loss of embeddings, by the numbers of their classes.

    The mean is of the samples that have any.
    """

    def __init__(self, gamma=80.0, margin=0.4, remove_diagonal=True,
                 reduction=Reduction.AUTO, name="circle", dtype=None):  # fmt: skip
        super().__init__(circle, reduction, name, dtype, gamma=gamma, margin=margin,
                         remove_diagonal=remove_diagonal)  # fmt: skip


MeanSquaredError = _of_function("MeanSquaredError", mean_squared_error, "mean_squared_error", {})
MeanAbsoluteError = _of_function(
    "MeanAbsoluteError", mean_absolute_error, "mean_absolute_error", {}
)
MeanAbsolutePercentageError = _of_function(
    "MeanAbsolutePercentageError",
    mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
    {},
)
MeanSquaredLogarithmicError = _of_function(
    "MeanSquaredLogarithmicError",
    mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
    {},
)
BinaryCrossentropy = _of_function(
    "BinaryCrossentropy",
    binary_crossentropy,
    "binary_crossentropy",
    {"from_logits": False, "label_smoothing": 0, "axis": -1},
)
BinaryFocalCrossentropy = _of_function(
    "BinaryFocalCrossentropy",
    binary_focal_crossentropy,
    "binary_focal_crossentropy",
    {
        "apply_class_balancing": False,
        "alpha": 0.25,
        "gamma": 2.0,
        "from_logits": False,
        "label_smoothing": 0.0,
        "axis": -1,
    },
)
CategoricalCrossentropy = _of_function(
    "CategoricalCrossentropy",
    categorical_crossentropy,
    "categorical_crossentropy",
    {"from_logits": False, "label_smoothing": 0, "axis": -1},
)
CategoricalFocalCrossentropy = _of_function(
    "CategoricalFocalCrossentropy",
    categorical_focal_crossentropy,
    "categorical_focal_crossentropy",
    {"alpha": 0.25, "gamma": 2.0, "from_logits": False, "label_smoothing": 0.0, "axis": -1},
)
SparseCategoricalCrossentropy = _of_function(
    "SparseCategoricalCrossentropy",
    sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    {"from_logits": False, "ignore_class": None, "axis": -1},
)
Hinge = _of_function("Hinge", hinge, "hinge", {})
SquaredHinge = _of_function("SquaredHinge", squared_hinge, "squared_hinge", {})
CategoricalHinge = _of_function("CategoricalHinge", categorical_hinge, "categorical_hinge", {})
Poisson = _of_function("Poisson", poisson, "poisson", {})
LogCosh = _of_function("LogCosh", logcosh, "logcosh", {})
KLDivergence = _of_function(
    "KLDivergence", kullback_leibler_divergence, "kullback_leibler_divergence", {}
)
Huber = _of_function("Huber", huber, "huber_loss", {"delta": 1.0})
CosineSimilarity = _of_function(
    "CosineSimilarity", cosine_similarity, "cosine_similarity", {"axis": -1}
)
Dice = _of_function("Dice", dice, "dice", {"axis": None})
Tversky = _of_function("Tversky", tversky, "tversky", {"alpha": 0.5, "beta": 0.5, "axis": None})

mse = MSE = mean_squared_error
mae = MAE = mean_absolute_error
mape = MAPE = mean_absolute_percentage_error
msle = MSLE = mean_squared_logarithmic_error
kld = KLD = kl_divergence = kullback_leibler_divergence
cosine_proximity = cosine = cosine_similarity


def get(identifier):
    """The loss function of a name, a configuration or itself."""
    return objects.get("loss function", identifier)


def serialize(loss):
    """What stands for a loss."""
    return objects.serialize(loss)


def deserialize(name, custom_objects=None):
    """The loss that a name or configuration stands for."""
    return objects.deserialize("loss function", name, custom_objects)
