"""Event files, which TensorBoard shows."""

import os
import threading
import time
import warnings

from rheos import _core
from rheos.framework import gfile, messages
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import Graph
from rheos.framework.messages import is_message
from rheos.training.meta_graph import export_meta_graph

# What the field `metadata` of a Summary.Value starts with.
_METADATA_TAG = b"\x4a"


class _OpenFile:
    """An event file, with the writers that share it."""

    def __init__(self, logdir, suffix):
        self.writer = _core.EventWriter(logdir, suffix)
        self.lock = threading.Lock()
        self.users = 0


class FileWriter:
    """Writes one event file in a folder: graphs, and summaries made elsewhere.

    graph: written at once if given. filename_suffix: put behind the file's name. session: writers
    of one session, folder and suffix share a file, which ends with the last of them.
    """

    def __init__(
        self,
        logdir,
        graph=None,
        max_queue=10,
        flush_secs=120,
        graph_def=None,
        filename_suffix=None,
        session=None,
    ):
        self._logdir = os.fsdecode(logdir)
        self._suffix = filename_suffix
        self._shared = None if session is None else vars(session).setdefault("_event_files", {})
        self._closed = True
        self.reopen()
        self._run_tags = set()
        self._described_tags = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            if isinstance(graph, Graph):
                self.add_meta_graph(export_meta_graph(graph=graph))
            else:
                self.add_meta_graph(messages.MetaGraphDef(graph_def=graph_def or graph))

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def get_logdir(self):
        """The folder."""
        return self._logdir

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Writes a graph, with the shapes that are known.

        graph: a Graph, or as programs of the first versions gave it a GraphDef. ValueError if
        graph_def is given as well.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if is_message(graph, "GraphDef"):
            graph_def = graph
        elif graph_def is None:
            if not isinstance(graph, Graph):
                raise TypeError(
                    "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
                )
            graph_def = graph.as_graph_def(add_shapes=True)
        self._add(global_step, graph_def=graph_def.SerializeToString())

    def add_summary(self, summary, global_step=None):
        """Writes a summary: the bytes that a summary operation gave, or a message.

        What says how to show a tag's values is written with the first of them only.
        """
        if not isinstance(summary, bytes):
            summary = summary.SerializeToString()
        if _METADATA_TAG in summary:
            summary = self._without_known_metadata(summary)
        step = 0 if global_step is None else int(global_step)
        self._write(lambda writer: writer.add_summary(summary, step))

    def _without_known_metadata(self, serialized):
        summary = messages.Summary.FromString(serialized)
        for value in summary.value:
            if value.HasField("metadata") and value.tag in self._described_tags:
                value.ClearField("metadata")
            self._described_tags.add(value.tag)
        return summary.SerializeToString()

    def add_event(self, event):
        """Writes an Event message."""
        serialized = event if isinstance(event, bytes) else event.SerializeToString()
        self._write(lambda writer: writer.add_event(serialized))

    def add_session_log(self, session_log, global_step=None):
        """Writes a SessionLog message: that a session started, stopped, or saved."""
        self._add(global_step, session_log=session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Writes what a run was told to record, under a tag that is used once."""
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)

        tagged = messages.TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(global_step, tagged_run_metadata=tagged)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Writes a MetaGraphDef."""
        if not hasattr(meta_graph_def, "graph_def"):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def _add(self, global_step, **what):
        step = None if global_step is None else int(global_step)
        self.add_event(messages.Event(wall_time=time.time(), step=step, **what))

    def _write(self, function):
        with self._file.lock:
            if not self._closed:
                function(self._file.writer)
                return
        warnings.warn(
            "Attempting to use a closed FileWriter. The operation will be a noop unless the "
            "FileWriter is explicitly reopened.",
            stacklevel=3,
        )

    def flush(self):
        """Makes what was written visible to readers."""
        if not self._closed:
            self._write(lambda writer: writer.flush())

    def close(self):
        """Flushes and closes the file."""
        with self._file.lock:
            if self._closed:
                return
            self._closed = True
            self._file.users -= 1
            if self._file.users > 0:
                self._file.writer.flush()
                return
            self._file.writer.close()
            if self._shared is not None:
                del self._shared[self._logdir, self._suffix]

    def reopen(self):
        """Opens another file in the folder, if this writer was closed."""
        if not self._closed:
            return
        key = self._logdir, self._suffix
        self._file = None if self._shared is None else self._shared.get(key)
        if self._file is None:
            self._file = _OpenFile(*key)
            if self._shared is not None:
                self._shared[key] = self._file
        self._file.users += 1
        self._closed = False


class FileWriterCache:
    """One FileWriter for each folder."""

    _cache = {}
    _lock = threading.Lock()

    @staticmethod
    def get(logdir):
        """The FileWriter of a folder, made if there is none."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                writer = FileWriter(logdir, graph=get_default_graph())
                FileWriterCache._cache[logdir] = writer
            return FileWriterCache._cache[logdir]

    @staticmethod
    def clear():
        """Closes all writers and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Writes a graph to a file, as text or as bytes; returns its path."""
    graph_def = graph_or_graph_def
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    path = os.path.join(os.fsdecode(logdir), os.fsdecode(name))
    gfile.MakeDirs(logdir)
    if as_text:
        data = messages.to_text(graph_def).encode()
    else:
        data = graph_def.SerializeToString()
    with open(gfile.local_path(path), "wb") as file:
        file.write(data)
    return path
