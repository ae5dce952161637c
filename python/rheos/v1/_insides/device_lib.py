"""The devices of this machine: tensorflow.python.client.device_lib."""

import types

from rheos.framework.device_spec import DeviceSpec
from rheos.training.session import Session


def _name_here(name):
    """The name without the task that the device is of."""
    of_none = {"job": None, "replica": None, "task": None}
    return DeviceSpec.from_string(name).replace(**of_none).to_string()


def list_local_devices(session_config=None):
    """One object for each device, with `name`, `device_type` and `memory_limit` in bytes."""
    with Session(config=session_config) as session:
        return [
            types.SimpleNamespace(
                name=_name_here(device.name),
                device_type=device.device_type,
                memory_limit=device.memory_limit_bytes,
                incarnation=device.incarnation,
                locality=None,
                physical_device_desc="",
            )
            for device in session.list_devices()
        ]
