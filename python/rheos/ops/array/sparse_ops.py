"""Functions on sparse tensors.

`sp_input` and the like are SparseTensors or SparseTensorValues (TypeError for others), with indices
(n, rank), values (n,) and a dense shape (rank,). Results are sparse unless they say otherwise.
"""

import math

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op1, op_list
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.sparse_tensor import SparseTensor, is_sparse
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import check_ops, math_ops


def _sparse(value):
    if not is_sparse(value):
        raise TypeError("Input must be a SparseTensor.")
    return SparseTensor.from_value(value)


def _parts(sp):
    return sp.indices, sp.values, sp.dense_shape


def _either(new, old, new_name, old_name):
    if old is not None and new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old if new is None else new


def sparse_placeholder(dtype, shape=None, name=None):
    """A sparse tensor that is fed: with a SparseTensorValue or (indices, values, dense_shape)."""
    label = name + "/" if name is not None else ""
    rank = None
    if shape is None:
        dense_shape = array_ops.placeholder(
            dtypes.int64, shape=[None], name=name and label + "shape"
        )
    else:
        known = TensorShape(shape) if not hasattr(shape, "op") else None
        if known is None:
            rank, dense_shape = shape.shape.size_at(0), shape
        else:
            rank = known.ndims
            dims = known.as_list() if rank is not None else [None]
            if None in dims:
                dense_shape = array_ops.placeholder(
                    dtypes.int64, shape=[rank], name=name and label + "shape"
                )
            else:
                dense_shape = convert_to_tensor(
                    dims, dtype=dtypes.int64, name=name and label + "shape"
                )
    values = array_ops.placeholder(dtype, shape=[None], name=name and label + "values")
    indices = array_ops.placeholder(
        dtypes.int64, shape=[None, rank], name=name and label + "indices"
    )
    return SparseTensor(indices=indices, values=values, dense_shape=dense_shape)


def sparse_to_dense(
    sparse_indices,
    output_shape,
    sparse_values,
    default_value=0,
    validate_indices=True,
    name=None,
):
    """A dense tensor of `output_shape`: `sparse_values` at `sparse_indices`, else `default_value`.

    InvalidArgumentError for an index out of the shape, or if `validate_indices` and they do not
    ascend.
    """
    return op1(
        "SparseToDense",
        name,
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
    )


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor with `default_value` (0, or "" for strings) where there is no value.

    >>> print(tf.sparse.to_dense(tf.sparse.from_dense([0, 7])).numpy())
    [0 7]
    """
    sp_input = _sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], dtype=sp_input.dtype)
    dense = sparse_to_dense(
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value=default_value,
        validate_indices=validate_indices,
        name=name,
    )
    dense.set_shape(sp_input.shape)
    return dense


def from_dense(tensor, name=None):
    """The elements of a dense tensor that are not 0 (not "" for strings).

    >>> print(tf.sparse.from_dense([[0, 7], [8, 0]]).indices.numpy())
    [[0 1]
     [1 0]]
    """
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = constant("" if tensor.dtype == dtypes.string else 0, tensor.dtype)
        indices = array_ops.where(math_ops.not_equal(tensor, zero))
        values = array_ops.gather_nd(tensor, indices)
        return SparseTensor(indices, values, array_ops.shape(tensor, out_type=dtypes.int64))


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The dense product of matrices (m, k) and (k, n), one of them sparse and one dense.

    A dense complex one times a sparse one is the conjugate of the product, as in TensorFlow.
    """
    if is_sparse(b) and not is_sparse(sp_a):
        with name_scope(name, "SparseTensorDenseMatMul", [sp_a, *_parts(_sparse(b))]):
            product = sparse_tensor_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
            return array_ops.transpose(product)
    sp_a = _sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [*_parts(sp_a), b]):
        b = convert_to_tensor(b, name="b")
        return op1(
            "SparseTensorDenseMatMul",
            None,
            *_parts(sp_a),
            b,
            adjoint_a=adjoint_a,
            adjoint_b=adjoint_b,
        )


