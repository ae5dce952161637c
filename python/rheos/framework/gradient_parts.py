"""The tensor of a composite value that gradients go to: the flat values of a ragged one."""

from rheos.framework import nest
from rheos.framework.indexed_slices import IndexedSlices
from rheos.framework.ragged import RaggedBase


def tensor_for(value):
    """The tensor of a value; ValueError for composite ones that have no gradients."""
    if isinstance(value, RaggedBase):
        return value.flat_values
    if nest.is_composite(value) and not isinstance(value, IndexedSlices):
        raise ValueError(
            f"Type {type(value).__name__} is not supported as a gradient source or gradient target."
        )
    return value


def tensors_for(values):
    """The tensors of a list of values."""
    return [tensor_for(value) for value in values]


def like(values, tensors):
    """What is like each value, with a tensor in place of its own; None stays."""
    return [
        value.with_flat_values(tensor)
        if isinstance(value, RaggedBase) and tensor is not None
        else tensor
        for value, tensor in zip(values, tensors)
    ]
