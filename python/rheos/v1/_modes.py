"""Switches of TensorFlow 1 that choose what Rheos always does: graphs, with behaviour of 1.x."""

from rheos.framework.defaults import set_control_flow_v2
from rheos.framework.logging import python_logger


def executing_eagerly():
    """Whether operations run as they are made: never."""
    return False


def _nothing(name, what):
    def function():
        return None

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Does nothing: {what}."
    return function


disable_eager_execution = _nothing("disable_eager_execution", "operations only make graphs")
disable_v2_behavior = _nothing("disable_v2_behavior", "the behaviour is that of 1.x")
disable_v2_tensorshape = _nothing("disable_v2_tensorshape", "dimensions are Dimension objects")
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