def sparse_add(a, b, threshold=None, thresh=None):
    """The sum of two tensors of one shape, at least one of them sparse.

    Of two sparse ones a sparse tensor, where both have a value only if the sum is not below
    `threshold` in magnitude; else a dense tensor.
    """
    threshold = _either(threshold, thresh, "threshold", "thresh")
    if not is_sparse(a) and not is_sparse(b):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if is_sparse(a) and is_sparse(b):
        a, b = _sparse(a), _sparse(b)
        real = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
        dtype = real.get(a.values.dtype, a.values.dtype)
        limit = convert_to_tensor(
            0 if threshold is None else threshold, dtype=dtype, name="threshold"
        )
        result = SparseTensor(*op_list("SparseAdd", None, *_parts(a), *_parts(b), limit))
        return result._with_shape(a.shape) if a.shape.is_fully_defined() else result
    if is_sparse(b):
        a, b = b, a
    return op1("SparseTensorDenseAdd", None, *_parts(_sparse(a)), b)


def sparse_reorder(sp_input, name=None):
    """The same values in the order in which a dense tensor has them."""
    sp_input = _sparse(sp_input)
    indices, values = op_list("SparseReorder", name, *_parts(sp_input))
    known = sp_input.get_shape()
    if known.is_fully_defined():
        return SparseTensor(indices, values, known.as_list())
    return SparseTensor(indices, values, array_ops.identity(sp_input.dense_shape))


def _reshaped(sizes, shape):
    """The sizes under which `shape`, both lists, has as many elements; None if that is not known.

    ValueError if it cannot have as many.
    """
    if sum(size == -1 for size in shape) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {shape}")
    count, rest = math.prod(sizes), math.prod(size for size in shape if size != -1)
    if any(size < -1 for size in shape) or (rest == 0 and -1 in shape):
        return None
    found = [count // rest if size == -1 else size for size in shape]
    if math.prod(found) != count:
        raise ValueError(
            f"Cannot reshape a tensor with {count} elements to shape {shape} "
            f"({math.prod(found)} elements)."
        )
    return found


def sparse_reshape(sp_input, shape, name=None):
    """The same values under another shape of as many elements; one dimension may be -1.

    ValueError if the shapes are known already and do not go together.
    """
    sp_input = _sparse(sp_input)
    shape = math_ops.cast(shape, dtype=dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input.values]) as name:
        indices, dense_shape = op_list(
            "SparseReshape", name, sp_input.indices, sp_input.dense_shape, shape
        )
        wanted, known = constant_value(shape), sp_input.shape
        if wanted is not None and known.is_fully_defined():
            sizes = _reshaped(known.as_list(), wanted.tolist())
            if sizes is not None:
                dense_shape = constant(sizes, dtypes.int64)
        return SparseTensor(indices, array_ops.identity(sp_input.values), dense_shape)


def _joined_shape(shapes, axis):
    """The shape of tensors one behind the other; None if it is not known, or they do not fit."""
    if not all(shape.is_fully_defined() for shape in shapes):
        return None
    lists = [shape.as_list() for shape in shapes]
    if not -len(lists[0]) <= axis < len(lists[0]):
        return None
    axis %= len(lists[0])
    others = {(len(sizes), *sizes[:axis], *sizes[axis + 1 :]) for sizes in lists}
    if len(others) != 1:
        return None
    lists[0][axis] = sum(sizes[axis] for sizes in lists)
    return TensorShape(lists[0])


def sparse_concat(
    axis,
    sp_inputs,
    name=None,
    expand_nonconcat_dim=False,
    concat_dim=None,
    expand_nonconcat_dims=None,
):
    """Sparse tensors one behind the other along `axis`.

    Their other dimensions are the same, or with `expand_nonconcat_dim` grow to the largest.
    """
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    axis = concat_dim if concat_dim is not None else axis
    sp_inputs = [_sparse(sp) for sp in sp_inputs]
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    shapes = [sp.dense_shape for sp in sp_inputs]
    if expand_nonconcat_dim:
        rows = array_ops.concat([array_ops.reshape(s, [1, -1]) for s in shapes], 0)
        largest = math_ops.reduce_max(rows, 0)
        end = None if axis == -1 else axis + 1
        shapes = [
            array_ops.concat(
                [largest[:axis], s[axis:end], largest[axis + 1 :] if end else largest[:0]], 0
            )
            for s in shapes
        ]
    result = SparseTensor(
        *op_list(
            "SparseConcat",
            name,
            [sp.indices for sp in sp_inputs],
            [sp.values for sp in sp_inputs],
            shapes,
            concat_dim=axis,
        )
    )
    known = None if expand_nonconcat_dim else _joined_shape([sp.shape for sp in sp_inputs], axis)
    return result if known is None else result._with_shape(known)


