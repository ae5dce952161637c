"""Products of batches of matrices of which some are ragged.

The matrices are filled up with zeros to one size, multiplied, and cut to what they were.
"""

from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.ragged import handles
from rheos.ops.array import array_ops, segment_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    _nrows,
    _repeat,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
)


@handles
def matmul_of(
    function,
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
    **others,
):
    """tf.matmul of ragged tensors of one rank, at least 3: matrix by matrix."""
    if a_is_sparse or b_is_sparse:
        raise ValueError("matmul of ragged tensors cannot be told that an operand is sparse")
    if transpose_a and adjoint_a or transpose_b and adjoint_b:
        raise ValueError("Only one of transpose and adjoint can be True of an operand.")
    with name_scope(name, "RaggedMatMul", []):
        a = convert_to_tensor_or_ragged_tensor(a, name="a")
        b = convert_to_tensor_or_ragged_tensor(b, dtype_hint=a.dtype, name="b")
        ranks = a.shape.ndims, b.shape.ndims
        if None in ranks or ranks[0] != ranks[1] or ranks[0] < 3:
            raise ValueError(f"matmul of ragged tensors is of batches of one rank, not {ranks}")
        turned = transpose_a or adjoint_a, transpose_b or adjoint_b
        options = {
            "transpose_a": transpose_a,
            "transpose_b": transpose_b,
            "adjoint_a": adjoint_a,
            "adjoint_b": adjoint_b,
            **others,
        }
        return _product(lambda x, y: function(x, y, **options), a, b, turned)


def _product(multiply, a, b, turned):
    """The products; multiply: of dense batches. turned: whether the matrices of a, of b are."""
    if not is_ragged(a) and not is_ragged(b):
        return multiply(a, b)
    if a.shape.ndims == 3:
        return _product_of_matrices(multiply, a, b, turned)
    dtype = (a if is_ragged(a) else b).row_splits.dtype
    a, b = (
        x if is_ragged(x) else RaggedTensor.from_tensor(x, ragged_rank=1, row_splits_dtype=dtype)
        for x in (a, b)
    )
    check = check_ops.assert_equal(
        a.row_splits, b.row_splits, message="matmul: the batches have unlike rows"
    )
    with control_dependencies([] if check is None else [check]):
        splits = array_ops.identity(a.row_splits)
    return RaggedTensor(_product(multiply, a.values, b.values, turned), splits, internal=True)


def _product_of_matrices(multiply, a, b, turned):
    """Of a (n, i, k) and b (n, k, j), as they are once turned."""
    dtype = (a if is_ragged(a) else b).row_splits.dtype
    rows, inner_a = _sizes(a, dtype, turned[0])
    inner_b, columns = _sizes(b, dtype, turned[1])
    check = check_ops.assert_equal(
        inner_a, inner_b, message="matmul: the inner dimensions of the matrices are not the same"
    )
    with control_dependencies([] if check is None else [check]):
        dense = [x.to_tensor() if is_ragged(x) else array_ops.identity(x) for x in (a, b)]
    product = multiply(*dense)
    rows_are_ragged = is_ragged(a) and (a.ragged_rank > 1 or not turned[0])
    if not (is_ragged(b) and (b.ragged_rank > 1 or turned[1])):
        if not rows_are_ragged:
            return RaggedTensor.from_tensor(product, row_splits_dtype=dtype)
        return RaggedTensor.from_tensor(product, lengths=rows, row_splits_dtype=dtype)
    lengths = [rows, _repeat(columns, rows)]
    return RaggedTensor.from_tensor(product, lengths=lengths, row_splits_dtype=dtype)


def _sizes(value, dtype, is_turned):
    """(rows, columns) of the matrices, each (n); InvalidArgumentError for a ragged matrix."""
    if is_ragged(value):
        rows = value.row_lengths()
        if is_ragged(value.values):
            columns = _columns(value)
        else:
            columns = array_ops.fill(
                array_ops.stack([value.nrows()]), array_ops.shape(value.values, out_type=dtype)[1]
            )
    else:
        shape = array_ops.shape(value, out_type=dtype)
        rows, columns = (
            array_ops.fill(array_ops.stack([_nrows(value, dtype)]), shape[i]) for i in (1, 2)
        )
    return (columns, rows) if is_turned else (rows, columns)


def _columns(value):
    """How long the rows of each matrix are, which is one number."""
    of_rows = value.with_values(value.values.row_lengths())
    ids = of_rows.value_rowids()
    longest = segment_ops.unsorted_segment_max(of_rows.values, ids, of_rows.nrows())
    longest = math_ops.maximum(longest, 0)  # of a matrix without rows
    check = check_ops.assert_equal(
        array_ops.gather(longest, ids),
        of_rows.values,
        message="matmul: the rows of a matrix are not equally long",
    )
    with control_dependencies([] if check is None else [check]):
        return array_ops.identity(longest)
