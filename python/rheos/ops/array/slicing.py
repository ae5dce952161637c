"""Python's x[...] of tensors and variables, as a StridedSlice."""

import sys

import numpy as np

from rheos.framework import dtypes, from_ops, tensor_shape
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor, _VariableBase
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops


def _is_mask(key):
    if isinstance(key, (Tensor, _VariableBase)):
        return key.dtype.base_dtype == dtypes.bool
    if isinstance(key, np.ndarray):
        return key.dtype == np.bool_
    return isinstance(key, bool) or (
        isinstance(key, (list, tuple)) and bool(key) and all(isinstance(k, bool) for k in key)
    )


def _check_index(index):
    if isinstance(index, (int, np.integer, tensor_shape.Dimension)) and not isinstance(index, bool):
        return
    if isinstance(index, (Tensor, _VariableBase)):
        if index.dtype.is_integer and index.shape.ndims in (None, 0):
            return
    elif isinstance(index, np.ndarray) and index.ndim == 0 and index.dtype.kind in "iu":
        return
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {index!r}"
    )


def _bound(value):
    """A bound of a slice: (value, whether it was left out)."""
    if value is None or (not isinstance(value, (Tensor, _VariableBase)) and value == sys.maxsize):
        return 0, True
    _check_index(value)
    return tensor_shape.dimension_value(value), False


def _are_numbers(values):
    """Whether all are integers of 32 bits, which need no operation to become tensors."""
    return all(type(value) is int and -(2**31) <= value < 2**31 for value in values)


def slice_helper(tensor, key, var=None):
    """`tensor[key]`; var: the variable that `tensor` reads."""
    if _is_mask(key):
        return array_ops.boolean_mask(tensor, key)
    keys = key if isinstance(key, (list, tuple)) else [key]
    begin, end, strides = [], [], []
    masks = dict.fromkeys(
        ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
    )
    for i, part in enumerate(keys):
        bit = 1 << i
        first, last, step = 0, 0, 1
        if isinstance(part, slice):
            first, open_start = _bound(part.start)
            last, open_end = _bound(part.stop)
            masks["begin_mask"] |= bit * open_start
            masks["end_mask"] |= bit * open_end
            if part.step is not None:
                step = _bound(part.step)[0]
        elif part is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif part is None:
            masks["new_axis_mask"] |= bit
        else:
            _check_index(part)
            first = tensor_shape.dimension_value(part)
            last = first + 1
            masks["shrink_axis_mask"] |= bit
        begin.append(first)
        end.append(last)
        strides.append(step)
    if tensor._is_eager and begin and _are_numbers([*begin, *end, *strides]):
        parts = [constant(x, dtype=dtypes.int32) for x in (begin, end, strides)]
        return array_ops.strided_slice(tensor, *parts, **masks, var=var)
    with name_scope(None, "strided_slice", [tensor, *begin, *end, *strides]) as name:
        if not begin:
            parts = [constant([], dtype=dtypes.int32)] * 3
        else:
            parts = [array_ops.stack(x) for x in (begin, end, strides)]
            if any(p.dtype.base_dtype == dtypes.int64 for p in parts):
                parts = [math_ops.cast(p, dtypes.int64) for p in parts]
        return array_ops.strided_slice(tensor, *parts, **masks, var=var, name=name)


from_ops.register(slice_helper=slice_helper)
