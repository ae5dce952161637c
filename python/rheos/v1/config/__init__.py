"""Devices, threads, and how functions run."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.config import (
    get_soft_device_placement,
    list_device_names as experimental_list_devices,
    set_soft_device_placement,
)
from rheos.tracing.function import (
    run_functions_eagerly as experimental_run_functions_eagerly,
)
from rheos.v1.config import experimental, optimizer, threading

__getattr__ = _attribute_of("tensorflow.config")
