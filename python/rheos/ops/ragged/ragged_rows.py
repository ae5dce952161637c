"""The rows of ragged tensors in arrays of tensors, which a loop reads and writes one after another.

Gradients go through these arrays, as they do not through variants.
"""

from rheos.framework import dtypes
from rheos.ops.array import array_ops
from rheos.ops.flow.tensor_array_ops import TensorArray
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor


class RowsRead:
    """The rows of a ragged tensor, to be read by number."""

    def __init__(self, value):
        self._inner = value.flat_values.shape[1:]
        splits = value.nested_row_splits
        self.count = value.nrows()
        self._dtype = self.count.dtype
        bounds, arrays = splits[0], []
        for inner in splits[1:]:
            arrays.append(self._pieces(inner[1:] - inner[:-1], bounds))
            bounds = array_ops.gather(inner, bounds)
        self._lengths = arrays
        self._values = self._pieces(value.flat_values, bounds)

    def _pieces(self, values, bounds):
        count = math_ops.cast(self.count, dtypes.int32)
        array = TensorArray(values.dtype, count, infer_shape=False, dynamic_size=False)
        return array.split(values, math_ops.cast(bounds[1:] - bounds[:-1], dtypes.int32))

    def read(self, i):
        """Row i: a RaggedTensor, or a Tensor where there is one ragged dimension."""
        values = self._values.read(i)
        values.set_shape([None, *self._inner.as_list()] if self._inner.dims is not None else None)
        lengths = [array.read(i) for array in self._lengths]
        for one in lengths:
            one.set_shape([None])
        if not lengths:
            return values
        return RaggedTensor.from_nested_row_lengths(values, lengths, validate=False)


class RowsWritten:
    """What arrays hold of rows that are ragged tensors, or tensors of unlike sizes."""

    def __init__(self, spec, count):
        self._spec = spec

        def array(dtype, inner):
            shape = None if inner is None else [None, *inner]
            return TensorArray(
                dtype, count, infer_shape=False, dynamic_size=False, element_shape=shape
            )

        rank, levels = spec.shape.ndims, spec.ragged_rank
        inner = None if rank is None else spec.shape.as_list()[levels + 1 :]
        counts = TensorArray(spec.row_splits_dtype, count, dynamic_size=False, element_shape=[])
        self.arrays = [counts, *(array(spec.row_splits_dtype, []) for _ in range(levels))]
        self.arrays.append(array(spec.dtype, inner))

    def written(self, arrays, i, row):
        """The arrays with row i; ValueError for one that is not as the spec says."""
        spec = self._spec
        row = convert_to_tensor_or_ragged_tensor(row, spec.dtype)
        levels = row.ragged_rank if isinstance(row, RaggedTensor) else 0
        if levels != spec.ragged_rank or not row.shape.is_compatible_with(spec.shape):
            raise ValueError(
                f"the function gave {row}, which is not compatible with fn_output_signature {spec}"
            )
        parts, values = [], row
        if levels:
            parts, values = list(row.nested_row_lengths()), row.flat_values
            rows = row.nrows(spec.row_splits_dtype)
        else:
            rows = array_ops.shape(row, out_type=spec.row_splits_dtype)[0]
        parts = [math_ops.cast(part, spec.row_splits_dtype) for part in parts]
        return [a.write(i, part) for a, part in zip(arrays, [rows, *parts, values])]

    def together(self, arrays):
        """All rows as one ragged tensor."""
        counts, *lengths, values = arrays
        lengths = [counts.stack(), *(one.concat() for one in lengths)]
        for one in lengths:
            one.set_shape([None])
        return RaggedTensor.from_nested_row_lengths(values.concat(), lengths, validate=False)
