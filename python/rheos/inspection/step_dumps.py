"""Runs a step with RunOptions.debug_options: what they name is watched and written to folders.

A folder has TensorFlow's layout, so that tools of either read the other's:

    _tfdbg_core_metadata_sessionrun<n>_<us>   what was run, as JSON
    _tfdbg_device_,job_localhost,.../         of each device
        _tfdbg_graph_hash<n>_<us>             the nodes that the step could need
        <scopes>/<node>_<slot>_<debug op>_<us>

Each file is one serialized Event whose wall time is in microseconds. What a placeholder was fed is
dumped under its own name, not as that of an argument that TensorFlow puts in its place; values in
bodies of functions are not dumped, since they are of no node of the graph.
"""

import json
import os
import re
import time
import weakref

import numpy as np

from rheos.framework import compat, errors, messages
from rheos.ops.array.constant_op import make_tensor_proto

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
DEVICE_FOLDER = "_tfdbg_device_" + DEVICE.replace(":", "_").replace("/", ",")
_MOST_NAMES = 64  # more are watched by watching all
_LOOPS = ("LoopCond", "Enter", "RefEnter")  # what a place calls a loop of version 1 by
_DEFAULT_LIMIT_BYTES = 107374182400

_run_counts = weakref.WeakKeyDictionary()  # of sessions
_written_bytes = 0


# ---- Debug ops


def _array(value):
    """A value as an array, which one text is not."""
    return np.array(value, object) if isinstance(value, (bytes, str)) else np.asarray(value)


def _identity(value, unused):
    return value


def _nan_count(value, unused):
    return np.array([np.count_nonzero(np.isnan(value))], np.int64)


def _numeric_summary(value, parameters):
    """float64[14 + dimensions]: see TensorFlow's DebugNumericSummary; None if it is muted."""
    low = float(parameters.get("lower_bound", "-inf"))
    high = float(parameters.get("upper_bound", "inf"))
    numbers = value.astype(np.float64).ravel()
    is_nan, is_low = np.isnan(numbers), numbers <= low
    is_high = (numbers >= high) & ~is_low
    within = numbers[~(is_nan | is_low | is_high)]
    if parameters.get("mute_if_healthy", "false").lower() in ("true", "1"):
        if within.size == numbers.size:
            return None
    some = within.size > 0
    summary = [
        1.0, numbers.size, is_nan.sum(), is_low.sum(), (within < 0).sum(), (within == 0).sum(),
        (within > 0).sum(), is_high.sum(), within.min() if some else np.inf,
        within.max() if some else -np.inf, within.mean() if some else np.nan,
        within.var() if some else np.nan, make_tensor_proto(value).dtype, value.ndim, *value.shape,
    ]  # fmt: skip
    return np.array(summary, np.float64)


def _is_real(dtype):
    return dtype.is_floating or dtype.is_integer or dtype.is_bool


# What each makes of a value, and of which types it has one.
_DEBUG_OPS = {
    "DebugIdentity": (_identity, lambda dtype: True),
    "DebugNanCount": (_nan_count, lambda dtype: dtype.is_floating),
    "DebugNumericSummary": (_numeric_summary, _is_real),
}


def _parsed(debug_op):
    """(name, {parameter: text}) of "DebugNumericSummary(lower_bound=-1;upper_bound=1)"."""
    found = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", debug_op)
    if found is None or found[1] not in _DEBUG_OPS:
        known = ", ".join(_DEBUG_OPS)
        raise errors.UnimplementedError(
            None, None, f"{debug_op!r} is no debug op that is known here, which are {known}"
        )
    parameters = {}
    for part in filter(None, (found[2] or "").split(";")):
        key, equals, text = part.partition("=")
        if not equals:
            raise errors.InvalidArgumentError(None, None, f"{debug_op!r}: expected name=value")
        parameters[key.strip()] = text.strip()
    return found[1], parameters


def _folder(url):
    if not url.startswith("file://"):
        raise errors.UnimplementedError(
            None, None, f"steps are dumped to URLs that begin with file://, not to {url!r}"
        )
    return url[len("file://") :]


