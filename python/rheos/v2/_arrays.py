"""Functions of arrays whose arguments are others in TensorFlow 2."""

import numpy as np

from rheos.framework import conversion, dtypes
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import executing_eagerly
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, runs_op
from rheos.framework.ragged import RaggedShapeBase, ragged_shapes_too, ragged_too
from rheos.ops.array import array_ops, cast_ops, rearrange_ops
from rheos.ops.math import math_ops
from rheos.ops.ragged import ragged_shape
from rheos.ops.ragged.ragged_shape import DynamicRaggedShape
from rheos.ops.ragged.ragged_tensor import RaggedTensor


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """A Tensor of a Python value, array, variable, or list of these.

    >>> print(tf.convert_to_tensor([[1, 2], [3, 4]]).shape)
    (2, 2)
    """
    return conversion.convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)


def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of zeros.

    >>> print(tf.zeros([2, 3], tf.int32).numpy())
    [[0 0 0]
     [0 0 0]]
    """
    return array_ops.zeros(shape, dtype, name)


def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of ones.

    >>> print(tf.ones([2, 3], tf.int32).numpy())
    [[1 1 1]
     [1 1 1]]
    """
    return array_ops.ones(shape, dtype, name)


@runs_op("ZerosLike", "input")
def zeros_like(input, dtype=None, name=None, layout=None):
    """Zeros in the shape of a tensor.

    >>> print(tf.zeros_like([[1, 2], [3, 4]]).numpy())
    [[0 0]
     [0 0]]
    """
    return array_ops.zeros_like(input, dtype, name)


@runs_op("OnesLike", "input")
def ones_like(input, dtype=None, name=None, layout=None):
    """Ones in the shape of a tensor.

    >>> print(tf.ones_like([1.5, 2.5]).numpy())
    [1. 1.]
    """
    return array_ops.ones_like(input, dtype, name)


@runs_op("Fill", "dims value")
def fill(dims, value, name=None, layout=None):
    """A tensor of that shape, full of one value.

    >>> print(tf.fill([2, 2], 7).numpy())
    [[7 7]
     [7 7]]
    """
    return array_ops.fill(dims, value, name)


@runs_op("ExpandDims", "input axis")
def expand_dims(input, axis, name=None):
    """The tensor with one more dimension, of 1, at `axis`.

    >>> print(tf.expand_dims([1, 2], axis=-1).numpy())
    [[1]
     [2]]
    """
    return array_ops.expand_dims(input, axis, name)


