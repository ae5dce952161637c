"""The devices of a strategy's replicas: their full names, and whether they are there."""

from rheos.framework import config
from rheos.framework.defaults import get_default_graph
from rheos.framework.device_spec import DeviceSpec


def _default_devices():
    return [device.name for device in config.list_logical_devices("CPU")]


def full_names(devices, job=None, task=0):
    """The full names of devices, by default of all CPUs there are.

    RuntimeError for kinds of devices that there are not, and for CPUs that the program did not ask
    for where operations run at once; ValueError for none, AssertionError for one that is there
    twice.
    """
    given = _default_devices() if devices is None else devices
    if isinstance(given, str) or not len(given):
        raise ValueError(f"Got an empty `devices` list, or no list: {devices!r}")
    names = tuple(_full_name(str(device), job, task) for device in given)
    if len(set(names)) < len(names):
        raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
    return names


def _full_name(device, job, task):
    spec = DeviceSpec.from_string(device if "/" in device else f"/device:{device}")
    kind, index = (spec.device_type or "CPU").upper(), spec.device_index or 0
    known = len(_default_devices())
    is_eager = get_default_graph()._root._is_eager
    is_missing = is_eager and index >= known
    if kind != "CPU" or is_missing:
        there = f"there are CPU:0 to CPU:{known - 1}" if known > 1 else "there is one device, CPU:0"
        raise RuntimeError(
            f"Rheos has no device {kind}:{index} for a strategy: {there}. "
            "tf.config.set_logical_device_configuration makes more of one CPU"
        )
    job = spec.job or job or ("localhost" if is_eager else None)
    task = task if spec.task is None else spec.task
    start = f"/job:{job}" if job else ""
    return f"{start}/replica:0/task:{task}/device:{kind}:{index}"
