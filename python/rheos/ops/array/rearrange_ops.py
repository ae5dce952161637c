"""Moving elements about: space and depth, sorting, rolling, sequences, scattering."""

import numpy as np

from rheos.framework import dtypes, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.marks import TensorLike
from rheos.framework.op_call import op1, op_list, op_results
from rheos.framework.operation import _VariableBase
from rheos.framework.ragged import RaggedBase, operators_too, ragged_too
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import array_ops
from rheos.ops.array.array_ops import _is_plain
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops

# ---- Space, batch and depth


def space_to_batch_nd(input, block_shape, paddings, name=None):
    """Moves blocks of the spatial dimensions into the batch.

    input: (batch, spatial..., rest...). block_shape: (m,). paddings: (m, 2), zeros put around
    first. Returns (batch * prod(block_shape), padded / block_shape..., rest...).
    InvalidArgumentError where a padded dimension is no multiple of its block.
    """
    return op1("SpaceToBatchND", name, input, block_shape, paddings)


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """space_to_batch_nd over height and width with square blocks of `block_size`."""
    block_size = block_shape if block_size is None else block_size
    result = space_to_batch_nd(
        input,
        paddings=paddings,
        block_shape=np.array([block_size, block_size], np.int64),
        name=name,
    )
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space_nd(input, block_shape, crops, name=None):
    """The inverse of space_to_batch_nd; `crops` (m, 2) is cut off at the end.

    InvalidArgumentError where the batch is no multiple of prod(block_shape).
    """
    return op1("BatchToSpaceND", name, input, block_shape, crops)


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """batch_to_space_nd over height and width with square blocks of `block_size`."""
    block_size = block_shape if block_size is None else block_size
    result = batch_to_space_nd(
        input, crops=crops, block_shape=np.array([block_size, block_size], np.int64), name=name
    )
    result.set_shape(result.shape.with_rank(4))
    return result


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Moves square blocks of height and width into the channels.

    input: (batch, height, width, channels), or what data_format says. Returns (batch,
    height / block_size, width / block_size, channels * block_size ** 2).
    """
    return op1("SpaceToDepth", name, input, block_size=block_size, data_format=data_format)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """The inverse of space_to_depth: channels become square blocks of height and width."""
    return op1("DepthToSpace", name, input, block_size=block_size, data_format=data_format)


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings, crops), both (m, 2), that make dimensions multiples of their blocks.

    input_shape, block_shape: (m,). base_paddings: (m, 2), what is wanted at least. ValueError if
    the number of blocks is not known.
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        block_shape.shape.assert_is_fully_defined()
        block_shape.shape.assert_has_rank(1)
        count = block_shape.shape.size_at(0)
        if count == 0:
            return constant(0, dtypes.int32, [0, 2]), constant(0, dtypes.int32, [0, 2])
        input_shape.shape.assert_is_compatible_with([count])
        if base_paddings is not None:
            base_paddings = convert_to_tensor(
                base_paddings, dtype=dtypes.int32, name="base_paddings"
            )
            base_paddings.shape.assert_is_compatible_with([count, 2])
        else:
            base_paddings = array_ops.zeros([count, 2], dtypes.int32)
        sizes = constant_value(input_shape)
        blocks = constant_value(block_shape)
        before = constant_value(base_paddings)
        if sizes is not None and blocks is not None and before is not None:
            start, least_end = before[:, 0], before[:, 1]
            more = (blocks - (sizes + start + least_end) % blocks) % blocks
            paddings = np.stack([start, least_end + more], axis=1)
            crops = np.stack([np.zeros_like(more), more], axis=1)
            return (
                constant(paddings, dtypes.int32, name="paddings"),
                constant(crops, dtypes.int32, name="crops"),
            )
        start, least_end = base_paddings[:, 0], base_paddings[:, 1]
        full = input_shape + start + least_end
        more = (block_shape - full % block_shape) % block_shape
        end = least_end + more
        paddings = array_ops.stack([[start[i], end[i]] for i in range(count)], name="paddings")
        crops = array_ops.stack([[0, more[i]] for i in range(count)], name="crops")
        return paddings, crops


def extract_image_patches(
    images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None
):
    """Windows of images put into the channels.

    images: (batch, height, width, channels). ksizes, strides, rates: [1, rows, columns, 1].
    padding: "SAME" or "VALID". Returns (batch, out rows, out columns, rows * columns * channels).
    """
    ksizes = sizes if ksizes is None else ksizes
    return op1(
        "ExtractImagePatches",
        name,
        images,
        ksizes=ksizes,
        strides=strides,
        rates=rates,
        padding=padding,
    )


def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """Windows of volumes (batch, planes, rows, columns, channels) put into the channels."""
    return op1("ExtractVolumePatches", name, input, ksizes=ksizes, strides=strides, padding=padding)


# ---- Sequences


def reverse_sequence(
    input,
    seq_lengths,
    seq_axis=None,
    batch_axis=None,
    name=None,
    seq_dim=None,
    batch_dim=None,
):
    """Reverses the first seq_lengths[i] elements along `seq_axis` in slice i of `batch_axis`.

    seq_lengths: (input.shape[batch_axis],), none above input.shape[seq_axis].
    """
    seq_axis = seq_dim if seq_axis is None else seq_axis
    batch_axis = batch_dim if batch_axis is None else batch_axis
    return op1(
        "ReverseSequence",
        name,
        input,
        seq_lengths,
        seq_dim=seq_axis,
        batch_dim=0 if batch_axis is None else batch_axis,
    )


def roll(input, shift, axis, name=None):
    """Moves elements by `shift` places along `axis`; what leaves at the end comes in at the start.

    shift, axis: a number, or vectors of one length.
    """
    return op1("Roll", name, input, shift, axis)


def repeat(input, repeats, axis=None, name=None):
    """Repeats each element along `axis` (None: of the flattened tensor).

    repeats: a number for all, or a vector of one for each.

    >>> print(tf.repeat([1, 2], [3, 1]).numpy())
    [1 1 1 2]
    """
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="input")
        if axis is None:
            data, axis = array_ops.reshape(data, [-1]), 0
        times = math_ops.cast(convert_to_tensor(repeats, name="repeats"), dtypes.int32)
        times.shape.with_rank_at_most(1)
        rank = data.shape.ndims
        if rank == 0:
            data, rank = array_ops.reshape(data, [1]), 1
        if rank is None and axis < 0:
            raise ValueError("repeat: an axis below 0 takes an input whose rank is known")
        axis = axis + rank if axis < 0 else axis
        if rank is None:
            # A scalar, if it is one, becomes a vector.
            is_scalar = math_ops.cast(math_ops.equal(array_ops.rank(data), 0), dtypes.int32)
            ones = array_ops.ones(array_ops.stack([is_scalar]), dtypes.int32)
            data = array_ops.reshape(data, array_ops.concat([ones, array_ops.shape(data)], 0))
            times = array_ops.reshape(times, [-1])
            times = array_ops.broadcast_to(times, array_ops.shape(data)[axis : axis + 1])
            times.set_shape([None])
        elif times.shape.ndims == 0 or times.shape.as_list() == [1]:
            times = array_ops.reshape(times, [])
            wide = array_ops.expand_dims(data, axis + 1)
            multiples = array_ops.concat(
                [[1] * (axis + 1), array_ops.reshape(times, [1]), [1] * (rank - axis - 1)], 0
            )
            shape = array_ops.shape(data)
            new = array_ops.concat([shape[:axis], [-1], shape[axis + 1 :]], 0)
            return array_ops.reshape(array_ops.tile(wide, multiples), new)
        count = array_ops.shape(data)[axis]
        longest = math_ops.reduce_max(array_ops.concat([times, [0]], 0))
        mask = sequence_mask(times, longest)
        places = array_ops.expand_dims(math_ops.range(count), 1) * array_ops.ones_like(
            math_ops.cast(mask, dtypes.int32)
        )
        return array_ops.gather(data, array_ops.boolean_mask(places, mask), axis=axis)


# ---- Order


def _sorted(values, axis, direction, want_indices):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Unknown direction {direction!r}")
    axis_known = axis if isinstance(axis, int) else constant_value(axis)
    if axis_known is None:
        raise ValueError("axis must be a constant scalar")
    axis = int(axis_known)
    values = convert_to_tensor(values, name="values")
    rank = values.shape.ndims
    at_end = axis == -1 or (rank is not None and axis + 1 == rank)
    order = None
    top = values
    if not at_end:
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"sort: axis {axis} is out of bounds for {rank} dimensions")
        if rank is None:
            raise ValueError("sort: the number of dimensions has to be known for this axis")
        place = axis + rank if axis < 0 else axis
        order = list(range(rank))
        order[place], order[-1] = order[-1], order[place]
        top = array_ops.transpose(values, order)
    ascending = direction == "ASCENDING"
    dtype = top.dtype
    if ascending:
        # Of unsigned integers no negative exists, and of the lowest signed one neither.
        if dtype.is_integer:
            top = constant(dtype.max, dtype) - top if dtype.is_unsigned else -1 - top
        else:
            top = -top
    count = array_ops.shape(values)[axis]
    found, indices = op_list("TopKV2", None, top, count, sorted=True)
    if want_indices:
        result = indices
    else:
        result = found
        if ascending:
            if dtype.is_integer:
                result = constant(dtype.max, dtype) - found if dtype.is_unsigned else -1 - found
            else:
                result = -found
    return result if order is None else array_ops.transpose(result, order)


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements sorted along `axis`; direction: "ASCENDING" or "DESCENDING", else ValueError.

    >>> print(tf.sort([3, 1, 2], direction="DESCENDING").numpy())
    [3 2 1]
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, False)


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The int32 indices that sort `values` along `axis`; equal elements keep their order.

    >>> print(tf.argsort([30, 10, 20]).numpy())
    [1 2 0]
    """
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, True)


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where each value would be inserted into its sorted row.

    sorted_sequence: (..., n), ascending. values: (..., m). side: before ("left") or after
    ("right") equal elements. Returns (..., m) of `out_type`.

    >>> print(tf.searchsorted([1, 3, 5], [0, 3, 9]).numpy())
    [0 1 3]
    """
    length = array_ops.shape(sorted_sequence)[-1]
    count = array_ops.shape(values)[-1]
    sequence = array_ops.reshape(sorted_sequence, [-1, length])
    rows = array_ops.reshape(values, [-1, count])
    if side not in ("left", "right"):
        raise ValueError("side must be either 'right' or 'left'.  Saw: %s." % side)
    kind = "UpperBound" if side == "right" else "LowerBound"
    found = op1(kind, name, sequence, rows, out_type=out_type)
    return array_ops.reshape(found, array_ops.shape(values))


def unravel_index(indices, dims, name=None):
    """The coordinates of flat indices in a tensor of shape `dims`.

    indices: a number or (n,). dims: (rank,). Returns (rank, n). InvalidArgumentError if an index is
    out of range.
    """
    return op1("UnravelIndex", name, indices, dims)


def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """(y, idx, count): the different elements of a vector, for each element its place among
    these, and how often each is there."""
    return op_results("UniqueWithCounts", name, x, out_idx=out_idx)


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """(out, idx): the elements of the vector x that are not in y, and their places in x."""
    return op_results("ListDiff", name, x, y, out_idx=index_dtype)


# ---- Picking and replacing


@ragged_too("batch_gather_of")
def batch_gather(params, indices, name=None):
    """gather along the last dimension of `indices`, with all dimensions before it as batch."""
    with name_scope(name, "BatchGather", [params, indices]):
        params = convert_to_tensor(params, name="params")
        indices = convert_to_tensor(indices, name="indices")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        before = indices.shape.ndims - 1
        return array_ops.gather(params, indices, axis=before, batch_dims=before)


def tensor_scatter_update(tensor, indices, updates, name=None):
    """The tensor with the slices at `indices` replaced by `updates`.

    indices: (..., k), coordinates in the first k dimensions. updates: indices.shape[:-1] +
    tensor.shape[k:]. InvalidArgumentError if an index is out of range.

    >>> print(tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [20]).numpy())
    [ 1 20  3]
    """
    return op1("TensorScatterUpdate", name, tensor, indices, updates)


def tensor_block_update(tensor, starts, updates, name=None):
    """The tensor with the block that begins at `starts` replaced by `updates`, of the same rank.

    starts: a vector, one for each dimension; moved as far as the block needs to fit.
    """
    with name_scope(name, "tensor_block_update", [tensor, starts, updates]):
        size = array_ops.shape(updates)
        most = array_ops.shape(tensor) - size
        if isinstance(starts, (list, tuple)):
            starts = [math_ops.cast(start, dtypes.int32) for start in starts]
        starts = math_ops.cast(convert_to_tensor(starts), dtypes.int32)
        starts = math_ops.maximum(math_ops.minimum(starts, most), 0)
        around = array_ops.stack([starts, most - starts], axis=1)
        inside = array_ops.pad(array_ops.ones_like(updates, dtypes.bool), around)
        made = where_v2(inside, array_ops.pad(updates, around), tensor)
        made.set_shape(tensor.shape)
        return made


def tensor_scatter_max(tensor, indices, updates, name=None):
    """The tensor with the larger of its elements and `updates`; see tensor_scatter_update."""
    return op1("TensorScatterMax", name, tensor, indices, updates)


def tensor_scatter_min(tensor, indices, updates, name=None):
    """The tensor with the smaller of its elements and `updates`; see tensor_scatter_update."""
    return op1("TensorScatterMin", name, tensor, indices, updates)


def tensor_scatter_add(tensor, indices, updates, name=None):
    """The tensor with `updates` added at `indices`; see tensor_scatter_update."""
    return op1("TensorScatterAdd", name, tensor, indices, updates)


def tensor_scatter_sub(tensor, indices, updates, name=None):
    """The tensor with `updates` subtracted at `indices`; see tensor_scatter_update."""
    return op1("TensorScatterSub", name, tensor, indices, updates)


@ragged_too("broadcast_where_of")
def where_v2(condition, x=None, y=None, name=None):
    """Like where(); the shapes of the condition, x and y broadcast."""
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as name:
            return op1("Where", name, convert_to_tensor(condition, dtypes.bool, "condition"))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return op1("SelectV2", name, condition, x, y)


def diag_part(input, name=None):
    """The diagonal of a tensor of shape [D1, ..., Dk, D1, ..., Dk], of shape [D1, ..., Dk]."""
    return op1("DiagPart", name, input)


@operators_too("diag_part_of")
def matrix_diag_part(input, name="diag_part", k=0, padding_value=0):
    """The diagonals of matrices: input (..., n, m), returns (..., min(n, m)).

    k: which diagonal, above (positive) or below the main one, or a pair for a band of them.
    padding_value: for the ends of shorter ones.
    """
    if _is_plain(k, 0) and _is_plain(padding_value, 0):
        return op1("MatrixDiagPart", name, input)
    input = convert_to_tensor(input, name="input")
    padding_value = math_ops.cast(padding_value, input.dtype.base_dtype)
    return op1("MatrixDiagPartV2", name, input, k, padding_value)


def matrix_set_diag(input, diagonal, name="set_diag", k=0):
    """Matrices (..., n, m) with their diagonals replaced by `diagonal` (..., min(n, m)).

    k: which diagonal, above (positive) or below the main one, or a pair for a band of them.
    """
    if _is_plain(k, 0):
        return op1("MatrixSetDiag", name, input, diagonal)
    return op1("MatrixSetDiagV2", name, input, diagonal, k)


def identity_n(input, name=None):
    """A list of tensors with the same values."""
    return op_list("IdentityN", name, list(input))


@ragged_too("elementwise")
def bitcast(input, type, name=None):
    """The same bytes as another dtype.

    To a smaller dtype a dimension is added at the end, to a larger one the last is taken away;
    ValueError if it has not the right size.
    """
    return op1("Bitcast", name, input, type=dtypes.as_dtype(type))


def guarantee_const(input, name=None):
    """A tensor with the same value, which the user says will never change."""
    return op1("GuaranteeConst", name, input)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape, a vector, of two shapes broadcast together when the graph runs."""
    return op1("BroadcastArgs", None, shape_x, shape_y)


