"""Options of the optimizer of graphs."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.config import (
    get_experimental_options,
    get_jit,
    set_experimental_options,
    set_jit,
)

__getattr__ = _attribute_of("tensorflow.config.optimizer")
