"""The devices of this machine: tensorflow.python.client.device_lib."""

import types

from rheos.training.session import Session


def list_local_devices(session_config=None):
    """One object for each device, with `name`, `device_type` and `memory_limit` in bytes."""
    with Session(config=session_config) as session:
        return [
            types.SimpleNamespace(
                name=device.name.replace("/job:localhost/replica:0/task:0", ""),
                device_type=device.device_type,
                memory_limit=device.memory_limit_bytes,
                incarnation=0,
                locality=None,
                physical_device_desc="",
            )
            for device in session.list_devices()
        ]
