"""Batches of elements, and the rows of batches."""

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value, constant_value_as_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import count_operations
from rheos.framework.operation import Tensor
from rheos.framework.sparse_tensor_spec import SparseTensorSpec
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.framework.tensor_spec import TensorSpec, register_type_spec_from_value
from rheos.ops.array import array_ops, constant_op
from rheos.ops.ragged.ragged_tensor import RaggedTensor
from rheos.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from rheos.pipelines import nest, structure


def sizes(batch_size, drop_remainder):
    """The size, whether a short last batch is dropped, as tensors; the first dimension or None."""
    size = convert_to_tensor(batch_size, dtypes.int64, name="batch_size")
    drop = convert_to_tensor(drop_remainder, dtypes.bool, name="drop_remainder")
    static = None
    if constant_value(drop):
        static = constant_value(size)
        if static is not None:
            static = int(static)
    return size, drop, static


def batch(dataset, batch_size, drop_remainder=False, num_parallel_calls=None):
    """Dataset.batch."""
    size, drop, static = sizes(batch_size, drop_remainder)
    spec = structure.batched(dataset.element_spec, static)
    if num_parallel_calls is not None:
        calls = convert_to_tensor(num_parallel_calls, dtypes.int64, name="num_parallel_calls")
        return dataset._derive("ParallelBatchDataset", size, calls, drop, spec=spec)
    return dataset._derive("BatchDatasetV2", size, drop, spec=spec)


def unbatch(dataset):
    """Dataset.unbatch."""
    spec = dataset.element_spec
    rows = structure.unbatched(spec)
    _first_dimension(spec)
    if any(not isinstance(leaf, TensorSpec) for leaf in nest.flatten(spec)):

        def parts(*element):
            element = element if type(spec) is tuple else element[0]
            return tuple(structure.to_batched_tensor_list(spec, element))

        dataset = dataset.map(parts)
    else:
        count_operations(1)  # that map
    return dataset._derive("UnbatchDataset", spec=rows)


def _first_dimension(spec):
    """What is known of how many rows elements have: ValueError if parts of them disagree."""
    shapes = [leaf.shape for leaf in nest.flatten(spec) if hasattr(leaf, "shape")]
    sizes_known = {shape.as_list()[0] for shape in shapes if shape.ndims} - {None}
    if len(sizes_known) > 1:
        raise ValueError(f"The parts of elements have different numbers of rows: {spec}")
    return sizes_known.pop() if sizes_known else None


def rebatch(dataset, batch_size, drop_remainder=False):
    """Dataset.rebatch."""
    batch_sizes = convert_to_tensor(batch_size, dtypes.int64, name="batch_sizes")
    drop = convert_to_tensor(drop_remainder, dtypes.bool, name="drop_remainder")
    rows = structure.unbatched(dataset.element_spec)
    known = constant_value(batch_sizes)
    known = set() if known is None else set(known.ravel().tolist())
    size = known.pop() if len(known) == 1 else None
    if size is not None and not constant_value(drop):
        first = _first_dimension(dataset.element_spec)
        size = size if first is not None and size > 0 and first % size == 0 else None
    spec = structure.batched(rows, size)
    return dataset._derive("RebatchDatasetV2", batch_sizes, drop, spec=spec)


def sparse_batch(dataset, batch_size, row_shape):
    """Dataset.sparse_batch."""
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(f"A sparse batch is of single tensors, not of {spec}.")
    rows = as_shape(row_shape)
    dims = [-1 if dim is None else dim for dim in rows.as_list()]
    return dataset._derive(
        "DenseToSparseBatchDataset",
        convert_to_tensor(batch_size, dtypes.int64, name="batch_size"),
        convert_to_tensor(dims, dtypes.int64, name="row_shape"),
        spec=SparseTensorSpec(TensorShape([None]).concatenate(rows), spec.dtype),
    )


def _as_ragged(leaf, value, splits_dtype):
    """A tensor as a ragged one without ragged dimensions but those it may get by a batch."""
    is_tensor = isinstance(leaf, TensorSpec) and leaf.shape.ndims is not None
    if not is_tensor or leaf.shape.is_fully_defined():
        return value
    last = max(i for i, dim in enumerate(leaf.shape.as_list()) if dim is None)
    if last == 0:
        return _Row(value, splits_dtype)
    return RaggedTensor.from_tensor(value, ragged_rank=last, row_splits_dtype=splits_dtype)


class _Row:
    """A tensor whose first dimension differs from element to element."""

    def __init__(self, tensor, splits_dtype):
        self.tensor = tensor
        self.spec = RaggedTensorSpec(tensor.shape, tensor.dtype, 0, splits_dtype)


register_type_spec_from_value(_Row, lambda value: _RowSpec(value.spec))


