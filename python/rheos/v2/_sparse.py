"""Sparse tensors in TensorFlow 2's form."""

from rheos.framework import dtypes
from rheos.framework.graph import control_dependencies
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import sparse_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops
from rheos.ops.math.statistics_ops import count_each
from rheos.v2._forms import form

cross = form(sparse_ops.sparse_cross, "inputs, name=None, separator=None", separator=None)
split = form(sparse_ops.sparse_split, "sp_input=None, num_split=None, axis=None, name=None")


def add(a, b, threshold=0):
    """The sum of two tensors of one shape, at least one of them sparse.

    Of two sparse ones a sparse tensor, without the sums below `threshold` in magnitude; else a
    dense tensor.
    """
    return sparse_ops.sparse_add(a, b, threshold)


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors one behind the other along `axis`.

    Their other dimensions are the same, or with `expand_nonconcat_dims` grow to the largest.
    """
    return sparse_ops.sparse_concat(axis, sp_inputs, name, expand_nonconcat_dims)


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The sums over `axis`, by default over all."""
    if output_is_sparse:
        return sparse_ops.sparse_reduce_sum_sparse(sp_input, axis, keepdims)
    return sparse_ops.sparse_reduce_sum(sp_input, axis, keepdims)


def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The largest values over `axis`, by default over all; 0 where a dense result has none."""
    if output_is_sparse:
        return sparse_ops.sparse_reduce_max_sparse(sp_input, axis, keepdims)
    return sparse_ops.sparse_reduce_max(sp_input, axis, keepdims)


def map_values(op, *args, **kwargs):
    """op(...) with the values of each sparse argument, as a sparse tensor with its indices.

    The sparse arguments have equal indices; a step fails if they have not. ValueError without one.
    """
    given = [*args, *kwargs.values()]
    sparse = [value for value in given if isinstance(value, SparseTensor)]
    if not sparse:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = sparse[0]
    checks = [
        control_flow_ops.Assert(
            math_ops.reduce_all(math_ops.equal(mine, theirs)),
            ["the sparse arguments of map_values have other indices or shapes"],
        )
        for other in sparse[1:]
        for mine, theirs in (
            (first.indices, other.indices),
            (first.dense_shape, other.dense_shape),
        )
    ]

    def values(value):
        return value.values if isinstance(value, SparseTensor) else value

    with control_dependencies([check for check in checks if check is not None]):
        made = op(*map(values, args), **{key: values(one) for key, one in kwargs.items()})
    return first.with_values(made)


def bincount(
    values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None
):
    """How often each number is in `values`, or the sum of its weights, as a sparse tensor.

    axis: 0 for all values together, -1 for each row. binary_output: 1 where there are any.
    """
    return count_each(
        values, weights, axis, minlength, maxlength, binary_output, True, name, dtypes.int32
    )
