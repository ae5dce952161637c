"""The devices of a strategy's replicas: their full names, and whether they are there."""

from rheos.framework import config
from rheos.framework.defaults import get_default_graph
from rheos.framework.device_spec import DeviceSpec


def _there(kind):
    return [device.name for device in config.list_logical_devices(kind)]


def _default_devices():
    return _there("GPU") or _there("CPU")


def full_names(devices, job=None, task=0):
    """The full names of devices, by default of all graphics cards, or of all CPUs where there are
    none.

    RuntimeError for kinds of devices that there are not, and for numbers that there are not where
    operations run at once; ValueError for none, AssertionError for one that is there twice.
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
    known = len(_there(kind)) if kind in ("CPU", "GPU") else 0
    is_eager = get_default_graph()._root._is_eager
    if known == 0 or (is_eager and index >= known):
        names = [name.removeprefix("/device:") for name in _there(None)]
        there = f"there are {', '.join(names)}" if len(names) > 1 else "there is one device, CPU:0"
        raise RuntimeError(
            f"Rheos has no device {kind}:{index} for a strategy: {there}. "
            "tf.config.set_logical_device_configuration makes more of one CPU"
        )
    job = spec.job or job or ("localhost" if is_eager else None)
    task = task if spec.task is None else spec.task
    start = f"/job:{job}" if job else ""
    return f"{start}/replica:0/task:{task}/device:{kind}:{index}"
