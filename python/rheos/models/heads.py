"""Heads: from a model's logits to its predictions, loss, metrics and what it exports."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from rheos.layers.dense_columns import NumericColumn, numeric_column
from rheos.layers.feature_columns import Features
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.io import string_ops, summary_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn import losses, metrics, nn_ops, weights_broadcast_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.lookup_ops import index_table_from_tensor, index_to_string_table_from_tensor
from rheos.training.estimator import (
    DEFAULT_SIGNATURE,
    ClassificationOutput,
    EstimatorSpec,
    ModeKeys,
    PredictOutput,
    RegressionOutput,
)
from rheos.training.global_step import get_global_step

# ---- Labels and weights


def _settled(labels, logits, width):
    """Labels as (..., width), checked against logits (..., any)."""
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. The input_fn has to return labels "
            "beside the features."
        )
    labels = convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, SparseTensor):
        raise ValueError(
            f"SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, "
            f"..., DN, {width}], which tf.sparse.to_dense() may give."
        )
    ranks = labels.shape.ndims, logits.shape.ndims
    if None not in ranks and ranks[0] == ranks[1] - 1:
        labels = array_ops.expand_dims(labels, -1)
    known = labels.shape.as_list()[-1] if labels.shape.ndims else None
    if known is not None and known != width:
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={width}.  Received {known}. "
            "Look at n_classes or label_dimension of the estimator, and at the shape of the labels."
        )
    wanted = array_ops.concat([array_ops.shape(logits)[:-1], [width]], 0)
    check = check_ops.assert_equal(
        wanted, array_ops.shape(labels), message=f"labels shape must be [D0, D1, ... DN, {width}]"
    )
    with control_dependencies([check]):
        return array_ops.identity(labels)


def _below(labels, count):
    checks = [
        check_ops.assert_less_equal(
            labels,
            convert_to_tensor(count - 1, labels.dtype),
            message="Labels must <= n_classes - 1",
        ),
        check_ops.assert_non_negative(labels, message="Labels must >= 0"),
    ]
    with control_dependencies(checks):
        return array_ops.identity(labels)


def _weights(features, column, logits, may_be_wide):
    """The weights of examples, as (..., 1) or of the shape of logits; 1.0 if there are none."""
    if column is None:
        return 1.0
    column = numeric_column(column) if isinstance(column, str) else column
    if not isinstance(column, NumericColumn):
        raise TypeError(
            f"Weight column must be either a string or NumericColumn. Given type: {type(column)}."
        )
    weights = math_ops.cast(Features(features).get(column), dtypes.float32)
    ranks = weights.shape.ndims, logits.shape.ndims
    if None not in ranks and ranks[0] == ranks[1] - 1:
        weights = array_ops.expand_dims(weights, -1)
    shape, wanted = array_ops.shape(weights), array_ops.shape(logits)
    narrow = math_ops.reduce_all(math_ops.equal(shape, array_ops.concat([wanted[:-1], [1]], 0)))
    if may_be_wide:
        narrow = math_ops.logical_or(narrow, math_ops.reduce_all(math_ops.equal(shape, wanted)))
    message = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    check = control_flow_ops.Assert(narrow, [message, "weights: ", shape, "logits: ", wanted])
    with control_dependencies([check]):
        return array_ops.identity(weights)


def _mean(values, weights):
    values = math_ops.cast(values, dtypes.float32)
    if not isinstance(weights, float):
        weights = weights_broadcast_ops.broadcast_weights(weights, values)
    else:
        weights = None
    return metrics.mean(values, weights)


# ---- Heads


class Head:
    """What is done with logits (..., logits_dimension).

    weight_column: the name or numeric column of the examples' weights. loss_fn(labels, logits,
    [features], [loss_reduction]) gives the loss of each example in place of the usual one.
    """

    def __init__(self, weight_column, loss_reduction, loss_fn, name):
        losses.Reduction.validate(loss_reduction)
        if loss_reduction == losses.Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        self._weight_column, self._loss_fn, self._name = weight_column, loss_fn, name
        self._loss_reduction = loss_reduction

    name = property(lambda self: self._name, doc="What the names of its metrics end with, or None.")
    loss_reduction = property(lambda self: self._loss_reduction, doc="How losses become one.")

    @property
    def logits_dimension(self):
        """The last dimension of the logits."""
        raise NotImplementedError

    _label_width = 1
    _wide_weights = False

    def _key(self, key):
        return key if self._name is None else f"{key}/{self._name}"

    def _own_loss(self, labels, logits, features):
        import inspect

        wanted = inspect.signature(self._loss_fn).parameters
        given = {"features": features, "loss_reduction": self._loss_reduction}
        given = {key: value for key, value in given.items() if key in wanted}
        return self._loss_fn(labels=labels, logits=logits, **given)

    def _loss(self, features, logits, labels):
        """(loss, of each example, weights, labels as they were used)"""
        labels = self._used_labels(_settled(labels, logits, self._label_width))
        if self._loss_fn is not None:
            each = self._own_loss(labels, logits, features)
        else:
            each = self._losses(labels, logits)
        weights = _weights(features, self._weight_column, logits, self._wide_weights)
        loss = losses.compute_weighted_loss(each, weights, reduction=self._loss_reduction)
        return loss, each, weights, labels

    def create_estimator_spec(
        self,
        features,
        mode,
        logits,
        labels=None,
        optimizer=None,
        trainable_variables=None,
        train_op_fn=None,
        update_ops=None,
        regularization_losses=None,
    ):
        """The EstimatorSpec of a model that gives these logits.

        In training `optimizer` minimizes the loss, or train_op_fn(loss) gives what does.
        """
        with name_scope(self._name, "head"):
            logits = self._checked_logits(logits)
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._outputs(predictions)
                outputs["predict"] = PredictOutput(predictions)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss, each, weights, labels = self._loss(features, logits, labels)
            extra = math_ops.add_n(regularization_losses) if regularization_losses else None
            total = loss if extra is None else math_ops.add_n([loss, extra])
            if mode == ModeKeys.EVAL:
                found = {"average_loss": metrics.mean(each, weights)}
                found.update(self._metrics(predictions, labels, weights))
                if extra is not None:
                    found["regularization_loss"] = metrics.mean(extra)
                found = {self._key(key): pair for key, pair in found.items()}
                return EstimatorSpec(mode, predictions, total, eval_metric_ops=found)
            train_op = self._train_op(
                total, optimizer, trainable_variables, train_op_fn, update_ops
            )
            mean = None
            if self._loss_reduction == losses.Reduction.SUM:
                mean = loss / math_ops.reduce_sum(weights * array_ops.ones_like(each))
        with name_scope(""):
            summary_ops.scalar(self._key("loss"), total)
            if mean is not None:
                summary_ops.scalar(self._key("average_loss"), mean)
            if extra is not None:
                summary_ops.scalar(self._key("regularization_loss"), extra)
        return EstimatorSpec(mode, predictions, total, train_op)

    def _checked_logits(self, logits):
        logits = math_ops.cast(convert_to_tensor(logits), dtypes.float32)
        width = logits.shape.as_list()[-1] if logits.shape.ndims else None
        if width is not None and width != self.logits_dimension:
            raise ValueError(
                "logits shape must be [D0, D1, ... DN, logits_dimension], with "
                f"logits_dimension {self.logits_dimension}, got {logits.shape}."
            )
        return logits

    @staticmethod
    def _train_op(loss, optimizer, variables, train_op_fn, update_ops):
        if (optimizer is None) == (train_op_fn is None):
            both = "both be None" if optimizer is None else "both be set"
            raise ValueError(f"train_op_fn and optimizer cannot {both}.")
        if update_ops is None:
            update_ops = get_default_graph().get_collection(GraphKeys.UPDATE_OPS)
        if optimizer is not None:
            step = get_global_step()
            train_op = optimizer.minimize(loss, global_step=step, var_list=variables)
        else:
            train_op = train_op_fn(loss)
        return control_flow_ops.group(train_op, *update_ops) if update_ops else train_op


class _Classes:
    """What heads of classes share; `_count` of them, which may have names."""

    def _class_predictions(self, logits, scores):
        ids = math_ops.argmax(scores, axis=-1, name="class_ids")
        ids = array_ops.expand_dims(ids, -1)
        if self._vocabulary:
            names = index_to_string_table_from_tensor(list(self._vocabulary)).lookup(ids)
        else:
            names = string_ops.as_string(ids, name="str_classes")
        return {
            "class_ids": ids,
            "classes": names,
            "all_class_ids": self._for_each(logits, math_ops.range(self._count)),
            "all_classes": self._for_each(logits, self._names()),
        }

    def _names(self):
        if self._vocabulary:
            return convert_to_tensor(list(self._vocabulary), dtypes.string)
        return string_ops.as_string(math_ops.range(self._count))

    @staticmethod
    def _for_each(logits, row):
        return array_ops.tile(array_ops.expand_dims(row, 0), [array_ops.shape(logits)[0], 1])

    def _ids(self, labels):
        if not self._vocabulary:
            return labels
        if labels.dtype != dtypes.string:
            raise ValueError(
                "Labels dtype should be string if there is a vocabulary. "
                f"Instead got {labels.dtype}"
            )
        return index_table_from_tensor(list(self._vocabulary)).lookup(labels)

    def _classification(self, predictions):
        scores = predictions["probabilities"]
        return ClassificationOutput(scores, self._for_each(scores, self._names()))

    @staticmethod
    def _checked_vocabulary(vocabulary, error=ValueError):
        if vocabulary is not None and not isinstance(vocabulary, (list, tuple)):
            raise error(
                f"label_vocabulary should be a list or a tuple. Given type: {type(vocabulary)}"
            )
        return vocabulary


class MultiClassHead(_Classes, Head):
    """One of `n_classes` classes, by softmax."""

    def __init__(
        self,
        n_classes,
        weight_column=None,
        label_vocabulary=None,
        loss_reduction=losses.Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn=None,
        name=None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._vocabulary = self._checked_vocabulary(label_vocabulary)
        self._count = n_classes

    @property
    def logits_dimension(self):
        """The number of classes."""
        return self._count

    def _used_labels(self, labels):
        if not self._vocabulary and not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return _below(self._ids(labels), self._count)

    def _losses(self, labels, logits):
        each = losses.sparse_softmax_cross_entropy(labels, logits, reduction=losses.Reduction.NONE)
        return array_ops.expand_dims(each, -1)

    def _predictions(self, logits):
        probabilities = nn_ops.softmax(logits, name="probabilities")
        found = self._class_predictions(logits, logits)
        return {"logits": logits, "probabilities": probabilities, **found}

    def _outputs(self, predictions):
        classes = self._classification(predictions)
        return {DEFAULT_SIGNATURE: classes, "classification": classes}

    def _metrics(self, predictions, labels, weights):
        return {"accuracy": metrics.accuracy(labels, predictions["class_ids"], weights)}


class BinaryClassHead(_Classes, Head):
    """One of two classes, by a sigmoid. thresholds: further ones to measure at."""

    _count = 2

    def __init__(
        self,
        weight_column=None,
        thresholds=None,
        label_vocabulary=None,
        loss_reduction=losses.Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn=None,
        name=None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._vocabulary = self._checked_vocabulary(label_vocabulary, TypeError)
        self._thresholds = tuple(thresholds or ())
        if any(not 0 < threshold < 1 for threshold in self._thresholds):
            raise ValueError(f"thresholds not in (0, 1): {self._thresholds}.")

    @property
    def logits_dimension(self):
        """1"""
        return 1

    def _used_labels(self, labels):
        return _below(math_ops.cast(self._ids(labels), dtypes.float32), 2)

    def _losses(self, labels, logits):
        return nn_ops.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits):
        both = array_ops.concat([array_ops.zeros_like(logits), logits], -1)
        return {
            "logits": logits,
            "logistic": math_ops.sigmoid(logits, name="logistic"),
            "probabilities": nn_ops.softmax(both, name="probabilities"),
            **self._class_predictions(logits, both),
        }

    def _outputs(self, predictions):
        classes = self._classification(predictions)
        return {
            DEFAULT_SIGNATURE: classes,
            "classification": classes,
            "regression": RegressionOutput(predictions["logistic"]),
        }

    def _metrics(self, predictions, labels, weights):
        logistic, ids = predictions["logistic"], predictions["class_ids"]
        mean = _mean(labels, weights)
        if not isinstance(weights, float):
            wide = weights_broadcast_ops.broadcast_weights(weights, logistic)
        else:
            wide = None
        found = {
            "accuracy": metrics.accuracy(labels, ids, wide),
            "precision": metrics.precision(labels, ids, wide),
            "recall": metrics.recall(labels, ids, wide),
            "prediction/mean": _mean(logistic, weights),
            "label/mean": mean,
            "accuracy_baseline": tuple(math_ops.maximum(x, 1 - x) for x in mean),
            "auc": metrics.auc(labels, logistic, wide),
            "auc_precision_recall": metrics.auc(labels, logistic, wide, curve="PR"),
        }
        for threshold in self._thresholds:
            end = f"positive_threshold_{threshold:g}"
            above = math_ops.cast(math_ops.greater_equal(logistic, threshold), dtypes.float32)
            found[f"accuracy/{end}"] = metrics.accuracy(labels, above, wide)
            for name, measure in (
                ("precision", metrics.precision_at_thresholds),
                ("recall", metrics.recall_at_thresholds),
            ):
                pair = measure(labels, logistic, [threshold], wide)
                found[f"{name}/{end}"] = tuple(array_ops.squeeze(x) for x in pair)
        return found


class RegressionHead(Head):
    """`label_dimension` numbers, by their squared errors. inverse_link_fn: from logits to them."""

    _wide_weights = True

    def __init__(
        self,
        label_dimension=1,
        weight_column=None,
        loss_reduction=losses.Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn=None,
        inverse_link_fn=None,
        name=None,
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._label_width, self._link = label_dimension, inverse_link_fn

    @property
    def logits_dimension(self):
        """How many numbers an example has."""
        return self._label_width

    def _used_labels(self, labels):
        return math_ops.cast(labels, dtypes.float32)

    def _losses(self, labels, logits):
        return losses.mean_squared_error(labels, logits, reduction=losses.Reduction.NONE)

    def _predictions(self, logits):
        if self._link is None:
            return {"predictions": logits}
        return {"predictions": self._link(logits), "logits": logits}

    def _outputs(self, predictions):
        numbers = RegressionOutput(predictions["predictions"])
        return {DEFAULT_SIGNATURE: numbers, "regression": numbers}

    def _metrics(self, predictions, labels, weights):
        return {
            "prediction/mean": _mean(predictions["predictions"], weights),
            "label/mean": metrics.mean(labels, weights),
        }


def of_classes(n_classes, weight_column, label_vocabulary, loss_reduction):
    """The head for that many classes."""
    if n_classes == 2:
        return BinaryClassHead(
            weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction
        )
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
