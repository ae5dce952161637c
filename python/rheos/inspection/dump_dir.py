"""Folders of dumped steps, as tfdbg writes them: their tensors, their nodes, ways between these."""

import collections
import json
import os
import re

import numpy as np

from rheos.framework import messages
from rheos.framework.tensor_proto import make_ndarray

_PREFIX = "_tfdbg_"
_DEVICE = "_tfdbg_device_"
_GRAPH = "_tfdbg_graph_"
_CORE_METADATA = "_tfdbg_core_metadata_"
FETCHES_INFO = "_tfdbg_fetches_info_"
FEED_KEYS_INFO = "_tfdbg_feed_keys_info_"
_FILE_NAME = re.compile(
    r"(?P<node>.+)_(?P<slot>\d+)_(?P<op>[A-Za-z]\w*?)_(?P<time>\d+)(?P<more>-\d+)?$"
)

CoreMetadata = collections.namedtuple(
    "CoreMetadata",
    "global_step session_run_index executor_step_index input_names output_names target_nodes",
)


class InconvertibleTensorProto:
    """A dumped tensor that no array can be made of, such as one that is not initialized."""

    def __init__(self, tensor_proto, initialized=True):
        self._tensor_proto = tensor_proto
        self._initialized = initialized

    def __str__(self):
        return "" if self._initialized else "Uninitialized tensor:\n" + str(self._tensor_proto)

    @property
    def initialized(self):
        """Whether the tensor had a value."""
        return self._initialized


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """No tensor of that name was dumped by that debug op."""


def _read_event(path):
    event = messages.Event()
    with open(path, "rb") as file:
        data = file.read()
    try:
        event.ParseFromString(data)
    except messages.parse_errors()[0] as error:
        raise ValueError(f"{path} is no dumped Event: {error}") from None
    return event


def load_tensor_from_event(event):
    """The array of an Event; an InconvertibleTensorProto where there is none to be made."""
    proto = event.summary.value[0].tensor
    if not proto.tensor_content and not proto.string_val and not any(
        field.name.endswith("_val") for field, _ in proto.ListFields()
    ):
        if proto.dtype == 0 or 0 not in [dim.size for dim in proto.tensor_shape.dim]:
            return InconvertibleTensorProto(proto, initialized=False)
    try:
        return make_ndarray(proto)
    except (TypeError, ValueError, KeyError):
        return InconvertibleTensorProto(proto)


def load_tensor_from_event_file(event_file_path):
    """The array of a dumped file."""
    return load_tensor_from_event(_read_event(event_file_path))


def has_inf_or_nan(datum, tensor):
    """Whether a dumped tensor has a NaN or an infinity: a filter for find()."""
    del datum
    if isinstance(tensor, InconvertibleTensorProto):
        return False
    kind = tensor.dtype.kind
    if kind not in "fc" and tensor.dtype.name != "bfloat16":
        return False
    return bool(not np.isfinite(tensor.astype(np.complex128 if kind == "c" else np.float64)).all())


class DebugTensorDatum:
    """One dumped tensor: a file."""

    def __init__(self, dump_root, debug_dump_rel_path):
        parts = debug_dump_rel_path.split(os.sep)
        found = _FILE_NAME.fullmatch("/".join(parts[1:]))
        if found is None:
            raise ValueError(
                f"{debug_dump_rel_path!r} is not the name of a dumped tensor, which is "
                "<node>_<slot>_<debug op>_<microseconds>"
            )
        self._device_name = device_of_folder(parts[0])
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)
        self._node_name, self._debug_op = found["node"], found["op"]
        self._output_slot, self._timestamp = int(found["slot"]), int(found["time"])
        self._extended_timestamp = found["time"] + (found["more"] or "")
        self._dump_size_bytes = os.path.getsize(self._file_path)

    def __repr__(self):
        return (
            f"{{DebugTensorDatum ({self.device_name}) {self.tensor_name} @ {self.debug_op} @ "
            f"{self.timestamp}}}"
        )

    def get_tensor(self):
        """The array, or an InconvertibleTensorProto."""
        return load_tensor_from_event_file(self._file_path)

    device_name = property(lambda self: self._device_name)
    node_name = property(lambda self: self._node_name)
    output_slot = property(lambda self: self._output_slot)
    debug_op = property(lambda self: self._debug_op)
    tensor_name = property(lambda self: f"{self._node_name}:{self._output_slot}")
    watch_key = property(lambda self: f"{self.tensor_name}:{self._debug_op}")
    file_path = property(lambda self: self._file_path)
    dump_size_bytes = property(lambda self: self._dump_size_bytes)

    @property
    def timestamp(self):
        """Microseconds since 1970."""
        return self._timestamp

    @property
    def extended_timestamp(self):
        """That, with the number of files of the same microsecond."""
        return self._extended_timestamp


