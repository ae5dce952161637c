"""Functions on the shapes and elements of tensors."""

import builtins
import math

import numpy as np

from rheos.framework import dtypes, from_ops, signatures, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.op_call import op1, op_list, op_results, runs_op
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.ragged import RaggedShapeBase, ragged_shapes_too, ragged_too
from rheos.ops.array.cast_ops import cast as _cast, range as _range
from rheos.ops.array.constant_op import constant

newaxis = None


# ---- Placeholders and copies


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value is fed. shape: what the values fed have; None: anything.

    >>> x = tf.placeholder(tf.float32, [None], name="x")
    >>> with tf.Session() as session:
    ...     print(session.run(2 * x, {x: [1, 2]}))
    [2. 4.]
    """
    return op1(
        "Placeholder",
        name,
        dtype=dtypes.as_dtype(dtype).base_dtype,
        shape=tensor_shape.as_shape(shape),
    )


def placeholder_with_default(input, shape, name=None):
    """A tensor that passes `input` on unless a value is fed for it."""
    return op1("PlaceholderWithDefault", name, input, shape=tensor_shape.as_shape(shape))


@runs_op("Identity", "input")
@ragged_too("elementwise")
def identity(input, name=None):
    """A tensor with the same value.

    >>> print(tf.identity([1, 2]).numpy())
    [1 2]
    """
    if isinstance(input, IndexedSlices):
        input = convert_to_tensor(input)
    return op1("Identity", name, input)


@runs_op("StopGradient", "input")
@ragged_too("elementwise")
def stop_gradient(input, name=None):
    """A tensor with the same value, through which no gradient flows.

    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> print(tape.gradient(y, x).numpy())
    3.0
    """
    return op1("StopGradient", name, input)


# ---- Shapes


def _dense_shape(value):
    """The dense shape of a sparse tensor or its value; None for others."""
    shape = None if isinstance(value, Tensor) else getattr(value, "dense_shape", None)
    return None if shape is None else convert_to_tensor(shape, dtypes.int64)


def _shape(input, name=None, optimize=True, out_type=dtypes.int32):
    sparse = _dense_shape(input)
    if sparse is not None:
        return _cast(sparse, out_type)
    with name_scope(name, "Shape", [input]) as name:
        tensor = convert_to_tensor(input)
        known = tensor.shape
        if optimize and known.is_fully_defined():
            return constant(known.as_list(), out_type, name=name)
        return op1("Shape", name, tensor, out_type=out_type)


@runs_op("Shape", "input", out_type="out_type")
def shape(input, name=None, out_type=dtypes.int32):
    """The shape of a tensor, as a vector."""
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    return _shape(input, name, True, out_type)


def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of several tensors."""
    return op_list("ShapeN", name, input, out_type=out_type)


@runs_op("Size", "input", out_type="out_type")
@ragged_too("size_of")
def size(input, name=None, out_type=dtypes.int32):
    """The number of elements of a tensor; of a sparse one, as if it were dense."""
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    sparse = _dense_shape(input)
    if sparse is not None:
        return op1("Prod", name, _cast(sparse, out_type), 0)
    with name_scope(name, "Size", [input]) as name:
        tensor = convert_to_tensor(input)
        count = tensor.shape.num_elements()
        if count is not None:
            return constant(count, out_type, name=name)
        return op1("Size", name, tensor, out_type=out_type)


@runs_op("Rank", "input")
@ragged_too("rank_of")
def rank(input, name=None):
    """The number of dimensions of a tensor.

    >>> print(tf.rank([[1, 2], [3, 4]]).numpy())
    2
    """
    sparse = _dense_shape(input)
    if sparse is not None:
        return size(sparse, name=name)
    with name_scope(name, "Rank", [input]) as name:
        tensor = convert_to_tensor(input)
        ndims = tensor._rank()
        if ndims is not None:
            return constant(ndims, dtypes.int32, name=name)
        return op1("Rank", name, tensor)


@runs_op("Reshape", "tensor shape")
@ragged_shapes_too("reshape_of")
def reshape(tensor, shape, name=None):
    """The same elements under another shape; one dimension may be -1."""
    return op1("Reshape", name, tensor, shape)


