"""Switches of TensorFlow 1 between graphs and eager execution, and of other behaviour of 2.x."""

from rheos.framework import eager
from rheos.framework.defaults import has_operations, set_control_flow_v2
from rheos.framework.eager import disable_eager_execution, executing_eagerly
from rheos.framework.logging import python_logger
from rheos.framework.tensor_shape import disable_v2_tensorshape, enable_v2_tensorshape
from rheos.ops.state import eager_variables  # noqa: F401


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Has operations run at once from now on; the arguments choose nothing.

    ValueError if the program has put operations in the graph of the process.
    """
    if has_operations():
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    eager.enable_eager_execution()


def enable_v2_behavior():
    """Has operations run at once, shapes give int, and makes branches and loops functions."""
    enable_eager_execution()
    enable_v2_tensorshape()
    set_control_flow_v2(True)


def disable_v2_behavior():
    """Has operations make a graph, whose branches and loops are the nodes of 1.x."""
    disable_eager_execution()
    disable_v2_tensorshape()
    set_control_flow_v2(False)


def _nothing(name, what):
    def function():
        return None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Does nothing: {what}."
    return function


enable_tensor_equality = _nothing("enable_tensor_equality", "eager tensors compare by value")
disable_tensor_equality = _nothing("disable_tensor_equality", "== compares tensor objects")


def enable_control_flow_v2():
    """Makes branches and loops functions from now on: If, Case and While."""
    set_control_flow_v2(True)


def disable_control_flow_v2():
    """Makes branches and loops the nodes of 1.x from now on, but for those inside of functions."""
    set_control_flow_v2(False)


def get_logger():
    """The logger, of Python's logging, that tf.logging writes to."""
    return python_logger()
