"""Keeping values and norms within bounds."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import colocate_with, name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops


@ragged_too("elementwise")
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Values below the minimum become the minimum, values above the maximum the maximum.

    >>> print(tf.clip_by_value([-3.0, 0.5, 7.0], 0.0, 1.0).numpy())
    [0.  0.5 1. ]
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as name:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        lower = math_ops.minimum(values, clip_value_max)
        values.shape.merge_with(lower.shape)
        clipped = math_ops.maximum(lower, clip_value_min, name=name)
        values.shape.merge_with(clipped.shape)
        if isinstance(t, IndexedSlices):
            return IndexedSlices(clipped, t.indices, t.dense_shape)
        return clipped


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scales a tensor down so that its euclidean norm is at most `clip_norm`.

    >>> print(tf.clip_by_norm([3.0, 4.0], 1.0).numpy())
    [0.6 0.8]
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as name:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        total = math_ops.reduce_sum(values * values, axes, keepdims=True)
        positive = total > 0
        safe = array_ops.where(positive, total, array_ops.ones_like(total))
        norm = array_ops.where(positive, math_ops.sqrt(safe), total)
        scaled = values * clip_norm
        values.shape.merge_with(scaled.shape)
        clipped = array_ops.identity(scaled / math_ops.maximum(norm, clip_norm), name=name)
        if isinstance(t, IndexedSlices):
            return IndexedSlices(clipped, t.indices, t.dense_shape)
        return clipped


def _values(t_list, name):
    if isinstance(t_list, (str, bytes)) or not hasattr(t_list, "__iter__"):
        raise TypeError("t_list should be a sequence")
    return [
        None
        if t is None
        else convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=f"{name}_{i}")
        for i, t in enumerate(t_list)
    ]


def global_norm(t_list, name=None):
    """The euclidean norm of all the tensors together; None among them counts as nothing."""
    t_list = list(t_list)
    with name_scope(name, "global_norm", [t for t in t_list if t is not None]) as name:
        halves = []
        for value in _values(t_list, "t"):
            if value is not None:
                with colocate_with(value):
                    halves.append(nn_ops.l2_loss(value))
        half_total = math_ops.reduce_sum(array_ops.stack(halves))
        return math_ops.sqrt(half_total * constant(2.0, dtype=half_total.dtype), name="global_norm")


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Scales tensors down together so that their global norm is at most `clip_norm`.

    Returns (list of tensors, global norm).

    >>> clipped, norm = tf.clip_by_global_norm([[3.0], [4.0]], clip_norm=1.0)
    >>> print(norm.numpy(), [one.numpy().tolist() for one in clipped])
    5.0 [[0.6000000238418579], [0.800000011920929]]
    """
    if isinstance(t_list, (str, bytes)) or not hasattr(t_list, "__iter__"):
        raise TypeError("t_list should be a sequence")
    t_list = list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(
        name, "clip_by_global_norm", [t for t in t_list if t is not None] + [clip_norm]
    ) as name:
        scale_for_finite = clip_norm * math_ops.minimum(
            1.0 / use_norm, constant(1.0, dtype=use_norm.dtype) / clip_norm
        )
        scale = array_ops.where(
            math_ops.is_finite(use_norm),
            scale_for_finite,
            constant(float("nan"), dtype=use_norm.dtype),
        )
        clipped = []
        for i, (item, value) in enumerate(zip(t_list, _values(t_list, "t"))):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                result = array_ops.identity(value * scale, name=f"{name}_{i}")
            if isinstance(item, IndexedSlices):
                result = IndexedSlices(result, item.indices, item.dense_shape)
            clipped.append(result)
        return clipped, use_norm


def clip_by_average_norm(t, clip_norm, name=None):
    """Scales a tensor down so that its norm by the number of elements is at most `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = convert_to_tensor(t, name="t")
        count = math_ops.cast(array_ops.size(t), dtypes.float32)
        total = math_ops.reduce_sum(t * t, math_ops.range(array_ops.rank(t)))
        inverse = math_ops.rsqrt(total)
        return array_ops.identity(
            t * clip_norm * math_ops.minimum(inverse * count, constant(1.0) / clip_norm),
            name=name,
        )
