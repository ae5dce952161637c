"""Variables behind handles: tensorflow.python.ops.resource_variable_ops."""

from rheos.ops.state.resource_variables import ResourceVariable


def is_resource_variable(var):
    """Whether something is a variable behind a handle."""
    return isinstance(var, ResourceVariable)
