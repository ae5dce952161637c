"""Sets in the last dimension of tensors."""

from rheos.v1._names import fill as _fill

_fill(__name__)