def device_of_folder(folder):
    """The device's name: "/job:localhost/..." of "_tfdbg_device_,job_localhost,..."."""
    parts = folder[len(_DEVICE) :].split(",")
    made = []
    for part in parts[1:]:
        if part.startswith("device_"):
            kind, _, number = part[len("device_") :].rpartition("_")
            made.append(f"device:{kind}:{number}")
        else:
            made.append(part.replace("_", ":", 1))
    return "/" + "/".join(made) if made else folder[len(_DEVICE) :]


def _is_debug_node(name):
    return name.startswith(("__copy_", "__dbg_"))


def reconstruct_non_debug_graph_def(debug_graph_def):
    """A GraphDef without the nodes that TensorFlow adds for debugging."""
    made = messages.GraphDef()
    for node in debug_graph_def.node:
        if _is_debug_node(node.name):
            continue
        kept = made.node.add()
        kept.CopyFrom(node)
        del kept.input[:]
        for name in node.input:
            kept.input.append(_without_copy(name))
    return made


def _without_copy(name):
    """The input that a node of TensorFlow has by way of a copy for debugging."""
    if not name.startswith("__copy_"):
        return name
    node, _, slot = name.partition(":")[0][len("__copy_") :].rpartition("_")
    return f"{node}:{slot}" if slot != "0" else node


class _Graph:
    """The nodes of one device."""

    def __init__(self, graph_def):
        self.graph_def = reconstruct_non_debug_graph_def(graph_def)
        self.nodes = {node.name: node for node in self.graph_def.node}
        self.inputs, self.controls = {}, {}
        self.recipients, self.control_recipients = {}, {}
        for name, node in self.nodes.items():
            plain = [i for i in node.input if not i.startswith("^")]
            self.inputs[name] = [i[: -len(":0")] if i.endswith(":0") else i for i in plain]
            self.controls[name] = [i[1:] for i in node.input if i.startswith("^")]
            for taken in plain:
                self._note(self.recipients, taken.partition(":")[0], name)
            for taken in self.controls[name]:
                self._note(self.control_recipients, taken, name)

    @staticmethod
    def _note(table, key, name):
        names = table.setdefault(key, [])
        if name not in names:
            names.append(name)


