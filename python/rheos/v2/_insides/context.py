"""tensorflow.python.eager.context: eager execution as an object."""

from rheos.framework.eager_context import (  # noqa: F401
    Context,
    _reset_context,
    async_wait,
    context,
    eager_mode,
    executing_eagerly,
    executor_scope,
    graph_mode,
)
