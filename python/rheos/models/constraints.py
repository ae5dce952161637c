"""Constraints: what variables are set to after each update, of what the update made."""

from rheos.models import objects
from rheos.ops.math import clip_ops, math_ops

_constraint = objects.known("constraint")
_SMALL = 1e-7


class Constraint:
    """What every constraint is: called with a variable, it gives what that is set to."""

    def __call__(self, w):
        return w

    def get_config(self):
        """What makes a constraint like this."""
        return {}

    @classmethod
    def from_config(cls, config):
        """A constraint like the one whose get_config() this was."""
        return cls(**config)


def _norms(w, axis):
    return math_ops.sqrt(math_ops.reduce_sum(math_ops.square(w), axis=axis, keepdims=True))


@_constraint("max_norm")
class MaxNorm(Constraint):
    """Norms along an axis of at most `max_value`."""

    def __init__(self, max_value=2, axis=0):
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w):
        norms = _norms(w, self.axis)
        wanted = clip_ops.clip_by_value(norms, 0.0, float(self.max_value))
        return w * (wanted / (_SMALL + norms))

    def get_config(self):
        return {"max_value": self.max_value, "axis": self.axis}


@_constraint("non_neg")
class NonNeg(Constraint):
    """Nothing negative."""

    def __call__(self, w):
        return w * math_ops.cast(math_ops.greater_equal(w, 0.0), w.dtype.base_dtype)


@_constraint("unit_norm")
class UnitNorm(Constraint):
    """Norms of 1 along an axis."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (_SMALL + _norms(w, self.axis))

    def get_config(self):
        return {"axis": self.axis}


@_constraint("min_max_norm")
class MinMaxNorm(Constraint):
    """Norms along an axis that go towards a range, by `rate` at a time."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w):
        norms = _norms(w, self.axis)
        clipped = clip_ops.clip_by_value(norms, float(self.min_value), float(self.max_value))
        wanted = self.rate * clipped + (1 - self.rate) * norms
        return w * (wanted / (_SMALL + norms))

    def get_config(self):
        return {
            "min_value": self.min_value,
            "max_value": self.max_value,
            "rate": self.rate,
            "axis": self.axis,
        }


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm


def get(identifier):
    """The constraint of a name, a configuration or itself."""
    return objects.get("constraint", identifier)


def serialize(constraint):
    """What stands for a constraint."""
    return objects.serialize(constraint)


def deserialize(config, custom_objects=None):
    """The constraint that a configuration stands for."""
    return objects.deserialize("constraint", config, custom_objects)