class _Wanted:
    """What is dumped of one tensor: [(debug op, parameters, folders)]."""

    def __init__(self, tensor):
        self.ops = []
        self._tensor = tensor

    def add(self, watch):
        folders = [_folder(url) for url in watch.debug_urls]
        for op in watch.debug_ops:
            entry = (*_parsed(op), folders)
            if self._has_kernel(entry[0], watch) and entry not in self.ops:
                self.ops.append(entry)

    def _has_kernel(self, debug_op, watch):
        dtype = self._tensor.dtype.base_dtype
        if _DEBUG_OPS[debug_op][1](dtype):
            return True
        if watch.tolerate_debug_op_creation_failures:
            return False
        raise errors.FailedPreconditionError(
            None, None,
            f"Failed to create debug node {debug_op} for tensor {self._tensor.name}, due to: it "
            f"has no kernel for {dtype.name}",
        )  # fmt: skip


def _wanted(graph, options):
    """{name of a tensor: _Wanted}; ValueError for a tensor that the graph has not."""
    wanted = {}
    for watch in options.debug_tensor_watch_opts:
        slot = watch.output_slot
        try:
            outputs = graph.get_operation_by_name(watch.node_name).outputs
            tensors = outputs if slot < 0 else [outputs[slot]]
        except (KeyError, IndexError):
            raise ValueError(
                f"a debug watch is of '{watch.node_name}:{slot}', which the graph has not"
            ) from None
        for tensor in tensors:
            wanted.setdefault(tensor.name, _Wanted(tensor)).add(watch)
    return wanted


# ---- Files


def _limit_bytes():
    return int(os.environ.get("TFDBG_DISK_BYTES_LIMIT", _DEFAULT_LIMIT_BYTES))


def _write(path, event):
    """Writes an Event; a path that is taken gets a number."""
    global _written_bytes
    data = event.SerializeToString()
    limit = _limit_bytes()
    if limit > 0 and _written_bytes + len(data) > limit:
        raise errors.ResourceExhaustedError(
            None, None, f"dumps have come to {limit} bytes, which TFDBG_DISK_BYTES_LIMIT allows"
        )
    _written_bytes += len(data)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    free, number = path, 0
    while os.path.exists(free):
        number += 1
        free = f"{path}-{number}"
    with open(free, "wb") as file:
        file.write(data)


def write_message(path, time_us, text):
    """A file with a text, such as what is known of a run."""
    event = messages.Event(wall_time=time_us)
    event.log_message.message = text
    _write(path, event)


def now_us():
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def _proto(value):
    """A TensorProto whose numbers are bytes, also where it is one: TensorFlow looks for these."""
    proto = make_tensor_proto(value)
    if value.dtype.kind in "fciub":
        for name in [field.name for field, _ in proto.ListFields() if field.name.endswith("_val")]:
            proto.ClearField(name)
        proto.tensor_content = value.tobytes()
    return proto


class _Dump:
    """Writes what a step is told of."""

    def __init__(self, wanted):
        self._wanted = wanted
        self._last_us = 0

    def _next_us(self):
        self._last_us = max(now_us(), self._last_us + 1)
        return self._last_us

    def add(self, tensor_name, value):
        """Writes the files of one value, if any are wanted."""
        wanted = self._wanted.get(tensor_name)
        if wanted is None:
            return
        for debug_op, parameters, folders in wanted.ops:
            result = _DEBUG_OPS[debug_op][0](value, parameters)
            if result is not None:
                self._write_tensor(tensor_name, debug_op, result, folders)

    def _write_tensor(self, tensor_name, debug_op, value, folders):
        node, _, slot = tensor_name.rpartition(":")
        time_us = self._next_us()
        event = messages.Event(wall_time=time_us)
        item = event.summary.value.add(tag=node, node_name=f"{tensor_name}:{debug_op}")
        item.tensor.CopyFrom(_proto(value))
        plugin = item.metadata.plugin_data
        plugin.plugin_name = "debugger"
        facts = {"device": DEVICE, "outputSlot": int(slot), "numChunks": 1, "chunkIndex": 0}
        plugin.content = compat.as_bytes(json.dumps(facts, separators=(",", ":")))
        for folder in folders:
            name = f"{node}_{slot}_{debug_op}_{time_us}"
            _write(os.path.join(folder, DEVICE_FOLDER, *name.split("/")), event)


# ---- The graph of a step


