"""The seeds of datasets."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import count_operations
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.random.random_ops import get_seed as seeds_of_op


def get_seed(seed):
    """The two seeds, int64 tensors, of an operation with this one: an int, a tensor or None."""
    if isinstance(seed, Tensor):
        first, second = seeds_of_op(0)
        second = seed
    else:
        first, second = seeds_of_op(seed)
    first = 0 if first is None else first
    second = 0 if second is None else second
    first_tensor = convert_to_tensor(first, dtypes.int64, name="seed")
    if not isinstance(second, Tensor):
        # Zeros ask for any seed.
        if (first, second) == (0, 0) and seed is not None:
            second = 2**31 - 1
        if (first, second) != (0, 0):
            count_operations(7)  # a choice by whether both are zero, which is made here already
        return first_tensor, convert_to_tensor(second, dtypes.int64, name="seed2")
    second = math_ops.cast(second, dtypes.int64)
    both = math_ops.logical_and(math_ops.equal(first_tensor, 0), math_ops.equal(second, 0))
    largest = convert_to_tensor(2**31 - 1, dtypes.int64)
    return first_tensor, array_ops.where(both, largest, second, name="seed2")
