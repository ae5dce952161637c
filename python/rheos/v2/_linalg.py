"""Functions of matrices in TensorFlow 2's form."""

from rheos.framework import dtypes
from rheos.framework.op_call import op1, runs_op
from rheos.ops.array import cast_ops
from rheos.ops.math import math_ops


@runs_op("MatMul", "a b", (2, 2), "real", transpose_a="transpose_a", transpose_b="transpose_b")
@runs_op("BatchMatMulV2", "a b", (2, 8), "real", adj_x="adjoint_a", adj_y="adjoint_b")
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    grad_a=False,
    grad_b=False,
    name=None,
):
    """The product of matrices, or of batches of them.

    >>> print(tf.matmul([[1, 2], [3, 4]], [[1, 0], [1, 1]]).numpy())
    [[3 2]
     [7 4]]
    """
    if output_type is not None:  # in which it is computed
        a, b = cast_ops.cast(a, output_type), cast_ops.cast(b, output_type)
    return math_ops.matmul(
        a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, name
    )


def _padding_of(tensor, value):
    """What fills the rest beside diagonals: of booleans any number is one."""
    is_boolean = getattr(tensor, "dtype", None) == dtypes.bool
    return bool(value) if is_boolean and isinstance(value, (int, float)) else value


def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with these diagonals.

    >>> print(tf.linalg.diag([1, 2]).numpy())
    [[1 0]
     [0 2]]
    """
    padding_value = _padding_of(diagonal, padding_value)
    return op1("MatrixDiagV3", name, diagonal, k, num_rows, num_cols, padding_value, align=align)


def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of matrices."""
    padding_value = _padding_of(input, padding_value)
    return op1("MatrixDiagPartV3", name, input, k, padding_value, align=align)


def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """The matrices with other diagonals."""
    return op1("MatrixSetDiagV3", name, input, diagonal, k, align=align)
