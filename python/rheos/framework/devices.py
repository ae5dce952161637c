"""The devices that contexts of a graph say, and what they give operations."""

from rheos.framework.device_spec import DeviceSpec
from rheos.framework.errors import InvalidArgumentError

_there = None  # a function that names the devices that there are; None: any may be asked for


def insist_on_devices(list_names):
    """Has eager programs fail where they ask for another device than list_names() has, in full;
    None lets them ask for any."""
    global _there
    _there = list_names


def _check_is_there(devices):
    """InvalidArgumentError unless a device fits what these contexts ask for together."""
    names = _there()
    device = ""
    for entry in reversed(devices):
        if not callable(entry):
            device = _merged_device(entry, device)
    wanted = DeviceSpec.from_string(names[0]).make_merged_spec(DeviceSpec.from_string(device))
    if wanted.device_index is None:
        wanted = wanted.replace(device_index=0)
    if device and wanted.to_string() not in names:
        kinds = ", ".join(sorted({DeviceSpec.from_string(name).device_type for name in names}))
        raise InvalidArgumentError(
            None,
            None,
            f"Could not satisfy device specification '{wanted.to_string()}'. "
            f"enable_soft_placement=0. Supported device types [{kinds}]. All available devices "
            f"[{', '.join(names)}].",
        )


class PendingOperation:
    """What a function for a caching device sees of the copy that is about to be made."""

    def __init__(self, op_type, name, graph):
        self.type = op_type
        self.name = name
        self.graph = graph
        self.device = ""
        self.inputs = ()
        self.outputs = []

    @property
    def node_def(self):
        return self

    @property
    def op(self):
        return self.type

    def _set_device(self, device):
        self.device = device


class _Device:
    """`with device(...)`: a device string, a function of operations, or None."""

    __slots__ = ("_graph", "_device", "_is_function", "_outer")

    def __init__(self, graph, device):
        self._graph = graph
        self._is_function = callable(device) and not isinstance(device, str)
        if not self._is_function and device is not None:
            device = device.to_string() if hasattr(device, "to_string") else str(device)
            if graph._is_eager:
                DeviceSpec.from_string(device)  # ValueError, which graphs leave to sessions
        self._device = device

    def __enter__(self):
        graph = self._graph
        self._outer = graph._devices
        devices = [] if self._device is None else [*self._outer, self._device]
        if _there is not None and graph._is_eager:
            _check_is_there(devices)
        if not self._is_function:
            graph._push_device(self._device)
        graph._set_devices(devices)

    def __exit__(self, *exc_info):
        if not self._is_function:
            self._graph._pop()
        self._graph._set_devices(self._outer)


class _Colocated:
    """`with colocate_with(...)`: devices around it are not asked for inside."""

    __slots__ = ("_graph", "_operation", "_outer")

    def __init__(self, graph, operation):
        self._graph = graph
        self._operation = operation

    def __enter__(self):
        graph = self._graph
        graph._push_colocation(self._operation)
        self._outer = graph._devices
        graph._set_devices([])

    def __exit__(self, *exc_info):
        self._graph._pop()
        self._graph._set_devices(self._outer)


def _merged_device(outer, inner):
    """The device that both ask for, `inner` first."""
    device = DeviceSpec.from_string(outer)
    device.merge_from(DeviceSpec.from_string(inner))
    return device.to_string()


def full_device(devices, default):
    """The full name of the device that contexts ask for, outermost first: what they do not say is
    the default's."""
    for device in devices:
        if not callable(device):
            default = _merged_device(default, device)
    return default


def _apply_devices(devices, operation):
    """Gives the operation the device that the contexts say, from the innermost to the outermost: a
    string says what is not said yet, a function's answer takes the place of what was said."""
    for entry in reversed(devices):
        if callable(entry):
            device = entry(operation)
            device = device.to_string() if hasattr(device, "to_string") else device
            if not isinstance(device, (str, bytes)):
                raise TypeError(f"Expected binary or unicode string, got {device!r}")
            operation._set_device(device.decode() if isinstance(device, bytes) else device)
        else:
            operation._set_device(_merged_device(entry, operation.device))


def _colocation(operation):
    """What tells the other operations that it has to share a device with."""
    own = b"loc:@" + operation.name.encode()
    return [group for group in operation.colocation_groups() if group != own]


def _take_device_of_variable(operation):
    operation._set_device(_merged_device("", operation.inputs[0].device))


def ask_devices(graph, first, is_one):
    """Gives what was added from operation `first` on the devices that the contexts say."""
    if is_one:
        operation = graph._operation(first)
        device = operation.device
        operation._set_device("")
        _apply_devices(graph._devices, operation)
        if device and _colocation(operation):
            operation._set_device(device)
    else:
        apply_devices_since(graph, first, with_variables=True)


def apply_devices_since(graph, first, with_variables=False):
    """Gives operations from id `first` on the devices that the contexts say, over their own;
    one that is colocated takes the device of what it is colocated with, as `with_variables`
    what initializes a variable that is among them does."""
    colocated, initializing = [], []
    for id in range(first, graph._num_operations()):
        operation = graph._operation(id)
        groups = _colocation(operation)
        if groups:
            operation._set_device("")
            colocated.append((operation, groups))
            continue
        if with_variables and operation.type == "AssignVariableOp":
            initializing.append(operation)
            continue
        if with_variables and operation.type == "ReadVariableOp":
            _take_device_of_variable(operation)
        _apply_devices(graph._devices, operation)
    for operation, groups in colocated:
        others = (graph.get_operation_by_name(group[5:].decode()) for group in groups)
        device = next((other.device for other in others if other.device), None)
        if device:
            operation._set_device(device)
    for operation in initializing:
        _take_device_of_variable(operation)