@runs_op("ExpandDims", "input axis")
@ragged_too("expand_dims_of")
def expand_dims(input, axis=None, name=None, dim=None):
    """Inserts a dimension of 1 at `axis`."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return op1("ExpandDims", name, input, axis)


@runs_op("Squeeze", "input", squeeze_dims="axis=list")
@ragged_too("squeeze_of")
def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """Removes dimensions of 1: those in `axis`, or all.

    >>> print(tf.squeeze([[[1], [2]]]).numpy())
    [1 2]
    """
    axis = squeeze_dims if axis is None else axis
    axis = [] if axis is None else [axis] if np.isscalar(axis) else axis
    return op1("Squeeze", name, input, squeeze_dims=list(axis))


@runs_op("Transpose", "a perm=reversed")
def transpose(a, perm=None, name="transpose", conjugate=False):
    """Permutes the dimensions; `perm` None reverses them."""
    with name_scope(name, "transpose", [a]) as name:
        if perm is None:
            a = convert_to_tensor(a, name="a")
            ndims = a._rank()
            if ndims is not None:
                perm = list(builtins.range(ndims))[::-1]
            else:
                count = op1("Rank", None, a)
                perm = (count - 1) - op1("Range", None, 0, count, 1)
        elif not isinstance(a, (Tensor, _VariableBase)):
            a = convert_to_tensor(a, name="x")
        kind = "ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose"
        return op1(kind, name, a, perm)


@runs_op("BroadcastTo", "input shape")
@ragged_shapes_too("broadcast_to_rows")
def broadcast_to(input, shape, name=None):
    """Repeats along dimensions of 1 until the shape is `shape`.

    >>> print(tf.broadcast_to([1, 2], [2, 2]).numpy())
    [[1 2]
     [1 2]]
    """
    return op1("BroadcastTo", name, input, shape)


def broadcast_static_shape(shape_x, shape_y):
    """The shape of two static shapes broadcast together."""
    x, y = tensor_shape.as_shape(shape_x), tensor_shape.as_shape(shape_y)
    if x.ndims is None or y.ndims is None:
        return tensor_shape.unknown_shape()
    dims = []
    for a, b in zip(
        [1] * (y.ndims - x.ndims) + x.as_list(), [1] * (x.ndims - y.ndims) + y.as_list()
    ):
        if a == 1:
            dims.append(b)
        elif b == 1 or a == b:
            dims.append(a)
        elif a is None or b is None:
            dims.append(a if b is None else b)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}")
    return tensor_shape.TensorShape(dims)


# ---- Filled tensors


def _constant_if_small(value, shape, dtype, name):
    try:
        dims = [tensor_shape.dimension_value(d) for d in shape]
        count = 1
        for i, dim in enumerate(dims):
            count = dim if i == 0 else count * dim
        # Of a dimension that is a tensor this makes nodes that nobody reads: so in TensorFlow's
        # graphs, by which the seeds of later operations go.
        small = count < 1000
        if small is True or small is np.True_:
            return constant(value, shape=dims, dtype=dtype, name=name)
    except TypeError:
        pass
    return None


def _filled(value, shape, dtype, name):
    if not isinstance(shape, Tensor):
        small = None
        if isinstance(shape, (int, np.integer, tensor_shape.Dimension)):
            shape = [shape]
        elif not isinstance(shape, _VariableBase):
            small = _constant_if_small(value, shape, dtype, name)
        if small is not None:
            return small
        try:
            shape = convert_to_tensor(tensor_shape.TensorShape(shape))
        except (TypeError, ValueError):
            shape = convert_to_tensor(shape, dtype=dtypes.int32)
    if not shape._shape_as_list():
        shape = reshape(shape, [-1])
    return fill(shape, constant(value, dtype=dtype), name=name)


def _zero_of(dtype):
    return False if dtype == dtypes.bool else "" if dtype == dtypes.string else 0


def zeros(shape, dtype=dtypes.float32, name=None):
    """A tensor of zeros."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    if isinstance(shape, RaggedShapeBase):
        return fill(shape, constant(_zero_of(dtype), dtype), name)
    with name_scope(name, "zeros", [shape]) as name:
        return _filled(_zero_of(dtype), shape, dtype, name)


