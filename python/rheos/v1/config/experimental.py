"""Devices, as TensorFlow 1.15 has them."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.config import (
    VirtualDeviceConfiguration,
    get_device_policy,
    get_logical_device_configuration as get_virtual_device_configuration,
    get_memory_growth,
    get_synchronous_execution,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_device_policy,
    set_logical_device_configuration as set_virtual_device_configuration,
    set_memory_growth,
    set_synchronous_execution,
    set_visible_devices,
)

__getattr__ = _attribute_of("tensorflow.config.experimental")
