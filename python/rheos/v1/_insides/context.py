"""Eager execution as an object: tensorflow.python.eager.context."""

from rheos.framework.defaults import get_default_graph
from rheos.framework.eager_context import (
    Context,
    async_wait,
    context,
    eager_mode,
    executing_eagerly,
    executor_scope,
    graph_mode,
)
from rheos.framework.graph import device

GRAPH_MODE, EAGER_MODE = 0, 1
SYNC, ASYNC = 0, 1
in_eager_mode = executing_eagerly


def global_seed():
    """The seed that operations derive theirs from; None without one."""
    return get_default_graph().seed


def num_gpus():
    """How many GPUs there are: none."""
    return context().num_gpus()


def list_devices():
    """The names of the devices."""
    return context().devices()


def ensure_initialized():
    """Makes eager execution ready."""
    context().ensure_initialized()


def shared_name(name=None):
    """The name by which a resource is shared: of its own where operations run at once."""
    if name or not executing_eagerly():
        return name
    return "cd2c89b7-88b7-44c8-ad83-06c2a9158347"