def ones(shape, dtype=dtypes.float32, name=None):
    """A tensor of ones."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    if isinstance(shape, RaggedShapeBase):
        return fill(shape, constant(dtype == dtypes.bool or 1, dtype), name)
    with name_scope(name, "ones", [shape]) as name:
        return _filled(dtype == dtypes.bool or 1, shape, dtype, name)


@runs_op("ZerosLike", "tensor")
@ragged_too("elementwise")
def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of the shape (and dtype, unless given) of a tensor."""
    with name_scope(name, "zeros_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        dtype = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype)
        if optimize and tensor.shape.is_fully_defined() and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, dtype, name=name)
        if dtype != tensor.dtype.base_dtype:
            return zeros(_shape(tensor, optimize=optimize), dtype, name=name)
        return op1("ZerosLike", name, tensor)


@runs_op("OnesLike", "tensor")
@ragged_too("elementwise")
def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of the shape (and dtype, unless given) of a tensor."""
    with name_scope(name, "ones_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        dtype = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype)
        result = ones(_shape(tensor, optimize=optimize), dtype, name=name)
        result.set_shape(tensor.shape)
        return result


@runs_op("Fill", "dims value")
@ragged_shapes_too("filled_in_rows")
def fill(dims, value, name=None):
    """A tensor of shape `dims` with every element `value`."""
    return op1("Fill", name, dims, value)


@ragged_too("one_hot_of")
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """Vectors of `depth` elements with `on_value` at each index, inserted at `axis`.

    >>> print(tf.one_hot([0, 2], depth=3).numpy())
    [[1. 0. 0.]
     [0. 0. 1.]]
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as name:
        has_on, has_off = on_value is not None, off_value is not None
        dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        types = [
            None if value is None else convert_to_tensor(value).dtype.base_dtype
            for value in (on_value, off_value)
        ]
        if dtype is not None:
            for found, label in zip(types, ("on_value", "off_value")):
                if found is not None and found != dtype:
                    raise TypeError(
                        f"dtype {found} of {label} does not match dtype parameter {dtype}"
                    )
        elif has_on or has_off:
            dtype = types[0] if has_on else types[1]
        else:
            dtype = dtypes.float32
        if not has_on:
            on_value = convert_to_tensor(1, dtype, name="on_value")
        if not has_off:
            off_value = convert_to_tensor(0, dtype, name="off_value")
        if has_on and has_off and types[0] != types[1]:
            raise TypeError(
                f"dtype {types[0]} of on_value does not match dtype {types[1]} of off_value"
            )
        return op1("OneHot", name, indices, depth, on_value, off_value, axis=axis)


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0):
    """Matrices with the given diagonals: (..., n) gives (..., n, n).

    k: which diagonal they become, above (positive) or below the main one, or a pair for a band of
    them, given as rows (..., diagonals, n). num_rows, num_cols: by default as small as they can be.
    padding_value: for the other elements.
    """
    if _is_plain(k, 0) and _is_plain(num_rows, -1) and _is_plain(num_cols, -1):
        if _is_plain(padding_value, 0):
            return op1("MatrixDiag", name, diagonal)
    diagonal = convert_to_tensor(diagonal, name="diagonal")
    padding_value = _cast(padding_value, diagonal.dtype.base_dtype)
    return op1("MatrixDiagV2", name, diagonal, k, num_rows, num_cols, padding_value)


def _is_plain(value, default):
    """Whether an argument is a number, not a tensor or pair, and has its default value."""
    return isinstance(value, (int, float, np.number)) and value == default


def diag(diagonal, name=None):
    """A tensor with `diagonal` on its diagonal, of twice the rank."""
    return op1("Diag", name, diagonal)


def matrix_band_part(input, num_lower, num_upper, name=None):
    """Keeps a band around the diagonal of each matrix; a negative number keeps all.

    >>> print(tf.linalg.band_part([[1, 2], [3, 4]], 0, -1).numpy())
    [[1 2]
     [0 4]]
    """
    if isinstance(num_upper, Tensor) and not isinstance(num_lower, Tensor):
        num_lower = convert_to_tensor(num_lower, num_upper.dtype)  # a number has no dtype to give
    return op1("MatrixBandPart", name, input, num_lower, num_upper)


# ---- Joining and parting


