"""Reductions: (input_tensor, axis, keepdims, name)."""

from rheos.framework import dtypes
from rheos.framework.op_call import runs_op
from rheos.ops.math import math_ops


def _reduction(function, op_type, doc):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        return function(input_tensor, axis=axis, keepdims=keepdims, name=name)

    reduce.__name__ = reduce.__qualname__ = function.__name__
    reduce.__doc__ = doc
    if op_type is None:
        return reduce
    return runs_op(op_type, "input_tensor axis=axes", keep_dims="keepdims")(reduce)


reduce_sum = _reduction(math_ops.reduce_sum, "Sum", "The sum over `axis`; None: all.")
reduce_mean = _reduction(math_ops.reduce_mean, "Mean", "The mean over `axis`; None: all.")
reduce_max = _reduction(math_ops.reduce_max, "Max", "The largest over `axis`; None: all.")
reduce_min = _reduction(math_ops.reduce_min, "Min", "The smallest over `axis`; None: all.")
reduce_prod = _reduction(math_ops.reduce_prod, "Prod", "The product over `axis`; None: all.")
reduce_all = _reduction(math_ops.reduce_all, "All", "Whether all are true over `axis`.")
reduce_any = _reduction(math_ops.reduce_any, "Any", "Whether one is true over `axis`.")
reduce_logsumexp = _reduction(math_ops.reduce_logsumexp, None, "log(sum(exp(x))) over `axis`.")


@runs_op("ArgMax", "input axis=0", output_type="output_type")
def argmax(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the largest along `axis`, by default 0."""
    return math_ops.argmax(input, 0 if axis is None else axis, name, output_type=output_type)


@runs_op("ArgMin", "input axis=0", output_type="output_type")
def argmin(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the smallest along `axis`, by default 0."""
    return math_ops.argmin(input, 0 if axis is None else axis, name, output_type=output_type)


def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many are not zero over `axis`; None: all."""
    return math_ops.count_nonzero(input, axis=axis, keepdims=keepdims, dtype=dtype, name=name)
