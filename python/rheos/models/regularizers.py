"""Regularizers: functions of a variable that training adds to the loss."""

import math

from rheos.framework import tensor_shape
from rheos.models import objects
from rheos.models.defaults import setting
from rheos.ops.array import rearrange_ops
from rheos.ops.math import math_ops

_regularizer = objects.known("regularizer")


class Regularizer:
    """What every regularizer is: called with a tensor, it gives a loss."""

    def __call__(self, x):
        return 0.0

    def get_config(self):
        """What makes a regularizer like this."""
        raise NotImplementedError(f"{type(self).__name__} does not implement get_config()")

    @classmethod
    def from_config(cls, config):
        """A regularizer like the one whose get_config() this was."""
        return cls(**config)


def _number(value, name):
    value = float(value)
    if math.isnan(value) or math.isinf(value):
        raise ValueError(f"the regularization factor {name} is a finite number, not {value}")
    return setting(value)


@_regularizer
class L1L2(Regularizer):
    """l1 * sum(|x|) + l2 * sum(x ^ 2)."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = _number(0.0 if l1 is None else l1, "l1")
        self.l2 = _number(0.0 if l2 is None else l2, "l2")

    def __call__(self, x):
        loss = 0.0
        if self.l1:
            loss += math_ops.reduce_sum(self.l1 * math_ops.abs(x))
        if self.l2:
            loss += math_ops.reduce_sum(self.l2 * math_ops.square(x))
        if not self.l1 and not self.l2:
            return math_ops.reduce_sum(x) * 0.0
        return loss

    def get_config(self):
        return {"l1": self.l1, "l2": self.l2}


@_regularizer
class L1(Regularizer):
    """l1 * sum(|x|)."""

    def __init__(self, l1=0.01):
        self.l1 = _number(0.01 if l1 is None else l1, "l1")

    def __call__(self, x):
        return self.l1 * math_ops.reduce_sum(math_ops.abs(x))

    def get_config(self):
        return {"l1": self.l1}


@_regularizer
class L2(Regularizer):
    """l2 * sum(x ^ 2)."""

    def __init__(self, l2=0.01):
        self.l2 = _number(0.01 if l2 is None else l2, "l2")

    def __call__(self, x):
        return self.l2 * math_ops.reduce_sum(math_ops.square(x))

    def get_config(self):
        return {"l2": self.l2}


@_regularizer
class OrthogonalRegularizer(Regularizer):
    """How far the rows (or columns) of a matrix are from being orthogonal."""

    def __init__(self, factor=0.01, mode="rows"):
        if mode not in ("rows", "columns"):
            raise ValueError(
                'Invalid value for argument `mode`. Expected one of {"rows", "columns"}. '
                f"Received: mode={mode}"
            )
        self.factor = _number(factor, "factor")
        self.mode = mode

    def __call__(self, inputs):
        if tensor_shape.as_shape(inputs.shape).ndims != 2:
            raise ValueError(f"Inputs to OrthogonalRegularizer must have rank 2. Got: {inputs}")
        axis = 1 if self.mode == "rows" else 0
        x = inputs / math_ops.sqrt(math_ops.reduce_sum(math_ops.square(inputs), axis, True))
        product = math_ops.matmul(x, x, transpose_b=axis == 1, transpose_a=axis == 0)
        size = int(inputs.shape[1 - axis])
        others = product * (1.0 - rearrange_ops.eye(size, dtype=product.dtype))
        pairs = size * (size - 1.0) / 2.0
        return self.factor * 0.5 * math_ops.reduce_sum(math_ops.abs(others)) / pairs

    def get_config(self):
        return {"factor": self.factor, "mode": self.mode}


def l1(l=0.01):  # noqa: E741
    """l * sum(|x|)."""
    return L1L2(l1=l)


def l2(l=0.01):  # noqa: E741
    """l * sum(x ^ 2)."""
    return L1L2(l2=l)


def l1_l2(l1=0.01, l2=0.01):
    """l1 * sum(|x|) + l2 * sum(x ^ 2)."""
    return L1L2(l1=l1, l2=l2)


objects.table("regularizer").update(
    {"l1": l1, "l2": l2, "l1_l2": L1L2, "orthogonal_regularizer": OrthogonalRegularizer}
)


def get(identifier):
    """The regularizer of a name, a configuration or itself."""
    if identifier in ("l1", "l2", "l1_l2") if isinstance(identifier, str) else False:
        return {"l1": l1, "l2": l2, "l1_l2": l1_l2}[identifier]()
    return objects.get("regularizer", identifier)


def serialize(regularizer):
    """What stands for a regularizer."""
    return objects.serialize(regularizer)


def deserialize(config, custom_objects=None):
    """The regularizer that a configuration stands for."""
    return objects.deserialize("regularizer", config, custom_objects)