@runs_op("ConcatV2", "values axis")
@ragged_too("concat_of")
def concat(values, axis, name="concat"):
    """Joins tensors along `axis`, along which only their sizes may differ.

    >>> print(tf.concat([[[1, 2]], [[3, 4], [5, 6]]], axis=0).numpy())
    [[1 2]
     [3 4]
     [5 6]]
    """
    if isinstance(values, int) and isinstance(axis, (list, tuple)):
        values, axis = axis, values  # as before TensorFlow 1.0; nothing else it could mean
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            number = convert_to_tensor(axis, dtypes.int32, "concat_dim")
            number.shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return op1("ConcatV2", name, list(values), axis)


@runs_op("Pack", "values", axis="axis")
@ragged_too("stack_of")
def stack(values, axis=0, name="stack"):
    """Joins tensors along a new dimension at `axis`.

    >>> print(tf.stack([[1, 2], [3, 4]], axis=1).numpy())
    [[1 3]
     [2 4]]
    """
    # What is constant needs no Pack; TensorFlow does not see that of dimensions of a shape.
    sizes = isinstance(values, (list, tuple)) and any(
        isinstance(value, tensor_shape.Dimension) for value in values
    )
    if axis == 0 and not sizes:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    dims = convert_to_tensor(values[0], name=name)._shape_as_list()
    if dims is not None:
        count = len(dims) + 1
        if not -count <= axis < count:
            raise ValueError(f"axis = {axis} not in [{-count}, {count})")
    return op1("Pack", name, list(values), axis=axis)


def parallel_stack(values, name="parallel_stack"):
    """Joins tensors of one shape (...) along a new first dimension: (n, ...)."""
    if not has_op("ParallelConcat"):
        return stack(values, 0, name)
    with name_scope(name):
        shape = convert_to_tensor(values[0]).shape
        wide = tensor_shape.TensorShape([len(values)]).concatenate(shape)
        rows = [expand_dims(value, 0) for value in values]
        return op1("ParallelConcat", None, rows, shape=wide)


def unstack(value, num=None, axis=0, name="unstack"):
    """Parts a tensor along `axis` into tensors of one rank less.

    >>> print([row.numpy().tolist() for row in tf.unstack([[1, 2], [3, 4]])])
    [[1, 2], [3, 4]]
    """
    if num is None:
        value = convert_to_tensor(value)
        known = value.shape
        if known.ndims is not None:
            if not -known.ndims <= axis < known.ndims:
                raise ValueError(f"axis = {axis} not in [{-known.ndims}, {known.ndims})")
            num = known.size_at(axis)
    if num is None:
        raise ValueError(f"Cannot infer num from shape {value.shape}")
    return op_list("Unpack", name, value, num=num, axis=axis)


