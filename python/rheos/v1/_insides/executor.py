"""What runs eager operations: tensorflow.python.eager.executor."""

from rheos.framework.eager_context import Executor, new_executor
