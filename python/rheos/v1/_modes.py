"""Switches of TensorFlow 1 that choose what Rheos always does: graphs, with behaviour of 1.x."""

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
disable_control_flow_v2 = _nothing("disable_control_flow_v2", "control flow is that of 1.x")


def control_flow_v2_enabled():
    """Whether control flow is made of functions: never."""
    return False


def get_logger():
    """The logger, of Python's logging, that tf.logging writes to."""
    return python_logger()
