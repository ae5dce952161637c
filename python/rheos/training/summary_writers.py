"""tf.summary of TensorFlow 2: values written with a step, by the writer that is the default one.

In a traced function each call of it writes, if there was a writer when it was traced.
"""

import contextlib
import os
import threading
import time

import numpy as np

from rheos.framework import dtypes, logging, messages, replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope as op_name_scope
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.thread_state import inherited
from rheos.ops.array import array_ops, cast_ops, rearrange_ops
from rheos.ops.array.constant_op import constant, make_tensor_proto
from rheos.ops.flow.control_flow_ops import no_op
from rheos.ops.flow.script_ops import py_func
from rheos.ops.io.string_ops import as_string
from rheos.ops.math import math_ops
from rheos.ops.media import audio_ops, image_color, image_files
from rheos.training import profiling
from rheos.training.summary import FileWriter

SUMMARY_OPS = "_SUMMARY_V2"  # a graph's collection


class _State(threading.local):
    def __init__(self):
        self.writer = None
        self.step = None
        self.condition = None  # as long as a program says nothing


_state = inherited(_State())


@contextlib.contextmanager
def _set_to(name, value):
    before = getattr(_state, name)
    setattr(_state, name, value)
    try:
        yield value
    finally:
        setattr(_state, name, before)


class SummaryWriter:
    """Writes summaries to one event file; made by create_file_writer()."""

    def __init__(self, file=None):
        self._file = file

    def set_as_default(self, step=None):
        """Makes it the writer of this thread; step: of what is written from now on."""
        _state.writer = self
        if step is not None:
            _state.step = step

    @contextlib.contextmanager
    def as_default(self, step=None):
        """A context in which it is the writer; step: of what is written inside."""
        with _set_to("writer", self), _set_to("step", _state.step if step is None else step):
            try:
                yield self
            finally:
                self.flush()

    def init(self):
        """Opens the file: it is open."""
        return _nothing()

    def flush(self):
        """Makes what was written visible to readers."""
        if self._file is not None:
            self._file.flush()
        return _nothing()

    def close(self):
        """Flushes and closes the file; RuntimeError for what is written afterwards."""
        if self._file is not None:
            self._file.close()
        return _nothing()

    def _add(self, event):
        if self._file is None:
            return
        if self._file._closed:
            raise RuntimeError("SummaryWriter is already closed")
        self._file.add_event(event)


def _nothing():
    return None if get_default_graph()._is_eager else no_op()


def create_file_writer(
    logdir,
    max_queue=None,
    flush_millis=None,
    filename_suffix=None,
    name=None,
    experimental_trackable=False,
    experimental_mesh=None,
):
    """A writer of a new event file in a folder."""
    if logdir is None:
        return create_noop_writer()
    logdir = logdir.numpy() if isinstance(logdir, Tensor) else logdir
    logdir = os.fsdecode(logdir)
    suffix = ".v2" if filename_suffix is None else filename_suffix
    return SummaryWriter(FileWriter(logdir, filename_suffix=suffix))


def create_noop_writer():
    """A writer that writes nothing."""
    return SummaryWriter()


# ---- The step, and whether anything is written


def get_step():
    """The step of what is written without one of its own; None if none is set."""
    return _state.step


def set_step(step):
    """Sets the step of what is written without one of its own: an integer or a variable."""
    _state.step = step


def record_if(condition):
    """A context in which summaries are written if the condition, or what it returns, is true."""
    return _set_to("condition", condition)


def should_record_summaries():
    """Whether summaries are written here."""
    return _state.writer is not None and is_recording(by_default=True)


def is_recording(by_default):
    """What the context says of whether summaries are written; `by_default`, if it says nothing.

    Of the replicas of a strategy the first one writes.
    """
    context = replicas.current()
    if context is not None and context._id:
        return False
    if _state.condition is None:
        return by_default
    return _state.condition() if callable(_state.condition) else _state.condition


def current_writer():
    """The writer in use, None if there is none."""
    return _state.writer


@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """A context for the operations of a summary: gives (tag, name scope)."""
    name = name or default_name
    around = get_default_graph().get_name_scope()
    tag = f"{around}/{name}" if around else name
    cleaned = "".join(c if c.isalnum() or c in "_.-/" else "_" for c in name).lstrip("_-/")
    with op_name_scope(cleaned or default_name) as scope:
        yield tag, scope


# ---- Writing


def _step_or_default(step):
    step = _state.step if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return step