class DebugDumpDir:
    """A folder that a step was dumped to.

    dump_root: the folder; OSError if there is none. partition_graphs: GraphDefs, in place of those
    in the folder. validate: whether a dumped tensor of a node that no graph has is a ValueError.
    """

    def __init__(self, dump_root, partition_graphs=None, validate=True):
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._dump_root = dump_root
        self._python_graph, self._lines = None, {}
        self._data, graphs = {}, {}
        for folder in sorted(os.listdir(dump_root)):
            if folder.startswith(_DEVICE):
                self._load_device(folder, graphs)
        self._load_graphs(partition_graphs, graphs)
        self._by_key = {d: self._keyed(data) for d, data in self._data.items()}
        metadata = [CoreMetadata(**json.loads(t)) for t in self._messages(_CORE_METADATA)]
        self._core_metadata = metadata[0] if len(metadata) == 1 else metadata
        self._fetches_info, self._feed_keys_info = map(
            self._messages, (FETCHES_INFO, FEED_KEYS_INFO)
        )
        if validate:
            self._check_nodes()

    def _load_device(self, folder, graphs):
        device = device_of_folder(folder)
        data = self._data.setdefault(device, [])
        for root, _, names in os.walk(os.path.join(self._dump_root, folder)):
            for name in sorted(names):
                path = os.path.join(root, name)
                if name.startswith(_GRAPH):
                    graph_def = messages.GraphDef.FromString(_read_event(path).graph_def)
                    graphs.setdefault(device, graph_def)
                elif not name.startswith(_PREFIX):
                    relative = os.path.relpath(path, self._dump_root)
                    data.append(DebugTensorDatum(self._dump_root, relative))
        data.sort(key=lambda datum: (datum.timestamp, datum.node_name))

    def _load_graphs(self, partition_graphs, graphs):
        if partition_graphs:
            graphs = {}
            for graph_def in partition_graphs:
                devices = [node.device for node in graph_def.node if node.device]
                graphs[devices[0] if devices else next(iter(self._data), "")] = graph_def
        self._graphs = {device: _Graph(graph_def) for device, graph_def in graphs.items()}

    @staticmethod
    def _keyed(data):
        keyed = {}
        for datum in data:
            keyed.setdefault(datum.watch_key, []).append(datum)
        return keyed

    def _messages(self, prefix):
        return [
            _read_event(os.path.join(self._dump_root, name)).log_message.message
            for name in sorted(os.listdir(self._dump_root))
            if name.startswith(prefix)
        ]

    def _check_nodes(self):
        for device, graph in self._graphs.items():
            for datum in self._data.get(device, ()):
                if datum.node_name not in graph.nodes:
                    raise ValueError(
                        f"Node name '{datum.node_name}' is not found in partition graphs of device "
                        f"{device}."
                    )

    # ---- Data

    @property
    def dumped_tensor_data(self):
        """All DebugTensorDatum, in the order of their times within a device."""
        return [datum for data in self._data.values() for datum in data]

    @property
    def size(self):
        """How many there are."""
        return sum(map(len, self._data.values()))

    @property
    def t0(self):
        """The first time stamp of all, in microseconds; None without data."""
        return min((d.timestamp for d in self.dumped_tensor_data), default=None)

    @property
    def core_metadata(self):
        """A CoreMetadata; a list of them where the folder has those of several runs."""
        return self._core_metadata

    @property
    def run_fetches_info(self):
        """What was fetched, as text; a list where there is not one."""
        return self._fetches_info[0] if len(self._fetches_info) == 1 else self._fetches_info

    @property
    def run_feed_keys_info(self):
        """What was fed, as text; a list where there is not one."""
        infos = self._feed_keys_info
        return infos[0] if len(infos) == 1 else infos

    def watch_key_to_data(self, debug_watch_key, device_name=None):
        """The DebugTensorDatum of "node:slot:debug op"; [] if there is none."""
        devices = [device_name] if device_name else list(self._by_key)
        found = [self._by_key.get(d, {}).get(debug_watch_key, []) for d in devices]
        return [datum for data in found for datum in data]

    def debug_watch_keys(self, node_name, device_name=None):
        """The keys of what was dumped of a node; [] if nothing was."""
        devices = [device_name] if device_name else list(self._by_key)
        keys = [key for d in devices for key in self._by_key.get(d, ())]
        return list(dict.fromkeys(k for k in keys if k.rsplit(":", 2)[0] == node_name))

    def _data_of(self, node_name, output_slot, debug_op, device_name):
        key = f"{node_name}:{output_slot}:{debug_op}"
        found = self.watch_key_to_data(key, device_name)
        if not found:
            device = device_name or (next(iter(self._data), None) if len(self._data) == 1 else None)
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device}'
            )
        return found

    def get_tensors(self, node_name, output_slot, debug_op, device_name=None):
        """The arrays of an output in the order of their times: several of what is in a loop."""
        data = self._data_of(node_name, output_slot, debug_op, device_name)
        return [d.get_tensor() for d in data]

    def get_tensor_file_paths(self, node_name, output_slot, debug_op, device_name=None):
        """Their files."""
        return [d.file_path for d in self._data_of(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(self, node_name, output_slot, debug_op, device_name=None):
        """Microseconds since t0."""
        data = self._data_of(node_name, output_slot, debug_op, device_name)
        return [d.timestamp - self.t0 for d in data]

    def get_dump_sizes_bytes(self, node_name, output_slot, debug_op, device_name=None):
        """The sizes of their files."""
        data = self._data_of(node_name, output_slot, debug_op, device_name)
        return [d.dump_size_bytes for d in data]

    def find(self, predicate, first_n=0, device_name=None, exclude_node_names=None):
        """The DebugTensorDatum for which predicate(datum, tensor) is true; at most first_n, if any.

        exclude_node_names: a regular expression; what it matches from the beginning is left out.
        """
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found = []
        for datum in self.dumped_tensor_data:
            if device_name and datum.device_name != device_name:
                continue
            if excluded is not None and excluded.match(datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if first_n > 0 and len(found) >= first_n:
                    break
        return found

    # ---- Nodes

    def devices(self):
        """The names of devices that were dumped."""
        return list(self._data)

    def loaded_partition_graphs(self):
        """Whether there are graphs."""
        return bool(self._graphs)

    def partition_graphs(self):
        """The GraphDefs, one for each device; LookupError if there are none."""
        return [graph.graph_def for graph in self._known_graphs(None)]

    def reconstructed_non_debug_partition_graphs(self):
        """{device: GraphDef} without nodes of debugging."""
        return {device: graph.graph_def for device, graph in self._graphs.items()}

    def _known_graphs(self, device_name):
        if not self._graphs:
            raise LookupError("No partition graphs have been loaded.")
        if device_name is None:
            return list(self._graphs.values())
        if device_name not in self._graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        return [self._graphs[device_name]]

    def _graph_of(self, node_name, device_name=None):
        graphs = self._known_graphs(device_name)
        for graph in graphs:
            if node_name in graph.nodes:
                return graph
        raise ValueError(f"None of the {len(graphs)} device(s) has a node named '{node_name}'.")

    def nodes(self, device_name=None):
        """The names of all nodes."""
        return [name for graph in self._known_graphs(device_name) for name in graph.nodes]

    def node_exists(self, node_name, device_name=None):
        """Whether there is such a node."""
        return any(node_name in graph.nodes for graph in self._known_graphs(device_name))

    def node_device(self, node_name):
        """The device that ran it."""
        return self._graph_of(node_name).nodes[node_name].device

    def node_op_type(self, node_name, device_name=None):
        """The type of its operation."""
        return self._graph_of(node_name, device_name).nodes[node_name].op

    def node_attributes(self, node_name, device_name=None):
        """{name: AttrValue}."""
        return dict(self._graph_of(node_name, device_name).nodes[node_name].attr)

    def node_inputs(self, node_name, is_control=False, device_name=None):
        """What the node takes: names, with ":slot" where that is not 0."""
        graph = self._graph_of(node_name, device_name)
        return list((graph.controls if is_control else graph.inputs)[node_name])

    def node_recipients(self, node_name, is_control=False, device_name=None):
        """The nodes that take what it gives."""
        graph = self._graph_of(node_name, device_name)
        table = graph.control_recipients if is_control else graph.recipients
        return list(table.get(node_name, ()))

    def transitive_inputs(
        self, node_name, include_control=True, include_reversed_ref=False, device_name=None
    ):
        """All that the node is computed from, each once, depth first."""
        del include_reversed_ref  # references are read in a defined order here
        graph = self._graph_of(node_name, device_name)
        seen, found, waiting = {node_name}, [], [node_name]
        while waiting:
            at = waiting.pop()
            if at != node_name:
                found.append(at)
            inputs = [i.partition(":")[0] for i in graph.inputs.get(at, ())]
            inputs += graph.controls.get(at, ()) if include_control else ()
            fresh = [i for i in dict.fromkeys(inputs) if i not in seen]
            seen.update(fresh)
            waiting += reversed(fresh)
        return found

    def find_some_path(
        self,
        src_node_name,
        dst_node_name,
        include_control=True,
        include_reversed_ref=False,
        device_name=None,
    ):
        """The names of nodes on a shortest way from one to the other; None without one."""
        del include_reversed_ref
        graph = self._graph_of(src_node_name, device_name)
        came_from, waiting = {src_node_name: None}, collections.deque([src_node_name])
        while waiting and dst_node_name not in came_from:
            at = waiting.popleft()
            onward = list(graph.recipients.get(at, ()))
            onward += graph.control_recipients.get(at, ()) if include_control else ()
            for name in onward:
                if name not in came_from:
                    came_from[name] = at
                    waiting.append(name)
        if dst_node_name not in came_from:
            return None
        path = [dst_node_name]
        while path[-1] != src_node_name:
            path.append(came_from[path[-1]])
        return path[::-1]

    # ---- The program

    @property
    def python_graph(self):
        """The tf.Graph that set_python_graph() was told of; None."""
        return self._python_graph

    def set_python_graph(self, python_graph):
        """Says which tf.Graph the nodes are of, so that they are known by line."""
        self._python_graph = python_graph

    def node_traceback(self, element_name):
        """[(file, line, function, text)] of where the node was made, outermost first.

        LookupError without a graph of the program, KeyError if it has no such node.
        """
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = element_name.partition(":")[0]
        return list(self._python_graph.get_operation_by_name(name).traceback)