def sparse_split(
    keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None
):
    """A list of `num_split` parts along `axis`; the first ones are larger where it must be."""
    if keyword_required is not None or sp_input is None or num_split is None:
        raise ValueError("Keyword arguments are required for this function: sp_input, num_split.")
    axis = _either(axis, split_dim, "axis", "split_dim")
    if axis is None:
        raise ValueError("axis is required")
    sp_input = _sparse(sp_input)
    outputs = op_list(
        "SparseSplit",
        name,
        axis,
        *_parts(sp_input),
        num_split=num_split,
    )
    parts = [outputs[k * num_split : (k + 1) * num_split] for k in range(3)]
    return [SparseTensor(*three) for three in zip(*parts)]


def sparse_slice(sp_input, start, size, name=None):
    """What lies within `size` from `start` on, both (rank,)."""
    sp_input = _sparse(sp_input)
    start = convert_to_tensor(start, dtypes.int64)
    size = convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp_input.values]) as name:
        return SparseTensor(*op_list("SparseSlice", name, *_parts(sp_input), start, size))


def sparse_retain(sp_input, to_retain):
    """Only the values where `to_retain`, bool (n,), is true."""
    sp_input = _sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    if to_retain.shape.ndims is not None:
        to_retain.shape.assert_is_compatible_with(sp_input.values.shape)
    kept = array_ops.reshape(array_ops.where(to_retain), [-1])
    return SparseTensor(
        array_ops.gather(sp_input.indices, kept),
        array_ops.gather(sp_input.values, kept),
        array_ops.identity(sp_input.dense_shape),
    )


def sparse_reset_shape(sp_input, new_shape=None):
    """The same values in the shape `new_shape`, or in the smallest one that holds them.

    InvalidArgumentError or ValueError for a shape that is smaller somewhere or of another rank.
    """
    sp_input = _sparse(sp_input)
    indices = array_ops.identity(sp_input.indices)
    values = array_ops.identity(sp_input.values)
    old_shape = array_ops.identity(sp_input.dense_shape)
    if new_shape is None:
        last = math_ops.reduce_max(indices, axis=0)
        shape = math_ops.maximum(
            constant(0, dtypes.int64), math_ops.add(last, array_ops.ones_like(last))
        )
        return SparseTensor(indices, values, shape)
    shape = math_ops.cast(convert_to_tensor(new_shape), dtypes.int64)
    old, wanted = constant_value(sp_input.dense_shape), constant_value(shape)
    if old is not None and wanted is not None:
        if len(old) != len(wanted):
            raise ValueError(f"Shapes {tuple(old)} and {tuple(wanted)} do not have one rank")
        if (old > wanted).any():
            raise ValueError(
                f"The new shape {tuple(wanted)} should have dimension sizes of {tuple(old)} or more"
            )
        return SparseTensor(indices, values, wanted)
    same_rank = check_ops.assert_equal(array_ops.shape(old_shape), array_ops.shape(shape))
    with control_dependencies([same_rank]):
        shape = array_ops.identity(shape)
    with control_dependencies([check_ops.assert_less_equal(old_shape, shape)]):
        return SparseTensor(indices, values, array_ops.identity(shape))


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """(the tensor with `default_value` first in each row that has none, which rows these are)."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input.values]):
        default_value = convert_to_tensor(default_value, dtype=sp_input.values.dtype)
        indices, values, is_empty, _ = op_list(
            "SparseFillEmptyRows", None, *_parts(sp_input), default_value
        )
        return SparseTensor(indices, values, sp_input.dense_shape), is_empty


def _known(value):
    """The elements of a list or of a tensor that is constant, else None."""
    return constant_value(value) if hasattr(value, "_as_graph_element") else value


def sparse_transpose(sp_input, perm=None, name=None):
    """Dimension i of the result is dimension `perm[i]`; reversed without `perm`."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseTranspose", [sp_input.values]):
        known = sp_input.get_shape()
        order = None if perm is None else _known(perm)
        if perm is None:
            rank = op1("Size", "Rank", sp_input.dense_shape)
            perm = (rank - 1) - math_ops.range(0, rank, 1)
            order = range(known.ndims)[::-1] if known.ndims is not None else None
        columns = array_ops.gather(array_ops.transpose(sp_input.indices), perm)
        indices = array_ops.transpose(columns)
        shape = array_ops.gather(sp_input.dense_shape, perm)
        if order is not None and known.is_fully_defined():
            sizes = [known.size_at(int(i)) for i in order]
            moved = SparseTensor(indices, sp_input.values, shape)
            made = op_list("SparseReorder", None, *_parts(moved))
            return SparseTensor(*made, constant(sizes, dtypes.int64))
        moved = SparseTensor(indices, sp_input.values, array_ops.identity(shape))
        return sparse_reorder(moved)


