"""Exceptions of running a graph."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.errors import *  # noqa: F403
from rheos.framework.errors import (
    error_code_from_exception_type,
    exception_type_from_error_code,
)

del BY_CODE  # noqa: F821

__getattr__ = _attribute_of("tensorflow.errors")
