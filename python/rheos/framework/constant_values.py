"""What can be known of a tensor's value while the graph is built."""

import numpy as np

from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape


def constant_value(tensor, partial=False):
    """The value of a tensor if the graph tells it, as an array; else None.

    partial: of tensors that are stacked, those that are known; the others are None.
    As in TensorFlow an Identity hides the value, so that what is known does not change with this.
    """
    if not isinstance(tensor, Tensor):
        return None if hasattr(tensor, "_as_graph_element") else tensor
    if tensor._is_eager:
        return np.asarray(tensor._constant_value())
    op = tensor.op
    kind = op.type
    if kind == "Const":
        return np.asarray(tensor._constant_value())
    if kind == "Shape":
        shape = op.inputs[0].shape
        if shape.is_fully_defined():
            return np.array(shape.as_list(), dtype=tensor.dtype.as_numpy_dtype)
    elif kind == "Size":
        count = op.inputs[0].shape.num_elements()
        return None if count is None else np.int32(count)
    elif kind == "Rank":
        rank = op.inputs[0].shape.ndims
        return None if rank is None else np.int32(rank)
    elif kind == "Range":
        values = [constant_value(x) for x in op.inputs]
        if not any(v is None for v in values):
            return np.arange(*values, dtype=tensor.dtype.as_numpy_dtype)
    elif kind == "Cast":
        value = constant_value(op.inputs[0])
        return None if value is None else np.asarray(value).astype(tensor.dtype.as_numpy_dtype)
    elif kind == "Pack":
        if not op.inputs or op.get_attr("axis") != 0:
            return None
        values = [constant_value(x, partial) for x in op.inputs]
        if any(v is None or v.dtype == object for v in values):
            if not partial:
                return None
            found = np.empty(len(values), dtype=object)
            for i, value in enumerate(values):
                found[i] = value
            return found
        return np.stack(values)
    elif kind == "ConcatV2":
        values = [constant_value(x) for x in op.inputs]
        if any(v is None for v in values):
            return None
        return np.concatenate(values[:-1], axis=int(values[-1]))
    elif kind == "Fill":
        value = constant_value(op.inputs[1])
        if value is not None and tensor.shape.is_fully_defined():
            return np.full(tensor.shape.as_list(), value, dtype=value.dtype)
    elif kind in ("Equal", "NotEqual"):
        values = [constant_value(x) for x in op.inputs]
        if not any(v is None for v in values):
            return np.equal(*values) if kind == "Equal" else np.not_equal(*values)
    return None


def _joined_shapes(tensors):
    """The shapes that tensors hold, one behind the other."""
    result = TensorShape([])
    for tensor in tensors:
        result = result.concatenate(constant_value_as_shape(tensor))
    return result


def _sliced_shape(op):
    """The part of a shape that a StridedSlice of a vector takes; None where that is not known."""
    begin, end, strides = (constant_value(x) for x in op.inputs[1:])
    masks = [op.get_attr(f"{m}_mask") for m in ("ellipsis", "new_axis", "shrink_axis")]
    if begin is None or end is None or strides is None or any(masks) or len(begin) != 1:
        return None
    begin = None if op.get_attr("begin_mask") & 1 else int(begin[0])
    end = None if op.get_attr("end_mask") & 1 else int(end[0])
    dims = constant_value_as_shape(op.inputs[0])
    return TensorShape(dims.as_list()[begin : end : int(strides[0])]) if dims.ndims else None


def constant_value_as_shape(tensor):
    """A TensorShape of a tensor that holds dimensions, with those that the graph tells."""
    is_node = isinstance(tensor, Tensor) and not tensor._is_eager and tensor.shape.ndims == 1
    op = tensor.op if is_node else None
    kind = op.type if op is not None else None
    if kind == "Shape":
        return op.inputs[0].shape
    if kind == "Pack" and op.inputs:
        sizes = [constant_value(x) for x in op.inputs]
        return TensorShape([None if s is None or s < 0 else int(s) for s in sizes])
    if kind == "ConcatV2" and constant_value(op.inputs[-1]) == 0:
        return _joined_shapes(op.inputs[:-1])
    if kind == "StridedSlice":
        part = _sliced_shape(op)
        if part is not None:
            return part
    value = constant_value(tensor)
    if value is None:
        rank = tensor.shape
        return TensorShape(
            None if rank.ndims is None or rank.size_at(0) is None else [None] * rank.size_at(0)
        )
    return TensorShape([None if d < 0 else int(d) for d in value])
