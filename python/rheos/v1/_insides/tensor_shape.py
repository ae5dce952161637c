"""Shapes and sizes: tensorflow.python.framework.tensor_shape."""

from rheos.framework.tensor_shape import (
    Dimension,
    TensorShape,
    as_dimension,
    as_shape,
    dimension_value,
    scalar,
    unknown_shape,
)


def vector(length):
    """The shape (length,)."""
    return TensorShape([length])


def matrix(rows, cols):
    """The shape (rows, cols)."""
    return TensorShape([rows, cols])


def dimension_at_index(shape, index):
    """shape[index], a Dimension; an unknown one of a shape of unknown rank."""
    shape = as_shape(shape)
    return Dimension(None) if shape.ndims is None else as_dimension(shape.as_list()[index])
