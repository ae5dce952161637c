"""What `and`, `or`, `not` and chained comparisons become."""

import operator

from rheos.autograph.values import condition, is_symbolic
from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops

_COMPARISONS = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda value, container: value in container,
    "NotIn": lambda value, container: value not in container,
}


def _flag(value, of):
    """An operand as a boolean tensor."""
    tensor = convert_to_tensor(value)
    if tensor.dtype.base_dtype != dtypes.bool:
        raise TypeError(f"'{of}' of tensors takes tf.bool, got {tensor}")
    return condition(tensor, of)


def _rest(functions, combine):
    """The operands after the first, as a tensor."""
    return lambda: _flag(combine(functions[0](), *functions[1:]), combine.__name__)


def and_(value, *rest):
    """`value and ...`; what follows a tensor is computed where that holds."""
    for index, following in enumerate(rest):
        if is_symbolic(value):
            flag = _flag(value, "and")
            return control_flow_ops.cond(flag, _rest(rest[index:], and_), _identity(flag))
        if not value:
            return value
        value = following()
    return value


def or_(value, *rest):
    """`value or ...`; what follows a tensor is computed where that does not hold."""
    for index, following in enumerate(rest):
        if is_symbolic(value):
            flag = _flag(value, "or")
            return control_flow_ops.cond(flag, _identity(flag), _rest(rest[index:], or_))
        if value:
            return value
        value = following()
    return value


def _identity(value):
    return lambda: value


def not_(value):
    """`not value`."""
    return math_ops.logical_not(value) if is_symbolic(value) else not value


def chain(left, comparison, right, *steps):
    """`left < right < ...`: names of comparisons, and functions that give what follows."""
    result = _COMPARISONS[comparison](left, right)
    if not steps:
        return result
    name, following = steps[:2]
    return and_(result, lambda: chain(right, name, following(), *steps[2:]))