def _needed(elements, feeds):
    """The operations that a step could need, and the fed ones."""
    fed = {tensor.name for tensor in feeds}
    found, waiting = {}, [getattr(element, "op", element) for element in elements]
    waiting = [e.op if hasattr(e, "op") and e.name in fed else w for e, w in zip(elements, waiting)]
    while waiting:
        op = waiting.pop()
        if op.name in found:
            continue
        is_fed = bool(op.outputs) and all(output.name in fed for output in op.outputs)
        found[op.name] = is_fed
        if not is_fed:
            waiting += [tensor.op for tensor in op.inputs]
            waiting += op.control_inputs
    return found


def _graph_def(graph, needed):
    """The nodes that are needed; what is fed takes nothing."""
    kept = messages.GraphDef()
    for node in graph.as_graph_def().node:
        if node.name not in needed:
            continue
        made = kept.node.add()
        made.CopyFrom(node)
        made.device = DEVICE
        if needed[node.name]:
            del made.input[:]
    return kept


def _write_facts(session, folders, elements, feeds, options):
    """Writes the graph and the metadata of a step; the GraphDef."""
    index = _run_counts[session] = _run_counts.get(session, 0) + 1
    time_us = now_us()
    facts = {
        "global_step": options.global_step,
        "session_run_index": index,
        "executor_step_index": index - 1,
        "input_names": sorted(tensor.name for tensor in feeds),
        "output_names": [e.name for e in elements if hasattr(e, "op")],
        "target_nodes": [e.name for e in elements if not hasattr(e, "op")],
    }
    text = json.dumps(facts, separators=(",", ":"))
    graph_def = _graph_def(session.graph, _needed(elements, feeds))
    data = graph_def.SerializeToString()
    number = hash(data) & 0xFFFFFFFFFFFFFFFF
    event = messages.Event(wall_time=time_us, graph_def=data)
    for folder in sorted(folders):
        metadata = f"_tfdbg_core_metadata_sessionrun{index:014d}_{time_us}"
        write_message(os.path.join(folder, metadata), time_us, text)
        _write(os.path.join(folder, DEVICE_FOLDER, f"_tfdbg_graph_hash{number}_{time_us}"), event)
    return graph_def


# ---- The step


def _is_of_graph(graph, place):
    """Whether a place is the graph itself or one of its loops, not a function that is called."""
    for name in place.split(";")[::2]:
        if not name:
            continue
        try:
            if graph.get_operation_by_name(name).type not in _LOOPS:
                return False
        except KeyError:
            return False
    return True


def run(session, elements, feeds, values, options, run_metadata, run_step):
    """Runs run_step(), a step of a session, and dumps what the RunOptions name.

    elements: the tensors and operations that are run, feeds: the tensors fed with the values.
    run_metadata may be None; its partition graphs are the nodes that dumps are of.
    UnimplementedError for debug ops and URLs that are not known, before anything runs.
    """
    global _written_bytes
    debug = options.debug_options
    if debug.reset_disk_byte_usage:
        _written_bytes = 0
    wanted = _wanted(session.graph, debug)
    folders = {folder for w in wanted.values() for *_, some in w.ops for folder in some}
    graph_def = _write_facts(session, folders, elements, feeds, debug)
    dump = _Dump(wanted)
    for tensor, value in zip(feeds, values):  # before what takes them, though told behind it
        if isinstance(tensor.dtype.as_numpy_dtype, type):
            dump.add(tensor.name, np.asarray(value, tensor.dtype.base_dtype.as_numpy_dtype))
    fed = {tensor.name for tensor in feeds}
    failures = []

    def tell(watched):
        if watched.value is None or watched.name in fed:
            return
        try:
            if _is_of_graph(session.graph, watched.place):
                dump.add(watched.name, _array(watched.value))
        except Exception as error:
            failures.append(error)
            raise

    names = sorted({name.rpartition(":")[0] for name in wanted})
    with session.watch(",".join(names) if len(names) <= _MOST_NAMES else "*", tell, "values"):
        try:
            results = run_step()
        except errors.OpError:
            if failures:  # which the step tells as one of an operation
                raise failures[0] from None
            raise
    if run_metadata is not None:
        del run_metadata.partition_graphs[:]
        run_metadata.partition_graphs.add().CopyFrom(graph_def)
    return results
