"""tf.config: devices, threads, and how functions run. The devices are the CPU, which a program may
see as several, and the graphics cards that OpenCL finds."""

from collections import namedtuple

from rheos import _core
from rheos.framework import eager
from rheos.framework.devices import insist_on_devices

PhysicalDevice = namedtuple("PhysicalDevice", "name device_type")
LogicalDevice = namedtuple("LogicalDevice", "name device_type")

_hidden = set()  # names of cards
_growth = {}
_settings = {"intra": 0, "inter": 0, "soft": True, "deterministic": False, "log_placement": False}


def list_physical_devices(device_type=None):
    """The devices of the machine of that type, by default all."""
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    if device_type != "CPU":  # to look for cards may load drivers
        cards = range(len(_core.graphics_cards()))
        found += [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in cards]
    return [d for d in found if device_type in (None, d.device_type)]


def list_logical_devices(device_type=None):
    """The devices that operations run on."""
    parts = max([1, *(len(p) for d, p in _logical.items() if d.device_type == "CPU")])
    found = [LogicalDevice(f"/device:CPU:{i}", "CPU") for i in range(parts)]
    if device_type != "CPU":
        found += [LogicalDevice(f"/device:GPU:{i}", "GPU") for i in range(len(_gpu_devices()))]
    return [d for d in found if device_type in (None, d.device_type)]


def _card_of(device):
    """The number that a physical device has among the cards."""
    return int(device.name.rpartition(":")[2])


def _gpu_devices():
    """What the GPUs of a program are: pairs of a card and the bytes that it may give, 0 for all."""
    pairs = []
    for device in get_visible_devices("GPU"):
        parts = _logical.get(device) or [LogicalDeviceConfiguration()]
        pairs += [(_card_of(device), int((part.memory_limit or 0) * 2**20)) for part in parts]
    return pairs


def list_device_names():
    """The full names of the devices that operations run on."""
    task = eager.device_name().rpartition("/")[0]
    return [task + device.name for device in list_logical_devices()]


def get_visible_devices(device_type=None):
    """The devices that are used: all, but for cards that the program does without."""
    found = list_physical_devices(device_type)
    return [d for d in found if d.device_type != "GPU" or d.name not in _hidden]


def set_visible_devices(devices, device_type=None):
    """Says which devices are used, before the first operation runs. The CPU always is."""
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for device in wanted:
        if device not in list_physical_devices():
            raise ValueError(f"Unrecognized device: {device!r}")
        if device_type not in (None, device.device_type):
            raise ValueError(f"{device!r} is not of type {device_type}")
    if device_type in (None, "GPU"):
        names = {device.name for device in wanted}
        hidden = {d.name for d in list_physical_devices("GPU") if d.name not in names}
        _change_cards(lambda: (_hidden.clear(), _hidden.update(hidden)))


def _change_cards(change):
    """Changes what the GPUs are, which they can be only before the first operation runs."""
    if not list_physical_devices("GPU"):
        return change()
    kept = set(_hidden), dict(_logical)
    change()
    try:
        eager.set_gpu_devices(_gpu_devices())
    except RuntimeError:
        _hidden.clear()
        _logical.clear()
        _hidden.update(kept[0])
        _logical.update(kept[1])
        raise


def _set_threads(kind, number):
    if _core._eager_was_used():
        raise RuntimeError(f"{kind} op parallelism cannot be modified after initialization.")


class threading:
    """How many threads operations may use."""

    @staticmethod
    def get_intra_op_parallelism_threads():
        """Threads within an operation; 0: one for each core."""
        return _settings["intra"]

    @staticmethod
    def set_intra_op_parallelism_threads(num_threads):
        """Sets the threads within an operation, before the first operation runs."""
        _set_threads("Intra", num_threads)
        _settings["intra"] = num_threads
        eager.set_num_threads(num_threads)

    @staticmethod
    def get_inter_op_parallelism_threads():
        """Threads between operations."""
        return _settings["inter"]

    @staticmethod
    def set_inter_op_parallelism_threads(num_threads):
        """Sets the threads between operations, before the first operation runs."""
        _set_threads("Inter", num_threads)
        _settings["inter"] = num_threads


def forget_logical_devices():
    """Forgets what was said about devices."""
    _logical.clear()


LogicalDeviceConfiguration = namedtuple(
    "LogicalDeviceConfiguration",
    "memory_limit experimental_priority experimental_device_ordinal",
    defaults=(None, None, 0),
)
_logical = {}


def set_logical_device_configuration(device, logical_devices):
    """Says how many devices a program sees a device as, which the replicas of strategies are on.

    Operations that run at once are run by the same CPU on each of its own. Those of a card are
    devices by themselves, each with `memory_limit` MB of it; it is said before the first operation
    runs.
    """
    parts = list(logical_devices)
    if device.device_type == "GPU":
        if _growth.get(device):
            raise ValueError("Cannot set memory growth on device when virtual devices configured")
        _change_cards(lambda: _logical.__setitem__(device, parts))
        return
    if any(one.memory_limit is not None for one in parts):
        raise ValueError("Setting memory limit on CPU is currently not supported")
    _logical[device] = parts


def get_logical_device_configuration(device):
    """How a device is shared out; None if nothing was said."""
    return _logical.get(device)