def _array_of(value):
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def _in_program(function, step, values, recorded=None):
    """Calls function(step, arrays) where summaries are recorded: now, or when the graph runs.

    recorded: whether they are; None: what should_record_summaries() says.
    """
    recorded = should_record_summaries() if recorded is None else recorded
    values = [value() if callable(value) else value for value in values]
    known = [*values, step, recorded]
    symbolic = [v for v in known if isinstance(v, (Tensor, _VariableBase))]
    if get_default_graph()._is_eager or not symbolic and not get_default_graph().building_function:
        if bool(recorded):
            function(int(_array_of(step)), [_array_of(value) for value in values])
        return bool(recorded)

    def call(recorded, step, *arrays):
        if recorded:
            function(int(step), arrays)
        return np.bool_(recorded)

    step = cast_ops.cast(step, dtypes.int64)
    flag = convert_to_tensor(recorded, dtypes.bool)
    made = py_func(call, [flag, step, *map(convert_to_tensor, values)], dtypes.bool)
    made.set_shape([])
    if not get_default_graph().building_function:
        get_default_graph().add_to_collection(SUMMARY_OPS, made)
    return made


def all_summary_ops():
    """The operations of the default graph that write summaries; None eagerly, where they have."""
    graph = get_default_graph()
    return None if graph._is_eager else graph.get_collection(SUMMARY_OPS)


def summary_event(data, step):
    """The event of a Summary message, given as bytes."""
    summary = messages.Summary.FromString(data)
    return messages.Event(wall_time=time.time(), step=step, summary=summary)


