"""Eager execution as an object, as tensorflow.python.eager.context has it."""

import contextlib

from rheos import _core
from rheos.framework import config, eager
from rheos.framework.defaults import get_default_graph
from rheos.framework.eager import executing_eagerly, get_eager_graph


class Context:
    """Eager execution of the process."""

    def clear_kernel_cache(self):
        """Forgets the kernels that are kept for operations."""
        if eager.is_set_up():
            _core._clear_kernels()

    def ensure_initialized(self):
        """Makes eager execution ready."""
        get_eager_graph()

    def executing_eagerly(self):
        """Whether operations run at once here."""
        return executing_eagerly()

    def num_gpus(self):
        """How many GPUs operations run on."""
        return len(config.list_logical_devices("GPU"))

    def devices(self):
        """The names of the devices."""
        return [device.name for device in config.list_logical_devices()]

    def sync_executors(self):
        """Waits for operations under way: there are none, each ends before the program goes on."""

    @property
    def device_name(self):
        """The device that is asked for: any."""
        return ""


_context = Context()


def context():
    """Eager execution of the process."""
    return _context


class Executor:
    """What runs operations: at once, one after the other, whatever `is_async` asks for."""

    def __init__(self, is_async=False):
        self._is_async = is_async

    def is_async(self):
        """What was asked for."""
        return self._is_async

    def wait(self):
        """Waits for operations under way: there are none, each ends before the program goes on."""

    def clear_error(self):
        """Forgets errors of operations under way: there are none."""


new_executor = Executor


@contextlib.contextmanager
def executor_scope(executor):
    """A context whose operations this Executor runs."""
    yield


def async_wait():
    """Waits for operations under way: there are none, each ends before the program goes on."""


def eager_mode():
    """A context in which operations run at once."""
    return get_eager_graph().as_default()


def graph_mode():
    """A context in which operations are added to a new graph."""
    return type(get_default_graph()._root)().as_default()


def _reset_context():
    """Makes devices and kernels as they are when the process starts."""
    _context.clear_kernel_cache()
    config.forget_logical_devices()