def get_build_info():
    """What this build has: no CUDA, no ROCm, no TensorRT."""
    return {
        "is_cuda_build": False,
        "is_rocm_build": False,
        "is_tensorrt_build": False,
        "msvcp_dll_names": "",
    }


def get_soft_device_placement():
    """Whether an operation may run elsewhere than was asked for."""
    return _settings["soft"]


def set_soft_device_placement(enabled):
    """Says whether an operation may run elsewhere than was asked for.

    If not, `tf.device` of a device that is not there is an InvalidArgumentError in eager programs.
    """
    _settings["soft"] = bool(enabled)
    insist_on_devices(None if enabled else list_device_names)


def disable_op_determinism():
    """Nothing: operations give the same bits each time."""
    _settings["deterministic"] = False


def is_op_determinism_enabled():
    """Whether enable_op_determinism() was called last."""
    return _settings["deterministic"]


def enable_op_determinism():
    """Nothing: operations give the same bits each time."""
    _settings["deterministic"] = True


def get_memory_growth(device):
    """What set_memory_growth() was told of a card; False at first, and of the CPU."""
    return _growth.get(device, False)


def set_memory_growth(device, enable):
    """Says whether a card's memory is taken as it is needed, which it always is."""
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on devices that are no GPUs")
    if enable and _logical.get(device):
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    _growth[device] = bool(enable)


# ---- What TensorFlow 2 has under tf.config.experimental

VirtualDeviceConfiguration = LogicalDeviceConfiguration
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")
_experimental = {"policy": "silent", "synchronous": True, "tf32": True}


def get_device_details(device):
    """What is known of a device of the machine beside its name: of a CPU nothing, of a card what
    its driver calls it."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device}")
    if device.device_type == "GPU":
        return {"device_name": _core.graphics_cards()[_card_of(device)]}
    return {}


def _check_device(device):
    kind, colon, number = str(device).rpartition(":")
    if not colon or not number.isdigit():
        raise ValueError(
            f"Failed parsing device name: {device!r}. Note a valid device string should at least "
            'contain a device type and a device index, like "GPU:0".'
        )
    name = f"{kind.rpartition(':')[2].rpartition('/')[2].upper()}:{number}"
    if f"/device:{name}" not in [one.name for one in list_logical_devices()]:
        raise ValueError(f"No matching devices found for {device!r}")
    return name


def _memory_use(device, resets):
    name = _check_device(device)
    if not name.startswith("GPU"):
        return 0, 0
    task = eager.device_name().rpartition("/")[0]
    return _core._memory_use(f"{task}/device:{name}", resets)


def get_memory_info(device):
    """Bytes in use and the most that were, of what runs at once; counted of GPUs only."""
    current, peak = _memory_use(device, False)
    return {"current": current, "peak": peak}


def get_memory_usage(device):
    """The bytes in use of a device, which are counted of GPUs only."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device):
    """Counts the peak of a device's memory from here."""
    _memory_use(device, True)


def get_synchronous_execution():
    """What set_synchronous_execution() was told; True at first."""
    return _experimental["synchronous"]


def set_synchronous_execution(enable):
    """Says whether an operation may go on after its call; none does."""
    _experimental["synchronous"] = bool(enable)


def get_device_policy():
    """What set_device_policy() was told; "silent" at first."""
    return _experimental["policy"]


def set_device_policy(device_policy):
    """Says what happens to inputs on another device, of which there is none."""
    policy = "silent" if device_policy is None else device_policy
    if policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. It is one of "
            + ", ".join(map(repr, _POLICIES))
        )
    _experimental["policy"] = policy


def tensor_float_32_execution_enabled():
    """What enable_tensor_float_32_execution() was told; True at first."""
    return _experimental["tf32"]


def enable_tensor_float_32_execution(enabled):
    """Says whether products on GPUs may use fewer bits."""
    _experimental["tf32"] = bool(enabled)


def enable_mlir_bridge():
    """Nothing: no graph is compiled by MLIR."""


def disable_mlir_bridge():
    """Nothing: no graph is compiled by MLIR."""


def get_log_device_placement():
    """What set_log_device_placement() was told; False at first."""
    return _settings["log_placement"]


def set_log_device_placement(enabled):
    """Says whether the device of each operation is logged. All run on one, so nothing is."""
    _settings["log_placement"] = bool(enabled)


# ---- Options of TensorFlow's optimizer of graphs, which a program may set and ask for


_optimizer = {"jit": "", "options": {}}


def get_experimental_options():
    """The options of graphs that the program set."""
    return dict(_optimizer["options"])


def set_experimental_options(options):
    """Keeps options by name. They change nothing: what is run keeps the bits with and without."""
    if not isinstance(options, dict):
        raise TypeError(f"options must be a dict, got {options!r}")
    _optimizer["options"].update(options)


def get_jit():
    """What set_jit() was told; "" at first."""
    return _optimizer["jit"]


def set_jit(enabled):
    """Takes "autoclustering", True or False; it changes nothing."""
    known = {True: "autoclustering", False: "", "": "", "autoclustering": "autoclustering"}
    if enabled not in known:
        raise ValueError(f"set_jit() takes a bool, '' or 'autoclustering', got {enabled!r}")
    _optimizer["jit"] = known[enabled]