def write_event(step, make, message, recorded):
    """Writes message(bytes, step) of the string tensor that make() gives, if `recorded`."""
    writer = _state.writer

    def add(step, arrays):
        data = arrays[0] if isinstance(arrays[0], bytes) else arrays[0].item()
        event = message(data, step)
        event.wall_time = event.wall_time or time.time()
        writer._add(event)

    return _in_program(add, step, [make], recorded)


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under a tag; whether it was written.

    tensor: a value, or a function of it, called only if there is a writer. step: by default the
    one that is set; ValueError if there is none. metadata: a SummaryMetadata message, or its bytes.
    """
    writer = _state.writer
    if writer is None:
        return constant(False)
    if isinstance(metadata, bytes):
        metadata = messages.SummaryMetadata.FromString(metadata)

    def add(step, arrays):
        summary = messages.Summary()
        value = summary.value.add(tag=tag, tensor=make_tensor_proto(arrays[0]))
        if metadata is not None:
            value.metadata.CopyFrom(metadata)
        writer._add(messages.Event(wall_time=time.time(), step=step, summary=summary))

    return _in_program(add, _step_or_default(step), [tensor])


def write_raw_pb(tensor, step=None, name=None):
    """Writes a Summary message, given as bytes; whether it was written."""
    if _state.writer is None:
        return constant(False)
    return write_event(_step_or_default(step), lambda: tensor, summary_event, None)


def graph(graph_data):
    """Writes a Graph, or a GraphDef message; whether it was written."""
    if not get_default_graph()._is_eager:
        raise RuntimeError("graph() can only be called in eager mode")
    if _state.writer is None or not should_record_summaries():
        return constant(False)
    if hasattr(graph_data, "as_graph_def"):
        graph_data = graph_data.as_graph_def(add_shapes=True)
    event = messages.Event(wall_time=time.time(), graph_def=graph_data.SerializeToString())
    _state.writer._add(event)
    return constant(True)


def flush(writer=None, name=None):
    """Makes what a writer wrote, by default the one in use, visible to readers."""
    writer = _state.writer if writer is None else writer
    return _nothing() if writer is None else writer.flush()


def _metadata(plugin, description):
    made = messages.SummaryMetadata(summary_description=description or "")
    made.plugin_data.plugin_name = plugin
    return made


def _write_of(kind, name, step, metadata, compute):
    with summary_scope(name, f"{kind}_summary") as (tag, _):
        return write(tag, compute, step, metadata)


def scalar(name, data, step=None, description=None):
    """Writes one number."""

    def number():
        value = cast_ops.cast(convert_to_tensor(data), dtypes.float32)
        value.shape.assert_has_rank(0) if value.shape.ndims is not None else None
        return value

    metadata = _metadata("scalars", description)
    return _write_of("scalar", name, step, metadata, number)


def _buckets(data, count):
    """(count, 3): from where to where each bucket goes, and how many numbers are in it."""
    data = cast_ops.cast(array_ops.reshape(data, [-1]), dtypes.float64)
    missing = 1 - math_ops.minimum(array_ops.size(data), 1)
    some = array_ops.pad(data, [[0, missing]])  # without any there is a zero
    least, most = math_ops.reduce_min(some), math_ops.reduce_max(some)
    width = (most - least) / count
    is_single = math_ops.equal(most, least)
    safe = rearrange_ops.where_v2(is_single, constant(1.0, dtypes.float64), width)
    places = cast_ops.cast(math_ops.floor((data - least) / safe), dtypes.int32)
    places = rearrange_ops.where_v2(is_single, count - 1, math_ops.minimum(places, count - 1))
    counts = math_ops.reduce_sum(array_ops.one_hot(places, count, dtype=dtypes.float64), 0)
    numbers = cast_ops.cast(cast_ops.range(count + 1), dtypes.float64)
    edges = least + numbers * width
    edges = array_ops.concat([edges[:-1], array_ops.reshape(most, [1])], 0)
    return array_ops.transpose(array_ops.stack([edges[:-1], edges[1:], counts]))


def histogram(name, data, step=None, buckets=None, description=None):
    """Writes how the numbers of a tensor are spread over buckets, by default 30."""
    count = 30 if buckets is None else buckets
    metadata = _metadata("histograms", description)
    return _write_of(
        "histogram", name, step, metadata, lambda: _buckets(convert_to_tensor(data), count)
    )


def image(name, data, step=None, max_outputs=3, description=None):
    """Writes pictures (count, height, width, channels), the first max_outputs of them."""

    def pictures():
        some = convert_to_tensor(data)[:max_outputs]
        some = image_color.convert_image_dtype(some, dtypes.uint8, saturate=True)
        sizes = array_ops.shape(some)
        encoded = [image_files.encode_png(one) for one in array_ops.unstack(some)]
        texts = [as_string(sizes[2]), as_string(sizes[1])]
        return array_ops.stack([*texts, *encoded])

    metadata = _metadata("images", description)
    return _write_of("image", name, step, metadata, pictures)


def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes sounds (count, samples, channels), the first max_outputs of them, as WAV."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")

    def sounds():
        some = array_ops.unstack(convert_to_tensor(data)[:max_outputs])
        encoded = array_ops.stack([audio_ops.encode_wav(one, sample_rate) for one in some])
        return array_ops.stack([encoded, array_ops.fill(array_ops.shape(encoded), "")], axis=1)

    metadata = _metadata("audio", description)
    return _write_of("audio", name, step, metadata, sounds)


def text(name, data, step=None, description=None):
    """Writes texts."""
    metadata = _metadata("text", description)
    return _write_of("text", name, step, metadata, lambda: convert_to_tensor(data, dtypes.string))


# ---- Traces of what functions do


class _Tracing:
    is_on = profiles = False


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """Notes the graphs of functions that are called from now on, until trace_export().

    profiler: also begins a profile, which goes to profiler_outdir.
    """
    if _Tracing.is_on:
        logging.warning("Trace already enabled")
        return
    if profiler and profiler_outdir is None:
        logging.warning("No `profiler_outdir` passed to trace_on(). Profiler won't be enabled.")
        profiler = False
    profiling.note_graphs(bool(graph))
    if profiler:
        profiling.start(profiler_outdir)
    _Tracing.is_on, _Tracing.profiles = True, profiler


def trace_off():
    """Ends what trace_on() began, and forgets what was noted."""
    if not _Tracing.is_on:
        return
    profiles = _Tracing.profiles
    _Tracing.is_on = _Tracing.profiles = False
    profiling.note_graphs(False)
    if profiles:
        profiling.stop(save=False)


def _run_metadata(graphs):
    made = messages.RunMetadata()
    for one in graphs:
        definition = one.as_graph_def(add_shapes=True)
        made.function_graphs.add().pre_optimization_graph.CopyFrom(definition)
    return made


def trace_export(name, step=None, profiler_outdir=None):
    """Writes the graphs of the functions that were called since trace_on(), and ends the profile.

    ValueError if trace_on() was not called, or there is no step.
    """
    if not _Tracing.is_on:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    graphs = profiling.noted_graphs() or []
    plugin = "graph_run_metadata" if _Tracing.profiles else "graph_run_metadata_graph"
    metadata = _metadata(plugin, None)
    metadata.plugin_data.content = b"1"
    text = constant(_run_metadata(graphs).SerializeToString(), dtypes.string)
    with summary_scope(name, f"{plugin}_summary") as (tag, _):
        write(tag, text, step, metadata)
    profiles, _Tracing.profiles = _Tracing.profiles, False
    if profiles:
        profiling.stop()
    trace_off()