def reverse_v2(tensor, axis, name=None):
    """Another name of reverse."""
    return array_ops.reverse(tensor, axis, name)


def get_static_value(tensor, partial=False):
    """The value of a tensor as an array if the graph tells it, else None."""
    return constant_value(tensor, partial)


def is_tensor(x):
    """Whether x is a tensor, variable or other thing that operations take as one."""
    return isinstance(x, _TENSORS) or hasattr(x, "_as_graph_element")


_TENSORS = (TensorLike, IndexedSlices, SparseTensor, RaggedBase, _VariableBase)


def dimension_at_index(shape, index):
    """The Dimension at `index` of a TensorShape, whose rank may be unknown."""
    return tensor_shape.as_shape(shape).dimension_at(index)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Swaps the last two dimensions."""
    with name_scope(name, None, [a]) as name:
        a = convert_to_tensor(a, name="a")
        ndims = a._rank()
        if ndims is None:
            count = array_ops.rank(a)
            perm = array_ops.concat((math_ops.range(count - 2), [count - 1, count - 2]), 0)
        elif ndims < 2:
            raise ValueError(
                f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.shape}"
            )
        else:
            perm = [*range(ndims - 2), ndims - 1, ndims - 2]
        return array_ops.transpose(a, perm, conjugate=conjugate)


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """The identity matrix: (num_rows, num_columns), or batch_shape of them.

    >>> print(tf.eye(2).numpy())
    [[1. 0.]
     [0. 1.]]
    """
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        square = num_columns is None
        batch = [] if batch_shape is None else batch_shape
        columns = num_rows if square else num_columns
        known = not any(hasattr(x, "_as_graph_element") for x in (num_rows, columns, batch))
        if known:
            batch = list(batch)
            diagonal_shape = [*batch, min(num_rows, columns)]
            shape = [*batch, num_rows, columns]
        else:
            count = math_ops.minimum(num_rows, columns)
            batch = convert_to_tensor(batch, name="shape", dtype=dtypes.int32)
            diagonal_shape = array_ops.concat((batch, [count]), axis=0)
            if not square:
                shape = array_ops.concat((batch, [num_rows, columns]), axis=0)
        diagonal = array_ops.ones(diagonal_shape, dtype=dtype)
        if square:
            return array_ops.matrix_diag(diagonal)
        return op1("MatrixSetDiag", "set_diag", array_ops.zeros(shape, dtype=dtype), diagonal)


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """Rows that hold True in their first `lengths` places.

    >>> print(tf.sequence_mask([1, 3], maxlen=3).numpy())
    [[ True False False]
     [ True  True  True]]
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = math_ops.reduce_max(lengths)
            maxlen = math_ops.maximum(constant(0, maxlen.dtype), maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
            if maxlen.shape.ndims not in (None, 0):
                raise ValueError("maxlen must be scalar for sequence_mask")
        start, delta = constant(0, maxlen.dtype), constant(1, maxlen.dtype)
        row = op1("Range", None, start, maxlen, delta)
        matrix = op1("Cast", None, array_ops.expand_dims(lengths, -1), DstT=maxlen.dtype)
        result = row < matrix
        if result.dtype.is_compatible_with(dtypes.as_dtype(dtype)):
            return result
        return math_ops.cast(result, dtype)