class _RowSpec(RaggedTensorSpec):
    """The spec of a _Row: that of its tensor as a ragged one."""

    def __init__(self, spec):
        super().__init__(spec.shape, spec.dtype, 0, spec.row_splits_dtype)

    def _to_tensor_list(self, value):
        return [self._to_variant(value.tensor, False)]


def ragged_batch(dataset, batch_size, drop_remainder, row_splits_dtype):
    """Dataset.ragged_batch."""
    spec = dataset.element_spec

    def ragged(*element):
        element = element if type(spec) is tuple else element[0]
        return nest.map_up_to(
            spec, lambda leaf, value: _as_ragged(leaf, value, row_splits_dtype), spec, element
        )

    return batch(dataset.map(ragged), batch_size, drop_remainder)


# ---- Padding


def _padded_shape(shape, given):
    """A padded shape as a tensor; ValueError unless elements of the shape fit into it."""
    if isinstance(shape, Tensor):
        tensor = shape
    else:
        if isinstance(shape, (list, tuple)):
            shape = [None if dim == -1 else dim for dim in shape]
        try:
            dims = as_shape(shape).as_list()
        except TypeError:  # not a shape: something that converts to a tensor of dimensions
            dims = None
        if dims is None:
            tensor = convert_to_tensor(shape, preferred_dtype=dtypes.int64)
        else:
            dims = [-1 if dim is None else dim for dim in dims]
            tensor = convert_to_tensor(dims, dtypes.int64)
    if tensor.shape.ndims is not None and tensor.shape.ndims != 1:
        raise ValueError(
            f"Padded shape {shape} must be a 1-D tensor of tf.int64 values, but its shape was "
            f"{tensor.shape}."
        )
    if tensor.dtype != dtypes.int64:
        raise TypeError(
            f"Padded shape {shape} must be a 1-D tensor of tf.int64 values, but its element type "
            f"was {tensor.dtype.name}."
        )
    _check_padded(constant_value_as_shape(tensor), given)
    return tensor


def _check_padded(padded, given):
    if padded.ndims is None or given.ndims is None:
        return
    fits = padded.ndims == given.ndims and all(
        a is None or b is None or a >= b for a, b in zip(padded.as_list(), given.as_list())
    )
    if not fits:
        raise ValueError(
            f"The padded shape {padded} is not compatible with the corresponding input component "
            f"shape {given}."
        )


def _padding(value, dtype):
    value = convert_to_tensor(value, name="padding_value")
    if value.shape.ndims != 0:
        raise ValueError(f"The padding value should be a scalar, but it is {value}")
    if value.dtype != dtype:
        raise TypeError(
            f"The padding value has the dtype {value.dtype.name}, the component {dtype.name}"
        )
    return value


def _zero(dtype):
    if dtype == dtypes.string:
        return constant_op.constant("", dtypes.string)
    if dtype == dtypes.variant:
        raise TypeError("Unable to create default padding for a component of type 'variant'.")
    return array_ops.zeros([], dtype)


def _spread(spec, value):
    """A structure like the spec: `value` if it is one, else it everywhere."""
    if nest.is_nested(value) or not nest.is_nested(spec):
        return value
    return nest.map_up_to(spec, lambda _: value, spec)


def padded_batch(dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    """Dataset.padded_batch."""
    spec = dataset.element_spec
    leaves = nest.flatten(spec)
    if any(not isinstance(leaf, TensorSpec) for leaf in leaves):
        raise TypeError(
            f"Batching of padded sparse or ragged tensors is not supported: the elements are {spec}"
        )
    if padded_shapes is None:
        if any(leaf.shape.ndims is None for leaf in leaves):
            raise ValueError(
                "You must provide `padded_shapes` where the rank of a component is not known."
            )
        padded_shapes = nest.map_up_to(spec, lambda leaf: leaf.shape, spec)
    size, drop, static = sizes(batch_size, drop_remainder)
    shapes = [
        _padded_shape(shape, leaf.shape)
        for leaf, shape in zip(leaves, nest.flatten_up_to(spec, padded_shapes))
    ]
    values = nest.flatten_up_to(spec, _spread(spec, padding_values))
    paddings = [
        _zero(leaf.dtype) if value is None else _padding(_cast(value, leaf.dtype), leaf.dtype)
        for leaf, value in zip(leaves, values)
    ]
    batches = [
        TensorSpec(TensorShape([static]).concatenate(constant_value_as_shape(shape)), leaf.dtype)
        for leaf, shape in zip(leaves, shapes)
    ]
    spec = nest.pack_sequence_as(spec, batches)
    return dataset._derive("PaddedBatchDatasetV2", size, shapes, paddings, drop, spec=spec)


def _cast(value, dtype):
    """A number of the program is of the component's dtype."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return convert_to_tensor(value, preferred_dtype=dtype)
    return value
