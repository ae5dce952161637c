"""Sets in the last dimension of tensors."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.sets_impl import (
    set_difference,
    set_difference as difference,
    set_intersection,
    set_intersection as intersection,
    set_size,
    set_size as size,
    set_union,
    set_union as union,
)

__getattr__ = _attribute_of("tensorflow.sets")
