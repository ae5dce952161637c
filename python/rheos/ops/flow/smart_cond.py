"""Branches that the graph decides where it can."""

from rheos.framework.constant_values import constant_value
from rheos.framework.operation import Tensor, _VariableBase
from rheos.ops.flow.control_flow_ops import cond


def known_flag(value):
    """A Python bool of a flag that is one or that the graph tells; else the tensor or variable."""
    if isinstance(value, _VariableBase):
        return value
    if isinstance(value, Tensor):
        known = constant_value(value)
        return value if known is None else bool(known)
    return bool(value)


def smart_constant_value(pred):
    """A flag as a bool: a Python bool, 1 or 0, or a tensor whose value is known; else None.

    TypeError for what is no flag.
    """
    if isinstance(pred, int) and pred in (0, 1):
        return bool(pred)
    if not hasattr(pred, "dtype"):
        raise TypeError(
            "`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: %s" % type(pred)
        )
    known = known_flag(pred)
    return known if isinstance(known, bool) else None


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """What true_fn or false_fn gives, as `pred` says; what cond() gives if that is not known."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()
