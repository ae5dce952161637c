"""tf.debugging.experimental.enable_dump_debug_info(): what runs, in files that TensorFlow reads.

Operations that run at once are told of by the extension; what functions compute, and the operations
of gradients, by a watch. The graph of a function is written when the first value of it is told.
"""

import atexit
import collections
import linecache
import os
import re
import socket
import sys
import threading
import time
import uuid

import numpy as np

from rheos import _core
from rheos.framework import dtypes, eager, messages
from rheos.inspection.calls import place_name
from rheos.ops.array.constant_op import make_tensor_proto
from rheos.training import watches
from rheos.training.records import TFRecordWriter

_FILE_VERSION = "debug.Event:1"
_TENSORFLOW = "2.21.0"  # whose files these are
_MODES = {
    "NO_TENSOR": 1,
    "CURT_HEALTH": 2,
    "CONCISE_HEALTH": 3,
    "FULL_HEALTH": 4,
    "SHAPE": 5,
    "FULL_TENSOR": 7,
}
_NOT_THERE = ("FULL_NUMERICS", "REDUCE_INF_NAN_THREE_SLOTS", "UNSPECIFIED")
_SUFFIXES = (
    "metadata", "source_files", "stack_frames", "graphs", "execution", "graph_execution_traces",
)  # fmt: skip
_FLOATING = frozenset(["float16", "bfloat16", "float32", "float64"])
_PACKAGE = os.path.realpath(os.path.dirname(os.path.dirname(__file__)))


class _State:
    dump = None  # the one that is on
    ends_with_program = False


# ---- Files


class DebugEventsWriter:
    """The six files of a dump. Executions and traces are kept, the last `buffer_size` of each,
    until they are flushed; 0 or less: they are written at once."""

    def __init__(self, root, run_id, buffer_size):
        os.makedirs(root, exist_ok=True)
        prefix = os.path.join(root, f"tfdbg_events.{int(time.time())}.{socket.gethostname()}.")
        self._files = {suffix: TFRecordWriter(prefix + suffix) for suffix in _SUFFIXES}
        self._size = buffer_size
        kept = ("execution", "graph_execution_traces") if buffer_size > 0 else ()
        self._kept = {suffix: collections.deque(maxlen=buffer_size) for suffix in kept}
        metadata = messages.DebugMetadata(
            tensorflow_version=_TENSORFLOW, file_version=_FILE_VERSION, tfdbg_run_id=run_id
        )
        self.write("metadata", debug_metadata=metadata)
        self.FlushNonExecutionFiles()

    def write(self, suffix, **what):
        """Adds an event to one of the files."""
        event = messages.DebugEvent(wall_time=time.time(), **what)
        record = event.SerializeToString()
        if suffix in self._kept:
            self._kept[suffix].append(record)
        else:
            self._files[suffix].write(record)

    def FlushNonExecutionFiles(self):
        """Makes readers see lines, graphs and devices."""
        for suffix in _SUFFIXES[:4]:
            self._files[suffix].flush()

    def FlushExecutionFiles(self):
        """Makes readers see what ran; of what is kept, the last."""
        self.FlushNonExecutionFiles()
        for suffix in _SUFFIXES[4:]:
            kept = self._kept.get(suffix, ())
            for record in kept:
                self._files[suffix].write(record)
            if kept:
                kept.clear()
            self._files[suffix].flush()

    def Close(self):
        """Flushes and closes the files; twice is once."""
        if self._files:
            self.FlushExecutionFiles()
            for file in self._files.values():
                file.close()
            self._files = {}


class _Lines:
    """Source files and frames, each written once."""

    def __init__(self, writer):
        self._writer, self._host = writer, socket.gethostname()
        self._files, self._frames = {}, {}

    def _file(self, path):
        if path not in self._files:
            lines = [line.rstrip("\n") for line in linecache.getlines(path)]
            source = messages.SourceFile(file_path=path, host_name=self._host, lines=lines)
            self._writer.write("source_files", source_file=source)
            self._files[path] = len(self._files)
        return self._files[path]

    def _frame(self, path, line, function):
        key = (path, line, function)
        if key not in self._frames:
            self._frames[key] = str(uuid.uuid4())
            place = messages.GraphDebugInfo.FileLineCol(
                file_index=self._file(path), line=line, func=function
            )
            frame = messages.StackFrameWithId(id=self._frames[key], file_line_col=place)
            self._writer.write("stack_frames", stack_frame_with_id=frame)
        return self._frames[key]

    def location(self, frames):
        """A CodeLocation of [(path, line, function)], outermost first."""
        ids = [self._frame(*frame) for frame in frames]
        return messages.CodeLocation(host_name=self._host, stack_frame_ids=ids)


