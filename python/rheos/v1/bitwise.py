"""Operations on the bits of integers."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.bitwise_ops import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)

__getattr__ = _attribute_of("tensorflow.bitwise")
