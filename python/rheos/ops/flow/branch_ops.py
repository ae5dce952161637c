"""Switch and Merge: values that go one of two ways, and what comes by the way that was taken."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert, convert_to_tensor
from rheos.framework.graph import colocate_with, name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op_results
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.math import math_ops


def _switch_parts(data, pred, name):
    """Each tensor of a sparse tensor or of slices, switched; which of them it was made of."""
    with name_scope(name, "Switch", [data, pred]):
        if isinstance(data, SparseTensor):
            parts = [data.indices, data.values, data.dense_shape]
            made = [switch(part, pred) for part in parts]
            return tuple(SparseTensor(*(pair[side] for pair in made)) for side in (0, 1))
        parts = [data.values, data.indices]
        if data.dense_shape is not None:
            parts.append(data.dense_shape)
        made = [switch(part, pred) for part in parts]
        return tuple(IndexedSlices(*(pair[side] for pair in made)) for side in (0, 1))


def switch(data, pred, dtype=None, name=None):
    """(output_false, output_true): the data comes out at the second for a true `pred`.

    What depends on the other output does not run. `data` may be sparse, or slices.
    """
    if isinstance(data, (SparseTensor, IndexedSlices)):
        return _switch_parts(data, pred, name)
    data = convert_to_tensor(data, dtype, name="data")
    pred = convert_to_tensor(pred, dtypes.bool, name="pred")
    return op_results("Switch", name, data, pred)


def ref_switch(data, pred, name=None):
    """switch() of a reference to a variable, of which both outputs are references."""
    return op_results("RefSwitch", name, data, pred)


def ref_switch_or_switch(data, pred):
    """switch(), on the device of the data, or ref_switch() of a reference."""
    data = convert(data, None, None, "data", None, True)
    with colocate_with(data, ignore_existing=True):
        return (ref_switch if data.dtype._is_ref_dtype else switch)(data, pred)


def _merge_parts(inputs, name):
    """What sparse tensors or slices are made of, merged one by one."""
    with name_scope(name, "Merge", inputs):
        if all(isinstance(value, SparseTensor) for value in inputs):
            fields, kind = ("indices", "values", "dense_shape"), SparseTensor
        elif all(isinstance(value, IndexedSlices) for value in inputs):
            fields, kind = ("values", "indices", "dense_shape"), IndexedSlices
            inputs = _with_like_indices(inputs)
            shapes = [value.dense_shape for value in inputs]
            if all(shape is None for shape in shapes):
                fields = fields[:2]
            elif any(shape is None for shape in shapes):
                raise ValueError(
                    "Either all merged IndexedSlices must have a dense_shape, or none must have "
                    f"one: {shapes}"
                )
        else:
            raise TypeError(f"Type {type(inputs[0])} not supported")
        merged = [merge([getattr(value, field) for value in inputs]) for field in fields]
        return kind(*(result.output for result in merged)), merged[0].value_index


def _with_like_indices(inputs):
    """Slices whose indices are all int64, if those of one are."""
    if not any(value.indices.dtype == dtypes.int64 for value in inputs):
        return inputs
    return [
        IndexedSlices(value.values, math_ops.cast(value.indices, dtypes.int64), value.dense_shape)
        for value in inputs
    ]


def merge(inputs, name=None):
    """(output, value_index): the one of the inputs that is there, and which it is.

    ValueError if one of them is None.
    """
    inputs = list(inputs)
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    if any(isinstance(value, (SparseTensor, IndexedSlices)) for value in inputs):
        return _merge_parts(inputs, name)
    tensors = [convert(value, None, None, "data", None, True) for value in inputs]
    if all(tensor.dtype._is_ref_dtype for tensor in tensors):
        return ref_merge(tensors, name)
    return op_results("Merge", name, [convert_to_tensor(tensor) for tensor in tensors])


def ref_merge(inputs, name=None):
    """merge() of references to variables, whose output is one."""
    return op_results("RefMerge", name, inputs)