def _program_frames():
    """The program's lines under way, outermost first."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        path = frame.f_code.co_filename
        if not os.path.realpath(path).startswith(_PACKAGE):
            found.append((path, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return found[::-1]


# ---- What is said of a value


class _Seen:
    """A value: dtype and shape; its numbers: a Statistics, None where nobody asked for them."""

    def __init__(self, dtype, shape, numbers=None, value=None):
        self.dtype, self.shape, self.numbers, self.value = dtype, shape, numbers, value

    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))


def _tensor_of(mode, tensor_id, seen):
    """The TensorProto of a mode; an empty one where it says nothing of such a value."""
    empty = messages.TensorProto()
    if mode == "FULL_TENSOR":
        return empty if seen.value is None else make_tensor_proto(seen.value)
    if mode == "NO_TENSOR" or seen.dtype not in dtypes_with_numbers(mode):
        return empty
    return make_tensor_proto(np.array([tensor_id, *_numbers_of(mode, seen)], np.float64))


def dtypes_with_numbers(mode):
    """The names of the dtypes that a mode has something to say of."""
    return _FLOATING if mode.endswith("HEALTH") else _ALL_NUMBERS


_ALL_NUMBERS = _FLOATING | frozenset(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
)


def _numbers_of(mode, seen):
    number = int(dtypes.as_dtype(seen.dtype).as_datatype_enum)
    if mode == "SHAPE":
        sizes = [*seen.shape[-6:], *[0] * (6 - len(seen.shape))]
        return [number, len(seen.shape), seen.size(), *sizes]
    s = seen.numbers
    if mode == "CURT_HEALTH":
        return [float(s.nan + s.negative_infinite + s.positive_infinite > 0)]
    if mode == "CONCISE_HEALTH":
        return [s.count, s.negative_infinite, s.positive_infinite, s.nan]
    below, above = s.negative - s.negative_infinite, s.positive - s.positive_infinite
    rank = len(seen.shape)
    counts = [s.negative_infinite, s.positive_infinite, s.nan, below, s.zero, above]
    return [-1, number, rank, s.count, *counts]


def _seen_of(tensor, with_value):
    """Of an eager tensor."""
    name = tensor.dtype.base_dtype.name
    if name in ("resource", "variant"):
        return _Seen(name, ())
    numbers = watches.statistics_of(tensor) if name in _FLOATING else None
    value = tensor.numpy() if with_value else None
    return _Seen(name, tuple(tensor.shape), numbers, value)


# ---- A dump


class _KnownTensors:
    """Ids of eager tensors by their addresses, which are theirs as long as they are held: so many
    and so much of the latest ones are. One that was let go has another id when it comes again."""

    _MOST, _MOST_BYTES = 4096, 16 << 20

    def __init__(self, new_id):
        self._new_id, self._held, self._bytes = new_id, {}, 0

    def id_of(self, address, tensor):
        """The id of a tensor."""
        if address not in self._held:
            size = _Seen(tensor.dtype.name, tuple(tensor.shape)).size() * tensor.dtype.size
            self._held[address] = (self._new_id(), tensor, size)
            self._bytes += size
        found = self._held[address][0]
        while len(self._held) > self._MOST or self._bytes > self._MOST_BYTES:
            self._bytes -= self._held.pop(next(iter(self._held)))[2]
        return found


class _Graph:
    def __init__(self, name, outputs):
        self.id, self.name = str(uuid.uuid4()), name
        self.outputs = outputs  # {(operation, slot): id}


class _Dump:
    def __init__(self, root, mode, buffer_size, op_regex, tensor_dtypes):
        self.root, self.mode, self.buffer_size = root, mode, buffer_size
        self._number = _MODES[mode]
        self._regex = re.compile(op_regex) if op_regex else None
        self._dtypes = tensor_dtypes
        self._lock = threading.RLock()
        self.writer = DebugEventsWriter(root, uuid.uuid4().hex[:8], buffer_size)
        self._lines = _Lines(self.writer)
        self._device = eager.device_name()
        device = messages.DebuggedDevice(device_name=self._device, device_id=1)
        self.writer.write("graphs", debugged_device=device)
        self._root_id = str(uuid.uuid4())
        self._write_graph(messages.DebuggedGraph(graph_id=self._root_id))
        self._num_ids = 0
        self._known = _KnownTensors(self._new_id)
        self._graphs = {}  # by the extension's number
        self._by_path = {"": self._root_id}  # the calls that it is in: its id
        what = "values" if mode == "FULL_TENSOR" else "statistics"
        self._watch = watches.watch("*", self._told, what)
        _core._follow_ops(self._ran)

    def _write_graph(self, graph):
        self.writer.write("graphs", debugged_graph=graph)

    def _new_id(self):
        self._num_ids += 1
        return self._num_ids - 1

    def _is_wanted(self, op_type):
        return self._regex is None or self._regex.match(op_type) is not None

    def _has_wanted_dtype(self, name):
        if self._dtypes is None:
            return True
        dtype = dtypes.as_dtype(name)
        return self._dtypes(dtype) if callable(self._dtypes) else dtype in self._dtypes

    # Operations that run at once

    def _ran(self, op_type, function, taken, inputs, addresses, outputs):
        with self._lock:
            given = [self._known.id_of(*one) for one in zip(taken, inputs)]
            made = [self._known.id_of(*one) for one in zip(addresses, outputs)]
            if not self._is_wanted(op_type):
                return
            graph_id = ""
            if function is not None:
                graph_id = self._by_path.get(place_name(function), "")
            seen = [_seen_of(tensor, self.mode == "FULL_TENSOR") for tensor in outputs]
            self._write_execution(function or op_type, graph_id, given, made, seen)

    def _write_execution(self, op_type, graph_id, given, made, seen):
        nothing = _Seen("variant", ())
        wanted = [one if self._has_wanted_dtype(one.dtype) else nothing for one in seen]
        execution = messages.Execution(
            op_type=op_type,
            num_outputs=len(made),
            graph_id=graph_id,
            input_tensor_ids=given,
            output_tensor_ids=made,
            tensor_debug_mode=self._number,
            code_location=self._lines.location(_program_frames()),
            output_tensor_device_ids=[1] * len(made),
        )
        if self.mode != "NO_TENSOR":
            execution.tensor_protos.extend(_tensor_of(self.mode, -1, one) for one in wanted)
        self.writer.write("execution", execution=execution)

    # What functions and gradients compute

    def _told(self, watched):
        name, _, slot = watched.name.rpartition(":")
        with self._lock:
            seen = _Seen(watched.dtype, watched.shape, watched.statistics, watched.value)
            if watched.place:
                self._write_trace(watched, name, int(slot), seen)
            elif "/" in name and self._is_wanted(watched.op):  # of a gradient: nobody else tells
                self._write_execution(watched.op, "", [], [self._new_id()], [seen])

    def _write_trace(self, watched, name, slot, seen):
        graph = self._graph_of(watched)
        if not self._is_wanted(watched.op) or not self._has_wanted_dtype(watched.dtype):
            return
        is_told = self.mode in ("NO_TENSOR", "FULL_TENSOR")
        if not is_told and watched.dtype not in dtypes_with_numbers(self.mode):
            return
        tensor_id = graph.outputs.get((name, slot))
        if tensor_id is None:  # the graph grew
            return
        trace = messages.GraphExecutionTrace(
            tfdbg_context_id=graph.id,
            op_name=name,
            output_slot=slot,
            tensor_debug_mode=self._number,
            tensor_proto=_tensor_of(self.mode, tensor_id, seen),
            device_name=self._device,
        )
        self.writer.write("graph_execution_traces", graph_execution_trace=trace)

    def _graph_of(self, watched):
        key = self._watch.graph()
        graph = self._graphs.get(key)
        if graph is None:
            graph = self._graphs[key] = self._new_graph(watched, self._watch.nodes())
        return graph

    def _new_graph(self, watched, nodes):
        """Writes a graph that is met for the first time, and its operations."""
        path = _path_of(watched.place)
        outer, _, last = path.rpartition(";")
        named = re.fullmatch(r"inference_(.+)_\d+", last)
        graph = _Graph(named[1] if named else last, {})
        self._by_path[path] = graph.id
        around = self._by_path.get(outer, self._root_id)
        self._write_graph(
            messages.DebuggedGraph(
                graph_id=graph.id, graph_name=graph.name, outer_context_id=around
            )
        )
        for name, op_type, inputs, num_outputs, file, line in nodes:
            name = name.rpartition(":")[0]
            ids = [self._new_id() for _ in range(num_outputs)]
            graph.outputs.update({(name, slot): number for slot, number in enumerate(ids)})
            created = messages.GraphOpCreation(
                op_type=op_type,
                op_name=name,
                graph_name=graph.name,
                graph_id=graph.id,
                input_names=inputs,
                num_outputs=num_outputs,
                output_tensor_ids=ids,
                code_location=self._lines.location([(file, line, "")] if file else []),
            )
            self.writer.write("graphs", graph_op_creation=created)
        return graph

    def end(self):
        """Nothing is told any more; the files are whole."""
        _core._follow_ops(None)
        self._watch.end()
        with self._lock:
            self.writer.Close()


def _path_of(place):
    """The names of a place's calls, without trips."""
    return ";".join(place.split(";")[::2])