def sparse_expand_dims(sp_input, axis=None, name=None):
    """The tensor with a dimension of 1 put in at `axis`, by default behind the last."""
    sp_input = _sparse(sp_input)
    rank = sp_input.dense_shape.shape.size_at(0)
    axis = -1 if axis is None else axis
    known_axis = constant_value(axis)
    if known_axis is None:
        raise ValueError("axis must be known when the graph is built")
    axis = int(known_axis)
    if rank is not None and not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis {axis} not in [{-rank - 1}, {rank}]")
    if axis == -1:
        left, right = slice(None), slice(0)
    else:
        cut = axis + 1 if axis < 0 else axis
        left, right = slice(cut), slice(cut, None)
    with name_scope(name, "expand_dims"):
        count = array_ops.shape(sp_input.indices)[0]
        column = array_ops.zeros(array_ops.stack([count, 1]), dtype=dtypes.int64)
        indices = array_ops.concat(
            [sp_input.indices[:, left], column, sp_input.indices[:, right]], 1
        )
        one = constant([1], dtypes.int64)
        shape = array_ops.concat([sp_input.dense_shape[left], one, sp_input.dense_shape[right]], 0)
        return SparseTensor(indices, sp_input.values, shape)


def _as_int64(number, name):
    number = convert_to_tensor(number, dtype_hint=dtypes.int64, name=name)
    return math_ops.cast(number, dtypes.int64)


def sparse_eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """The identity matrix (num_rows, num_columns), square by default."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = columns = _as_int64(num_rows, "num_rows")
        if num_columns is not None:
            columns = _as_int64(num_columns, "num_columns")
        count = math_ops.minimum(rows, columns)
        at = math_ops.range(count, dtype=dtypes.int64)
        indices = array_ops.stack([at, at], axis=1)
        ones = array_ops.ones(count, dtype=dtypes.as_dtype(dtype))
        return SparseTensor(indices, ones, [rows, columns])


def sparse_softmax(sp_input, name=None):
    """Softmax along the last dimension over the values that there are."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseSoftmax", list(_parts(sp_input))):
        values = op1("SparseSoftmax", None, *_parts(sp_input))
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _extreme(op_type, sp_a, sp_b, name):
    sp_a, sp_b = _sparse(sp_a), _sparse(sp_b)
    with name_scope(name, op_type, [sp_a.values, sp_b.values]) as name:
        indices, values = op_list(op_type, name, *_parts(sp_a), *_parts(sp_b))
        return SparseTensor(indices, values, sp_a.dense_shape)


