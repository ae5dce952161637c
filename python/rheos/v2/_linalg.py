"""Functions of matrices in TensorFlow 2's form."""

from rheos.ops import cast_ops, math_ops


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
    """The product of matrices, or of batches of them."""
    product = math_ops.matmul(
        a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, name
    )
    return product if output_type is None else cast_ops.cast(product, output_type)
