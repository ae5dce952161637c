"""Metrics of the k best predictions, kept over many steps as those in metrics.py.

labels: int64 (..., num_labels), the right classes of each row, or (...) for one each; a
SparseTensor where rows have different numbers of them. A label that no class has counts as one that
was missed. `predictions_idx`: (..., k), the classes that were predicted.
"""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, count_operations
from rheos.framework.sparse_tensor import SparseTensor, is_sparse
from rheos.ops.array import array_ops, sets_impl, sparse_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops, weights_broadcast_ops
from rheos.ops.nn.metrics import _collect, _variable
from rheos.ops.state import state_ops, variable_scope


def _scope_name(kind, k, class_id=None):
    name = f"{kind}_at_{k}" if k is not None else f"{kind}_at_k"
    return name if class_id is None else f"{name}_class{int(class_id)}"


def _labels_for(labels, predictions_idx):
    """int64 labels of as many dimensions as the predictions."""
    if is_sparse(labels):
        labels = SparseTensor.from_value(labels)
        if labels.shape.ndims is not None and labels.shape.ndims == predictions_idx.shape.ndims - 1:
            labels = sparse_ops.sparse_expand_dims(labels, -1)
        return math_ops.cast(labels, dtypes.int64)
    labels = math_ops.cast(convert_to_tensor(labels), dtypes.int64)
    have, wanted = labels.shape.ndims, predictions_idx.shape.ndims
    if have is None or wanted is None:
        raise ValueError("labels and predictions need a known number of dimensions")
    if have == wanted - 1:
        labels = array_ops.expand_dims(labels, -1)
    elif have != wanted:
        raise ValueError(f"labels of {have} dimensions do not go with predictions of {wanted}")
    return labels


def _of_class(ids, class_id):
    """The sets without all other classes, as a SparseTensor."""
    if class_id is None:
        return ids
    if isinstance(ids, SparseTensor):
        return sparse_ops.sparse_retain(ids, math_ops.equal(ids.values, class_id))
    only = array_ops.fill(
        array_ops.concat([array_ops.shape(ids)[:-1], [1]], 0), math_ops.cast(class_id, dtypes.int64)
    )
    found = sets_impl.set_intersection(only, ids)
    return SparseTensor(
        found.indices, found.values, array_ops.shape(ids, out_type=dtypes.int64)
    )  # fmt: skip


def _weighted(counts, weights):
    """The counts of sets as float64, times weights."""
    counts = math_ops.cast(counts, dtypes.float64)
    if weights is None:
        return counts
    weights = convert_to_tensor(weights)
    count_operations(1)
    with control_dependencies([weights_broadcast_ops.assert_broadcastable(weights, counts)]):
        return math_ops.multiply(counts, math_ops.cast(weights, dtypes.float64))


def _total(values, name):
    """(a variable that sums values up, its update)."""
    variable = _variable([], dtypes.float64, name)
    return variable, state_ops.assign_add(variable, math_ops.reduce_sum(values))


def _quotient(right, wrong, name):
    return math_ops.div(right, math_ops.add(right, wrong), name=name)


def _rate_at_top_k(kind, labels, predictions_idx, k, class_id, weights, collections, name):
    """(right / (right + wrong), update): wrong are the predicted or the missed ones, by `kind`."""
    default = _scope_name(kind, k, class_id)
    with variable_scope.variable_scope(name, default, (predictions_idx, labels, weights)) as scope:
        predictions_idx = math_ops.cast(convert_to_tensor(predictions_idx), dtypes.int64)
        labels = _labels_for(labels, predictions_idx)
        if class_id is not None:
            count_operations(58)  # the shapes that it fills, and slices for each count apart
        labels, found = _of_class(labels, class_id), _of_class(predictions_idx, class_id)
        common = sets_impl.set_size(sets_impl.set_intersection(found, labels))
        only = sets_impl.set_difference(found, labels, aminusb=kind == "precision")
        right, right_update = _total(
            _weighted(common, weights), _scope_name("true_positive", k, class_id)
        )
        wrong, wrong_update = _total(
            _weighted(sets_impl.set_size(only), weights),
            _scope_name("false_positive" if kind == "precision" else "false_negative", k, class_id),
        )
        value = _quotient(right, wrong, scope.name.rsplit("/", 1)[-1])
        update = _quotient(right_update, wrong_update, "update")
        return _collect(value, collections[0], update, collections[1])


def _best(predictions, k):
    return nn_ops.top_k(convert_to_tensor(predictions), k)[1]