# ---- On and off


def _checked_dtypes(tensor_dtypes):
    if tensor_dtypes is None or callable(tensor_dtypes):
        return tensor_dtypes
    if not isinstance(tensor_dtypes, (list, tuple)):
        raise ValueError(
            "If specified, tensor_dtypes is expected to be a list, a tuple, or a callable that "
            f"takes a DType argument and returns a boolean, but received {tensor_dtypes}"
        )
    return [dtypes.as_dtype(one) for one in tensor_dtypes]


def enable_dump_debug_info(
    dump_root,
    tensor_debug_mode="NO_TENSOR",
    circular_buffer_size=1000,
    op_regex=None,
    tensor_dtypes=None,
):
    """From now on, what runs is written below the folder, in files that TensorFlow's tfdbg reads.

    Operations that run at once, calls of traced functions, and what these compute. Of each value
    tensor_debug_mode says: NO_TENSOR nothing but that it was computed, CURT_HEALTH whether it has a
    NaN or an infinity, CONCISE_HEALTH how many, FULL_HEALTH negative numbers, zeros and positive
    ones too, SHAPE dtype and shape, FULL_TENSOR all. circular_buffer_size: how many executions, and
    values of functions, are kept until they are flushed; 0 or less: each is written at once.
    op_regex: of the types of operations, others are left out. tensor_dtypes: a list, or a function
    of a DType. Returns a writer, whose FlushExecutionFiles() makes readers see what is kept; the
    end of the program does too. Sessions are not dumped. ValueError for other modes, and where
    another mode or buffer is on for the folder.
    """
    mode = tensor_debug_mode
    if mode in _NOT_THERE:
        raise NotImplementedError(f"tensor_debug_mode {mode} is not there")
    if mode not in _MODES:
        options = ", ".join(_MODES)
        raise ValueError(
            f"Invalid value in tensor_debug_mode ('{mode}'). Valid options are: {options}"
        )
    wanted = _checked_dtypes(tensor_dtypes)
    size, dump = int(circular_buffer_size), _State.dump
    if dump is not None and dump.root == os.fsdecode(dump_root):
        if dump.buffer_size != size or dump.mode != mode:
            raise ValueError(
                f"{dump.root} is dumped to with tensor_debug_mode {dump.mode} and a "
                f"circular_buffer_size of {dump.buffer_size}, not {mode} and {size}"
            )
        return dump.writer
    disable_dump_debug_info()
    _State.dump = _Dump(os.fsdecode(dump_root), mode, size, op_regex, wanted)
    if not _State.ends_with_program:
        _State.ends_with_program = True
        atexit.register(disable_dump_debug_info)
    return _State.dump.writer


def disable_dump_debug_info():
    """Ends that; nothing happens if it was not on."""
    if _State.dump is not None:
        dump, _State.dump = _State.dump, None
        dump.end()