@runs_op("Shape", "input", out_type="out_type")
def shape(input, out_type=None, name=None):
    """The shape, as a vector of int32 or int64; of a ragged tensor a DynamicRaggedShape.

    >>> print(tf.shape([[1, 2, 3], [4, 5, 6]]).numpy())
    [2 3]
    """
    if isinstance(input, RaggedTensor):
        return DynamicRaggedShape.from_tensor(input, out_type or dtypes.int32)
    return array_ops.shape(input, name, out_type or dtypes.int32)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape of two shapes broadcast together: vectors, or DynamicRaggedShapes."""
    if isinstance(shape_x, DynamicRaggedShape) or isinstance(shape_y, DynamicRaggedShape):
        return ragged_shape.broadcast_dynamic_shape(shape_x, shape_y)
    return rearrange_ops.broadcast_dynamic_shape(shape_x, shape_y)


@runs_op("Size", "input", out_type="out_type")
def size(input, out_type=None, name=None):
    """The number of elements of a tensor.

    >>> print(tf.size([[1, 2], [3, 4]]).numpy())
    4
    """
    return array_ops.size(input, name, out_type or dtypes.int32)


@runs_op("Transpose", "a perm=reversed")
def transpose(a, perm=None, conjugate=False, name="transpose"):
    """The tensor with its dimensions in another order, by default the reverse one.

    >>> print(tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy())
    [[1 4]
     [2 5]
     [3 6]]
    """
    return array_ops.transpose(a, perm, name, conjugate)


@runs_op("Pad", "tensor paddings")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """The tensor with more around it.

    >>> print(tf.pad([[1, 2]], [[0, 1], [2, 0]]).numpy())
    [[0 0 1 2]
     [0 0 0 0]]
    """
    return array_ops.pad(tensor, paddings, mode, name, constant_values)


@runs_op("GatherV2", "params indices axis=0", no_variables=True)
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """The slices of `params` at `indices`.

    >>> print(tf.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).numpy())
    [[5 6]
     [1 2]]
    """
    return array_ops.gather(params, indices, validate_indices, name, axis, batch_dims)


@runs_op("GatherNd", "params indices", no_variables=True)
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """The slices of `params` at `indices`, whose last dimension counts dimensions.

    >>> print(tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy())
    [2 3]
    """
    return array_ops.gather_nd(params, indices, name, batch_dims)


def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """The elements where `mask` is true.

    >>> print(tf.boolean_mask([[1, 2], [3, 4]], [False, True]).numpy())
    [[3 4]]
    """
    return array_ops.boolean_mask(tensor, mask, name, axis)


@runs_op("Reshape", "tensor shape", (1, 254))
@ragged_shapes_too("reshape_of")
def reshape(tensor, shape, name=None):
    """The same elements under another shape; one dimension may be -1.

    Where operations run at once, a number is the shape of a vector.

    >>> print(tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]).numpy())
    [[1 2 3]
     [4 5 6]]
    """
    if executing_eagerly() and not isinstance(shape, RaggedShapeBase) and np.ndim(shape) == 0:
        shape = [shape]
    return op1("Reshape", name, tensor, shape)


def linspace(start, stop, num, name=None, axis=0):
    """`num` values from `start` to `stop`, both included, equally far apart along a new `axis`.

    Of whole numbers they are float32 or, where these have 32 bits or more, float64.

    >>> print(tf.linspace(0.0, 1.0, 5).numpy())
    [0.   0.25 0.5  0.75 1.  ]
    """
    with name_scope(name, "linspace", [start, stop]):
        start = _as_floating(conversion.convert_to_tensor(start, name="start"))
        stop = conversion.convert_to_tensor(stop, name="stop")
        stop = cast_ops.cast(stop, start.dtype)
        num = conversion.convert_to_tensor(num, dtypes.int32, name="num")
        shape = rearrange_ops.broadcast_dynamic_shape(array_ops.shape(start), array_ops.shape(stop))
        start, stop = (
            array_ops.expand_dims(array_ops.broadcast_to(end, shape), axis) for end in (start, stop)
        )
        rank = start.shape.ndims
        steps = math_ops.maximum(num - 1, 1)
        delta = (stop - start) / cast_ops.cast(steps, start.dtype)
        inner = cast_ops.cast(cast_ops.range(1, steps), start.dtype)
        wide = [1] * rank
        wide[axis] = -1
        inner = start + delta * array_ops.reshape(inner, wide)
        every = array_ops.concat([start, inner, stop], axis)
        sizes = [-1] * rank
        sizes[axis] = num
        return array_ops.slice(every, [0] * rank, array_ops.stack(sizes))


def _as_floating(tensor):
    wide = math_ops.DIVISION.get(tensor.dtype.base_dtype.name)
    return tensor if wide is None else cast_ops.cast(tensor, wide)


def device(device_name):
    """A context in which operations ask for a device."""
    return get_default_graph().device(device_name)


newaxis = None


@runs_op("SelectV2", "condition x y")
@ragged_too("broadcast_where_of")
def where(condition, x=None, y=None, name=None):
    """Elements of x where the condition holds, of y elsewhere, broadcast; else its indices.

    >>> print(tf.where([True, False, True], [1, 2, 3], -1).numpy())
    [ 1 -1  3]
    >>> print(tf.where([True, False, True]).numpy())
    [[0]
     [2]]
    """
    if x is None and y is None:
        return array_ops.where(condition, name=name)
    return op1("SelectV2", name, convert_bool(condition), x, y)


def convert_bool(condition):
    """The condition as a tensor of booleans."""
    return conversion.convert_to_tensor(condition, dtypes.bool)


def scatter_nd(indices, updates, shape, name=None):
    """A tensor of zeros with the updates at the indices, added up.

    >>> print(tf.scatter_nd([[1], [3]], [9, 8], shape=[5]).numpy())
    [0 9 0 8 0]
    """
    return op1("ScatterNd", name, indices, updates, shape)