@ragged_too("split_of")
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Parts a tensor along `axis`: in so many equal parts, or in parts of the sizes given.

    >>> print([part.numpy().tolist() for part in tf.split([1, 2, 3, 4, 5], [2, 3])])
    [[1, 2], [3, 4, 5]]
    """
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer, tensor_shape.Dimension)):
        return op_list("Split", name, axis, value, num_split=int(num_or_size_splits))
    if sizes._rank() == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        dims = sizes._shape_as_list()
        num = dims[0] if dims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return op_list("SplitV", name, value, sizes, axis, num_split=num)


@runs_op("Tile", "input multiples")
@ragged_too("tile_of")
def tile(input, multiples, name=None):
    """Repeats a tensor along each dimension.

    >>> print(tf.tile([[1, 2]], [2, 2]).numpy())
    [[1 2 1 2]
     [1 2 1 2]]
    """
    return op1("Tile", name, input, multiples)


@runs_op("Pad", "tensor paddings")
def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """Adds (before, after) elements to each dimension."""
    mode = mode.upper()
    if mode == "CONSTANT":
        is_zero = not isinstance(constant_values, (Tensor, _VariableBase)) and constant_values == 0
        if is_zero:
            result = op1("Pad", name, tensor, paddings)
        else:
            result = op1("PadV2", name, tensor, paddings, constant_values)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = op1("MirrorPad", name, tensor, paddings, mode=mode)
    else:
        raise ValueError(f"Unknown padding mode: {mode}")
    if not result.shape.is_fully_defined():
        _tell_padded(result)
    return result


def _tell_padded(result):
    """Sets the sizes that follow from paddings of which only a part is known."""
    given = result.op.inputs[0].shape
    known = constant_value(result.op.inputs[1], partial=True)
    if known is None or given.ndims is None:
        return
    sizes = []
    for size, pair in zip(given.as_list(), known):
        pair = [None, None] if pair is None else [p if p is None else int(p) for p in pair]
        sizes.append(None if size is None or None in pair else size + sum(pair))
    result.set_shape(sizes)


@ragged_too("reverse_of")
def reverse(tensor, axis, name=None):
    """Reverses a tensor along the dimensions in `axis`.

    >>> print(tf.reverse([[1, 2], [3, 4]], axis=[1]).numpy())
    [[2 1]
     [4 3]]
    """
    return op1("ReverseV2", name, tensor, axis)


def meshgrid(*args, **kwargs):
    """Grids of coordinates from vectors of them, as numpy.meshgrid.

    >>> print([grid.numpy().tolist() for grid in tf.meshgrid([1, 2], [7, 8, 9])])
    [[[1, 2], [1, 2], [1, 2]], [[7, 7], [8, 8], [9, 9]]]
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args) as name:
        count = len(args)
        ones_before = (1,) * count
        vectors = [
            reshape(stack(x), ones_before[:i] + (-1,) + ones_before[i + 1 :])
            for i, x in enumerate(args)
        ]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            vectors[0] = reshape(vectors[0], (1, -1) + (1,) * (count - 2))
            vectors[1] = reshape(vectors[1], (-1, 1) + (1,) * (count - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        factor = ones(sizes, dtype)
        return [x * factor for x in vectors]


# ---- Picking elements


def slice(input_, begin, size, name=None):
    """The part of a tensor that starts at `begin`; -1 in `size` means: to the end.

    >>> print(tf.slice([[1, 2, 3], [4, 5, 6]], begin=[0, 1], size=[2, 2]).numpy())
    [[2 3]
     [5 6]]
    """
    return op1("Slice", name, input_, begin, size)


def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
):
    """What `input_[begin:end:strides]` picks; the bits of the masks change single dimensions.

    var: the variable that `input_` reads; then the result has a method assign(value).

    >>> print(tf.strided_slice([0, 1, 2, 3, 4, 5], [1], [6], [2]).numpy())
    [1 3 5]
    """
    if strides is None:
        strides = ones_like(begin)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    result = op1("StridedSlice", name, input_, begin, end, strides, **masks)
    if var is not None:
        parent = name or ""

        def assign(value, name=None):
            """Sets the part of the variable."""
            bounds = (begin, end, strides)
            return var._strided_slice_assign(bounds, value, name or parent + "_assign", masks)

        result.assign = assign
    return result


@runs_op("GatherV2", "params indices axis=0", no_variables=True)
@ragged_too("gather_of")
def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """The slices of `params` at `indices` along `axis`."""
    if axis is None:
        axis = batch_dims
    if getattr(params, "_is_resource", False) and tensor_shape.dimension_value(axis) == 0:
        return params.sparse_read(indices, name=name)
    return op1("GatherV2", name, params, indices, axis, batch_dims=batch_dims)


@runs_op("GatherNd", "params indices", no_variables=True)
@ragged_too("gather_nd_of")
def gather_nd(params, indices, name=None, batch_dims=0):
    """The slices of `params` at the coordinates in the last dimension of `indices`.

    batch_dims: how many leading dimensions both share, with coordinates for the ones after these;
    a number or a constant. ValueError if it is not below the rank of `indices`.
    """
    known = constant_value(batch_dims)
    batch_dims = int(np.squeeze(known)) if isinstance(known, np.ndarray) else batch_dims
    if isinstance(batch_dims, int) and batch_dims == 0:
        if getattr(params, "_is_resource", False):
            return params.gather_nd(indices, name=name)
        return op1("GatherNd", name, params, indices)
    with name_scope(name, "BatchGatherND", [params, indices]) as name:
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        ndims = indices.shape.ndims
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        if ndims is not None and batch_dims >= ndims:
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank(indices) = {ndims}")
        if params.shape.ndims is not None and batch_dims >= params.shape.ndims:
            raise ValueError(
                f"batch_dims = {batch_dims} must be less than rank(params) = {params.shape.ndims}"
            )
        if ndims is None:
            return _gather_nd_of_unknown_rank(params, indices, batch_dims)
        sizes = unstack(shape(indices), num=ndims)[:-1]
        places = meshgrid(*[_range(n) for n in sizes], indexing="ij")[:batch_dims]
        batch = _cast(stack(places, axis=-1), indices.dtype)
        return op1("GatherNd", name, params, concat([batch, indices], axis=-1))


def _gather_nd_of_unknown_rank(params, indices, batch_dims):
    """gather_nd by way of indices with one dimension between the batch and the coordinates."""
    sizes = shape(indices)
    batch, inner, depth = sizes[:batch_dims], sizes[batch_dims:-1], sizes[-1:]
    count = op1("Prod", None, inner, [0], keep_dims=True)
    flat = reshape(indices, concat([batch, count, depth], axis=0))
    flat.set_shape([None] * (batch_dims + 2))
    found = gather_nd(params, flat, batch_dims=batch_dims)
    rest = shape(found)[batch_dims + 1 :]
    return reshape(found, concat([batch, inner, rest], axis=0))


def scatter_nd(indices, updates, shape, name=None):
    """A tensor of zeros of shape `shape` with `updates` added at `indices`."""
    return op1("ScatterNd", name, indices, updates, shape)


@ragged_too("where_of")
def where(condition, x=None, y=None, name=None):
    """With x and y: elements of x where the condition holds, of y elsewhere. Else: its indices."""
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as name:
            condition = convert_to_tensor(condition, None, "condition", dtypes.bool)
            return op1("Where", name, condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return op1("Select", name, condition, x, y)


@ragged_too("boolean_mask_of")
def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The slices of a tensor where the mask holds."""
    with name_scope(name, None, [tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        mask_rank = mask._rank()
        if mask_rank is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  "
                "E.g. shape=[None] is ok, but shape=None is not."
            )
        if mask_rank == 0:
            raise ValueError("mask cannot be scalar.")
        axis = 0 if axis is None else axis
        tensor.shape[axis : axis + mask_rank].assert_is_compatible_with(mask.shape)
        if tensor._is_eager:
            dims = tensor.shape.as_list()
            end = axis + mask_rank
            flat = reshape(tensor, [*dims[:axis], math.prod(dims[axis:end]), *dims[end:]])
            return gather(flat, squeeze(where(reshape(mask, [-1])), axis=[1]), axis=axis)
        leading = op1("Prod", None, shape(tensor)[axis : axis + mask_rank], [0])
        flat = reshape(
            tensor,
            concat([shape(tensor)[:axis], [leading], shape(tensor)[axis + mask_rank :]], 0),
        )
        first_dim = tensor.shape[axis : axis + mask_rank].num_elements()
        flat.set_shape(
            tensor_shape.as_shape(tensor.shape[:axis])
            .concatenate([first_dim])
            .concatenate(tensor.shape[axis + mask_rank :])
        )
        indices = squeeze(where(reshape(mask, [-1])), axis=[1])
        return gather(flat, indices, axis=axis)


def invert_permutation(x, name=None):
    """The inverse of a permutation."""
    return op1("InvertPermutation", name, x)


def unique(x, out_idx=dtypes.int32, name=None):
    """(y, idx): the different elements, and for each element its place among these.

    >>> values, places = tf.unique([7, 8, 7, 9])
    >>> print(values.numpy(), places.numpy())
    [7 8 9] [0 1 0 2]
    """
    return op_results("Unique", name, x, out_idx=out_idx)


@ragged_too("dynamic_partition_of")
def dynamic_partition(data, partitions, num_partitions, name=None):
    """Parts `data` into `num_partitions` tensors by the numbers in `partitions`."""
    return op_list("DynamicPartition", name, data, partitions, num_partitions=num_partitions)


def dynamic_stitch(indices, data, name=None):
    """Merges tensors into one: slice indices[m][i] of it is data[m][i]."""
    return op1("DynamicStitch", name, indices, data)


def _densify(slices, dtype, name):
    if dtype is not None and not dtype.is_compatible_with(slices.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
            f"{slices.dtype.name}"
        )
    if slices.dense_shape is None:
        raise ValueError(
            f"Tensor conversion requested for IndexedSlices without dense_shape: {slices}"
        )
    return op1("UnsortedSegmentSum", name, slices.values, slices.indices, slices.dense_shape[0])


def has_op(op_type):
    """Whether the library has an op."""
    return signatures.op_def(op_type) is not None


from_ops.register(densify=_densify)
