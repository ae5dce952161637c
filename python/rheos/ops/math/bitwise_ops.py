"""Operations on the bits of integers."""

from rheos.framework.op_call import op1
from rheos.framework.ragged import ragged_too


@ragged_too("binary")
def bitwise_and(x, y, name=None):
    """The bits set in both x and y.

    x, y: integers of one dtype, whose shapes broadcast. Returns a tensor of that dtype.

    >>> print(tf.bitwise.bitwise_and([6, 5], [3, 3]).numpy())
    [2 1]
    """
    return op1("BitwiseAnd", name, x, y)


@ragged_too("binary")
def bitwise_or(x, y, name=None):
    """The bits set in x or y.

    x, y: integers of one dtype, whose shapes broadcast. Returns a tensor of that dtype.
    """
    return op1("BitwiseOr", name, x, y)


@ragged_too("binary")
def bitwise_xor(x, y, name=None):
    """The bits in which x and y differ.

    x, y: integers of one dtype, whose shapes broadcast. Returns a tensor of that dtype.
    """
    return op1("BitwiseXor", name, x, y)


@ragged_too("elementwise")
def invert(x, name=None):
    """Every bit of the integers in x turned over; the shape stays."""
    return op1("Invert", name, x)


@ragged_too("binary")
def left_shift(x, y, name=None):
    """x shifted left by y bits.

    x, y: integers of one dtype, whose shapes broadcast. What y below 0, or not below the number of
    bits, gives is not defined, but it is no error.
    """
    return op1("LeftShift", name, x, y)


@ragged_too("binary")
def right_shift(x, y, name=None):
    """x shifted right by y bits; the sign of a signed integer is kept.

    x, y: integers of one dtype, whose shapes broadcast.
    """
    return op1("RightShift", name, x, y)
