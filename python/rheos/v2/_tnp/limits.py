"""The limits of dtypes, and choices by several conditions."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.array import array_ops, cast_ops, rearrange_ops
from rheos.v2._tnp.arrays import asarray


def finfo(dtype):
    """What NumPy says of the limits of a floating-point dtype."""
    return np.finfo(dtypes.as_dtype(dtype).as_numpy_dtype)


def iinfo(dtype):
    """What NumPy says of the limits of an integer dtype."""
    return np.iinfo(dtypes.as_dtype(dtype).as_numpy_dtype)


def select(condlist, choicelist, default=0):
    """Each element of the first choice whose condition holds there, else `default`."""
    if len(condlist) != len(choicelist):
        raise ValueError("condlist must have length equal to choicelist")
    choices = [asarray(choice) for choice in choicelist]
    of_numpy = [choice.dtype.as_numpy_dtype for choice in choices]
    kind = dtypes.as_dtype(np.result_type(*of_numpy, default))
    made = cast_ops.cast(convert_to_tensor(default), kind)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        condition = cast_ops.cast(convert_to_tensor(condition), dtypes.bool)
        made = rearrange_ops.where_v2(condition, cast_ops.cast(choice, kind), made)
    return made if choices else array_ops.identity(made)
