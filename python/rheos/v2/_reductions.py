"""Reductions: (input_tensor, axis, keepdims, name)."""

from rheos.framework import dtypes
from rheos.framework.op_call import runs_op, with_example
from rheos.ops.math import math_ops


def _reduction(function, op_type, doc):
    def reduce(input_tensor, axis=None, keepdims=False, name=None):
        return function(input_tensor, axis=axis, keepdims=keepdims, name=name)

    reduce.__name__ = reduce.__qualname__ = function.__name__
    reduce.__doc__ = doc
    if op_type is None:
        return reduce
    return runs_op(op_type, "input_tensor axis=axes", keep_dims="keepdims")(reduce)


reduce_sum = _reduction(
    math_ops.reduce_sum,
    "Sum",
    with_example(
        "The sum over `axis`; None: all.", "tf.reduce_sum([[1, 2], [3, 4]], axis=1)", "[3 7]"
    ),
)
reduce_mean = _reduction(
    math_ops.reduce_mean,
    "Mean",
    with_example(
        "The mean over `axis`; None: all.",
        "tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=0)",
        "[2. 3.]",
    ),
)
reduce_max = _reduction(
    math_ops.reduce_max,
    "Max",
    with_example(
        "The largest over `axis`; None: all.", "tf.reduce_max([[1, 9], [7, 2]], axis=1)", "[9 7]"
    ),
)
reduce_min = _reduction(
    math_ops.reduce_min,
    "Min",
    with_example(
        "The smallest over `axis`; None: all.", "tf.reduce_min([[1, 9], [7, 2]], axis=0)", "[1 2]"
    ),
)
reduce_prod = _reduction(
    math_ops.reduce_prod,
    "Prod",
    with_example(
        "The product over `axis`; None: all.", "tf.reduce_prod([[1, 2], [3, 4]], axis=1)", "[ 2 12]"
    ),
)
reduce_all = _reduction(
    math_ops.reduce_all,
    "All",
    with_example(
        "Whether all are true over `axis`.",
        "tf.reduce_all([[True, True], [True, False]], axis=1)",
        "[ True False]",
    ),
)
reduce_any = _reduction(
    math_ops.reduce_any,
    "Any",
    with_example(
        "Whether one is true over `axis`.",
        "tf.reduce_any([[True, False], [False, False]], axis=1)",
        "[ True False]",
    ),
)
reduce_logsumexp = _reduction(
    math_ops.reduce_logsumexp,
    None,
    with_example(
        "log(sum(exp(x))) over `axis`.",
        "tf.reduce_logsumexp([[0.0, 0.0], [1000.0, 1000.0]], axis=1)",
        "[6.9314718e-01 1.0006932e+03]",
    ),
)


@runs_op("ArgMax", "input axis=0", output_type="output_type")
def argmax(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the largest along `axis`, by default 0.

    >>> print(tf.argmax([[3, 9, 5], [8, 1, 2]], axis=1).numpy())
    [1 0]
    """
    return math_ops.argmax(input, 0 if axis is None else axis, name, output_type=output_type)


@runs_op("ArgMin", "input axis=0", output_type="output_type")
def argmin(input, axis=None, output_type=dtypes.int64, name=None):
    """The place of the smallest along `axis`, by default 0.

    >>> print(tf.argmin([[3, 9, 5], [8, 1, 2]], axis=1).numpy())
    [0 1]
    """
    return math_ops.argmin(input, 0 if axis is None else axis, name, output_type=output_type)


def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many are not zero over `axis`; None: all.

    >>> print(tf.math.count_nonzero([[0, 3], [4, 5]], axis=1).numpy())
    [1 2]
    """
    return math_ops.count_nonzero(input, axis=axis, keepdims=keepdims, dtype=dtype, name=name)
