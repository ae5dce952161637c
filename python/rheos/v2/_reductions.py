"""Reductions: (input_tensor, axis, keepdims, name)."""

from rheos.framework import dtypes
from rheos.ops import math_ops


def _reduction(function, doc):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        return function(input_tensor, axis=axis, keepdims=keepdims, name=name)

    reduce.__name__ = reduce.__qualname__ = function.__name__
    reduce.__doc__ = doc
    return reduce


reduce_sum = _reduction(math_ops.reduce_sum, "The sum over `axis`, by default over all.")
reduce_mean = _reduction(math_ops.reduce_mean, "The mean over `axis`, by default over all.")
reduce_max = _reduction(math_ops.reduce_max, "The largest over `axis`, by default over all.")
reduce_min = _reduction(math_ops.reduce_min, "The smallest over `axis`, by default over all.")
reduce_prod = _reduction(math_ops.reduce_prod, "The product over `axis`, by default over all.")
reduce_all = _reduction(math_ops.reduce_all, "Whether all are true over `axis`.")
reduce_any = _reduction(math_ops.reduce_any, "Whether one is true over `axis`.")
reduce_logsumexp = _reduction(math_ops.reduce_logsumexp, "log(sum(exp(x))) over `axis`.")


def argmax(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the largest along `axis`, by default 0."""
    return math_ops.argmax(input, 0 if axis is None else axis, name, output_type=output_type)


def argmin(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the smallest along `axis`, by default 0."""
    return math_ops.argmin(input, 0 if axis is None else axis, name, output_type=output_type)


def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many are not zero over `axis`, by default over all."""
    return math_ops.count_nonzero(input, axis=axis, keepdims=keepdims, dtype=dtype, name=name)