def sparse_maximum(sp_a, sp_b, name=None):
    """The larger values of two tensors of one shape; 0 stands for absent ones."""
    return _extreme("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a, sp_b, name=None):
    """The smaller values of two tensors of one shape; 0 stands for absent ones."""
    return _extreme("SparseSparseMinimum", sp_a, sp_b, name)


def _reduced(op_type, sp_input, axis, keepdims, reduction_axes, keep_dims):
    sp_input = _sparse(sp_input)
    keep = _either(keepdims, keep_dims, "keepdims", "keep_dims")
    axis = _either(axis, reduction_axes, "axis", "reduction_axes")
    if axis is None:
        rank = sp_input.dense_shape.shape.size_at(0)
        axis = (
            constant(list(range(rank)), dtypes.int32)
            if rank is not None
            else math_ops.range(0, array_ops.size(sp_input.dense_shape))
        )
    return op_list(op_type, None, *_parts(sp_input), axis, keep_dims=bool(keep))


def sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The sums over `axis` (all by default), as a dense tensor."""
    return _reduced("SparseReduceSum", sp_input, axis, keepdims, reduction_axes, keep_dims)[0]


def sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The largest values over `axis`, as a dense tensor; 0 where there are none."""
    return _reduced("SparseReduceMax", sp_input, axis, keepdims, reduction_axes, keep_dims)[0]


def sparse_reduce_sum_sparse(
    sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None
):
    """The sums over `axis` (all by default)."""
    kind = "SparseReduceSumSparse"
    return SparseTensor(*_reduced(kind, sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_reduce_max_sparse(
    sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None
):
    """The largest values over `axis` (all by default)."""
    kind = "SparseReduceMaxSparse"
    return SparseTensor(*_reduced(kind, sp_input, axis, keepdims, reduction_axes, keep_dims))


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """Values whose last index is an id: a tensor (..., vocab_size).

    sp_ids and sp_values have the same indices; the last of these is replaced by the id, int32 or
    int64 below `vocab_size`. With lists of ids and sizes there is a dimension for each.
    """
    ids = list(sp_ids) if isinstance(sp_ids, (list, tuple)) and not is_sparse(sp_ids) else [sp_ids]
    sizes = vocab_size if isinstance(vocab_size, (list, tuple)) else [vocab_size]
    if len(ids) != len(sizes):
        raise ValueError(
            f"sp_ids and vocab_size have to have equal lengths: {len(ids)} != {len(sizes)}"
        )
    with name_scope(name, "SparseMerge", [*[i.values for i in ids], sp_values.values]):
        return _merge([_sparse(i) for i in ids], _sparse(sp_values), sizes, already_sorted)


def _merge(ids, sp_values, sizes, already_sorted):
    columns = []
    for sp in ids:
        values = sp.values
        if values.dtype != dtypes.int64:
            values = math_ops.cast(values, dtypes.int64)
        columns.append(array_ops.expand_dims(values, axis=1))
    sizes = [math_ops.cast(s, dtypes.int64) for s in sizes]
    indices = array_ops.concat([ids[0].indices[:, :-1], *columns], axis=1)
    shape = array_ops.concat([ids[0].dense_shape[:-1], sizes], axis=0)
    result = SparseTensor(indices, sp_values.values, shape)
    if already_sorted:
        return result
    in_order = sparse_reorder(result)
    return SparseTensor(in_order.indices, in_order.values, shape)


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """A dense bool tensor (..., vocab_size), true at the ids that `sp_input` holds."""
    sp_input = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input.values]) as name:
        count = array_ops.shape(sp_input.indices)[0]
        trues = array_ops.fill(array_ops.expand_dims(count, 0), True)
        flags = SparseTensor(sp_input.indices, trues, sp_input.dense_shape)
        merged = _merge([sp_input], flags, [vocab_size], False)
        return sparse_tensor_to_dense(
            merged, default_value=False, validate_indices=False, name=name
        )


def sparse_mask(a, mask_indices, name=None):
    """IndexedSlices without the rows at `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        kept, places = op_list("ListDiff", None, a.indices, mask_indices)
        return IndexedSlices(array_ops.gather(a.values, places, name=name), kept, a.dense_shape)


# What integers become when they are divided.
_FLOAT_FOR = {
    kind: dtypes.float32 for kind in (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16)
}


def _cwise(op_type, name, sp, dense):
    with name_scope(None, name, list(_parts(sp))) as scope:
        dense = convert_to_tensor(dense, dtype=sp.dtype.base_dtype, name="y")
        if name == "truediv" and dense.dtype.is_integer:
            sp = math_ops.cast(sp, _FLOAT_FOR.get(dense.dtype.base_dtype, dtypes.float64))
            dense = math_ops.cast(dense, sp.dtype)
        return SparseTensor(sp.indices, op1(op_type, scope, *_parts(sp), dense), sp.dense_shape)


def _times(sp, dense):
    return _cwise("SparseDenseCwiseMul", "mul", sp, dense)


def _times_from_left(sp, dense):
    return _times(sp, dense) if isinstance(dense, (Tensor, _VariableBase)) else NotImplemented


SparseTensor.__mul__ = _times
SparseTensor.__rmul__ = _times_from_left
SparseTensor.__truediv__ = lambda self, y: _cwise("SparseDenseCwiseDiv", "truediv", self, y)
SparseTensor.__div__ = lambda self, y: _cwise("SparseDenseCwiseDiv", "div", self, y)


# ---- SparseTensors in strings


def _check_strings(out_type):
    if dtypes.as_dtype(out_type) != dtypes.string:
        raise NotImplementedError("sparse tensors are put into strings only, not into variants")


def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """A SparseTensor as three strings (3,), TensorProtos of its parts."""
    _check_strings(out_type)
    parts = _parts(_sparse(sp_input))
    return op1("SerializeSparse", name, *parts, out_type=dtypes.string)


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """Each element of the first dimension of a SparseTensor as three strings: (n, 3)."""
    _check_strings(out_type)
    parts = _parts(_sparse(sp_input))
    return op1("SerializeManySparse", name, *parts, out_type=dtypes.string)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The SparseTensor of one rank more whose elements the strings (n, 3) hold.

    rank: of one element, if it is known.
    """
    indices, values, shape = op_list("DeserializeManySparse", name, serialized_sparse, dtype=dtype)
    indices.set_shape([None, None if rank is None else rank + 1])
    shape.set_shape([None if rank is None else rank + 1])
    return SparseTensor(indices, values, shape)


def _crossed(inputs, hashed_output, num_buckets, hash_key, name):
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(x, (SparseTensor, Tensor)) for x in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [x for x in inputs if isinstance(x, SparseTensor)]
    values = [x.values for x in sparse]
    dense = [x for x in inputs if isinstance(x, Tensor)]
    numbers = any(x.dtype != dtypes.string for x in values + dense)

    def words_or_int64(tensors):
        return [x if x.dtype == dtypes.string else math_ops.cast(x, dtypes.int64) for x in tensors]

    values, dense = words_or_int64(values), words_or_int64(dense)
    return SparseTensor(
        *op_list(
            "SparseCross",
            name,
            [x.indices for x in sparse],
            values,
            [x.dense_shape for x in sparse],
            dense,
            N=len(sparse),
            sparse_types=[x.dtype for x in values],
            dense_types=[x.dtype for x in dense],
            hashed_output=hashed_output,
            num_buckets=num_buckets,
            hash_key=hash_key or 0xDECAFCAFFE,
            out_type=dtypes.int64 if hashed_output else dtypes.string,
            internal_type=dtypes.int64 if numbers else dtypes.string,
        )
    )


def sparse_cross(inputs, name=None):
    """Every combination of one feature of each input, row by row, joined by "_X_".

    inputs: a list of SparseTensors and tensors (batch, any) of strings or integers; TypeError for
    others. Returns a SparseTensor (batch, largest number of combinations) of strings.
    InvalidArgumentError when it runs and the inputs differ in their batch.
    """
    return _crossed(inputs, False, 0, None, name)


def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """sparse_cross(), with a fingerprint of int64 for each combination.

    num_buckets: the fingerprint is taken modulo this, if it is not 0. hash_key: changes the way in
    which the fingerprints of the features are combined.
    """
    return _crossed(inputs, True, num_buckets, hash_key, name)
