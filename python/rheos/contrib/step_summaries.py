"""tf.contrib.summary: operations that write summaries with a step, to the writer in use.

In graphs a program runs the operations itself, all_summary_ops(), after initialize() opened the
files; eagerly they write at once. Nothing is written outside of a context that says so.
"""

import os

from rheos.framework import dtypes, messages
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph, get_default_session
from rheos.framework.eager import executing_eagerly
from rheos.framework.errors import NotFoundError
from rheos.ops.array import cast_ops
from rheos.ops.flow.control_flow_ops import no_op
from rheos.ops.flow.script_ops import py_func
from rheos.ops.io import summary_ops
from rheos.ops.math import math_ops
from rheos.training import summary_writers
from rheos.training.global_step import get_or_create_global_step
from rheos.training.summary import FileWriter
from rheos.training.summary_writers import (
    SummaryWriter,
    all_summary_ops,
    current_writer,
    flush,
    is_recording,
    record_if,
    summary_event,
    write_event,
)

__all__ = ["SummaryWriter", "all_summary_ops", "flush"]
_WRITERS = "_SUMMARY_WRITER_V2"


class ResourceSummaryWriter(SummaryWriter):
    """A writer whose file is opened by the operation that init() gives, eagerly at once."""

    def __init__(self, open_file):
        super().__init__()
        self._open_file = open_file
        self._init_op = None
        if executing_eagerly():
            self._open()
        else:
            self._init_op = py_func(self._open, [], [], name="CreateSummaryFileWriter")
            get_default_graph().add_to_collection(_WRITERS, self)

    def _open(self):
        if self._file is None:
            self._file = self._open_file()

    def init(self):
        """The operation that opens the file; None eagerly, where it is open."""
        return self._init_op

    def flush(self):
        """An operation that makes what was written visible to readers; eagerly it has run."""
        return self._later(super().flush)

    def close(self):
        """An operation that flushes and closes the file; eagerly it has run."""
        return self._later(super().close)

    def _later(self, function):
        if executing_eagerly():
            return function()
        return py_func(lambda: function() and None, [], [], name="FlushSummaryWriter")

    def _add(self, event):
        if self._file is None:
            raise NotFoundError(None, None, "the summary writer is not initialized")
        super()._add(event)


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """A writer of a new event file in a folder; of nothing, if that is None.

    flush_millis: how long events are kept at most, in milliseconds. max_queue and name are taken
    for the sake of programs that give them.
    """
    if logdir is None:
        return summary_writers.create_noop_writer()
    suffix = ".v2" if filename_suffix is None else filename_suffix
    seconds = 120 if flush_millis is None else flush_millis / 1000
    logdir = os.fsdecode(logdir)
    return ResourceSummaryWriter(
        lambda: FileWriter(logdir, flush_secs=seconds, filename_suffix=suffix)
    )


def create_db_writer(db_uri, experiment_name=None, run_name=None, user_name=None, name=None):
    """Refused: summaries go to event files only."""
    raise NotImplementedError("writers of databases are not in Rheos: use create_file_writer()")


def create_summary_file_writer(*args, **kwargs):
    """create_file_writer()."""
    return create_file_writer(*args, **kwargs)


def summary_writer_initializer_op():
    """The operations that open the files of the default graph's writers."""
    if executing_eagerly():
        raise RuntimeError("summary_writer_initializer_op is only supported in graph mode.")
    return [writer.init() for writer in get_default_graph().get_collection(_WRITERS)]


def initialize(graph=None, session=None):
    """Opens the files of the writers, and writes a graph, if one is given, in a session.

    session: by default the default one; ValueError if there is none, RuntimeError without a writer.
    """
    if executing_eagerly():
        return
    if current_writer() is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        current_writer()._add(_graph_event(graph, 0))


# ---- When


def should_record_summaries():
    """A boolean tensor: whether summaries are written here."""
    if current_writer() is None:
        return convert_to_tensor(False)
    return convert_to_tensor(is_recording(by_default=False), dtypes.bool)


def always_record_summaries():
    """A context in which summaries are written."""
    return record_if(True)


def never_record_summaries():
    """A context in which none are."""
    return record_if(False)


def record_summaries_every_n_global_steps(n, global_step=None):
    """A context in which summaries are written where the global step is a multiple of n."""
    if global_step is None:
        global_step = get_or_create_global_step()

    def is_due():
        step = cast_ops.cast(global_step, dtypes.int64)
        return math_ops.equal(step % n, 0)

    return record_if(is_due if executing_eagerly() else is_due())


# ---- What


def _write(step, make, message=summary_event):
    """Writes what make() gives as bytes: an operation, or whether it was written."""
    if current_writer() is None:
        return no_op()
    step = get_or_create_global_step() if step is None else step
    return write_event(step, make, message, is_recording(by_default=False))


def scalar(name, tensor, family=None, step=None):
    """Writes a number; step: by default the global one."""
    return _write(step, lambda: summary_ops.scalar(name, tensor, [], family))


def histogram(name, tensor, family=None, step=None):
    """Writes how the values of a tensor are distributed."""
    return _write(step, lambda: summary_ops.histogram(name, tensor, [], family))


def image(name, tensor, bad_color=None, max_images=3, family=None, step=None):
    """Writes up to max_images pictures of [batch, height, width, channels 1, 3 or 4].

    bad_color: of pixels that are no finite numbers, as ImageSummary takes it.
    """
    return _write(
        step,
        lambda: summary_ops.image_with_bad_color(name, tensor, max_images, [], family, bad_color),
    )


def audio(name, tensor, sample_rate, max_outputs, family=None, step=None):
    """Writes up to max_outputs pieces of sound of [batch, frames, channels]."""
    return _write(
        step, lambda: summary_ops.audio(name, tensor, sample_rate, max_outputs, [], family)
    )


def generic(name, tensor, metadata=None, family=None, step=None):
    """Writes a tensor of any dtype. metadata: a SummaryMetadata message, or its bytes."""
    return _write(
        step,
        lambda: summary_ops.tensor_summary(
            name, convert_to_tensor(tensor), None, [], metadata, family
        ),
    )


def _graph_event(graph, step):
    if hasattr(graph, "as_graph_def"):
        graph = graph.as_graph_def(add_shapes=True)
    return messages.Event(step=step, graph_def=graph.SerializeToString())


def graph(param, step=None, name=None):
    """Writes a Graph, or a GraphDef message; a string tensor with one in graphs too."""
    if not executing_eagerly() and not hasattr(param, "dtype"):
        raise TypeError("graph() needs a tensor (e.g. tf.placeholder) in graph mode")
    if not hasattr(param, "dtype"):
        param = _graph_event(param, 0).graph_def
    made = convert_to_tensor(param, dtypes.string)
    return _write(step, lambda: made, lambda data, step: messages.Event(step=step, graph_def=data))


def import_event(tensor, name=None):
    """Writes an Event message, given as bytes, as it is."""
    made = convert_to_tensor(tensor, dtypes.string)
    return _write(0, lambda: made, lambda data, step: messages.Event.FromString(data))


def eval_dir(model_dir, name=None):
    """The folder for summaries of an evaluation: below that of a model."""
    return os.path.join(model_dir, "eval" if not name else f"eval_{name}")