def precision_at_top_k(
    labels,
    predictions_idx,
    k=None,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the fraction of the predicted classes that are right, update), two float64 scalars.

    k: for names only. class_id: counts this class alone. weights: (...) or what broadcasts to it.
    """
    collections = metrics_collections, updates_collections
    return _rate_at_top_k(
        "precision", labels, predictions_idx, k, class_id, weights, collections, name
    )


def precision_at_k(
    labels,
    predictions,
    k,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """precision_at_top_k() of the k classes with the highest `predictions` (..., num_classes)."""
    return precision_at_top_k(
        labels, _best(predictions, k), k, class_id, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def recall_at_top_k(
    labels,
    predictions_idx,
    k=None,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the fraction of the right classes that were predicted, update), two float64 scalars.

    k: for names only. class_id: counts this class alone. weights: (...) or what broadcasts to it.
    """
    collections = metrics_collections, updates_collections
    return _rate_at_top_k(
        "recall", labels, predictions_idx, k, class_id, weights, collections, name
    )


def recall_at_k(
    labels,
    predictions,
    k,
    class_id=None,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """recall_at_top_k() of the k classes with the highest `predictions` (..., num_classes)."""
    return recall_at_top_k(
        labels, _best(predictions, k), k, class_id, weights,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


def _relevant(labels, k):
    """How many right classes each row has, at most k."""
    if isinstance(labels, SparseTensor):
        count = sets_impl.set_size(labels)
    else:
        is_label = math_ops.cast(math_ops.greater_equal(labels, 0), dtypes.int32)
        count = math_ops.reduce_sum(is_label, axis=-1)
    return math_ops.cast(math_ops.minimum(count, k), dtypes.float64)


def _is_right(labels, predictions_idx):
    """Whether each predicted class (..., k) is among its row's labels, float64."""
    k = predictions_idx.shape.size_at(-1)
    one_by_one = array_ops.expand_dims(predictions_idx, -1)
    if isinstance(labels, SparseTensor):
        shape = labels.dense_shape
        each = sparse_ops.sparse_reshape(
            labels, array_ops.concat([shape[:-1], [1], shape[-1:]], axis=0)
        )
        repeated = sparse_ops.sparse_concat(axis=-2, sp_inputs=[each] * k)
    else:
        each = array_ops.expand_dims(labels, -2)
        rank = each.shape.ndims
        repeated = array_ops.tile(each, [1] * (rank - 2) + [k, 1])
    found = sets_impl.set_intersection(one_by_one, repeated)
    return math_ops.cast(sets_impl.set_size(found), dtypes.float64)


def _average_precision(labels, predictions_idx):
    """Of each row: the precisions at the places of right predictions, over the right classes."""
    right = _is_right(labels, predictions_idx)
    places = math_ops.cumsum(array_ops.ones_like(right), axis=-1)
    precisions = math_ops.div(math_ops.cumsum(right, axis=-1), places)
    total = math_ops.reduce_sum(precisions * right, axis=-1)
    return math_ops.div(total, _relevant(labels, predictions_idx.shape.size_at(-1)))


def _average_precision_at(
    labels, predictions_idx, weights, metrics_collections, updates_collections, name
):
    predictions_idx = math_ops.cast(convert_to_tensor(predictions_idx), dtypes.int64)
    if predictions_idx.shape.ndims == 0:
        raise ValueError("The rank of predictions_idx must be at least 1.")
    k = predictions_idx.shape.ndims and predictions_idx.shape.size_at(-1)
    if k is None:
        raise ValueError("The last dimension of predictions_idx must be set.")
    default = _scope_name("average_precision", k)
    with variable_scope.variable_scope(name, default, (predictions_idx, labels, weights)):
        labels = _labels_for(labels, predictions_idx)
        averages = _average_precision(labels, predictions_idx)
        # What fits labels to predictions and weights to both is written shorter here, or longer.
        count_operations(32 if weights is None else -35)
        if weights is None:
            most = math_ops.cast(array_ops.size(averages), dtypes.float64)
        else:
            ones = array_ops.ones_like(averages)
            most = math_ops.reduce_sum(_weighted(ones, weights))
        weighted = _weighted(averages, weights)
        best, best_update = _total(most, "max")
        total, total_update = _total(weighted, "total")
        value = _mean_of(total, best, "mean_average_precision")
        update = _mean_of(total_update, best_update, "update")
        return _collect(value, metrics_collections, update, updates_collections)


def _mean_of(total, best, name):
    return array_ops.where(
        math_ops.greater(best, 0), math_ops.div(total, best), array_ops.zeros_like(best), name=name
    )


def average_precision_at_k(
    labels,
    predictions,
    k,
    weights=None,
    metrics_collections=None,
    updates_collections=None,
    name=None,
):
    """(the mean average precision of the k best classes, update), two float64 scalars.

    predictions: (..., num_classes). ValueError for k below 1.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    return _average_precision_at(
        labels, _best(predictions, k), weights, metrics_collections, updates_collections, name
    )


# Their old names.
sparse_precision_at_k = precision_at_k
sparse_average_precision_at_k = average_precision_at_k
