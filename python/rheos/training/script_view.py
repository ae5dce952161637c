"""`rheos run --view`: writes a program's graphs and some of its steps where `rheos view` looks.

Graphs are written when they have grown, with the lines that made their nodes; of each session the
second run, the tenth, the hundredth and so on are traced where the program does not trace them.
"""

import atexit
import os
import subprocess
import sys
import threading
import traceback

from rheos.framework import messages, run_warnings
from rheos.training.summary import FileWriter

_EVERY_S = 1.0
_TRACED_RUNS = (2, 10, 100, 1000, 10000)


def _with_lines(graph):
    """The GraphDef of a graph, with the line of each node that is known."""
    graph_def = graph.as_graph_def(add_shapes=True)
    info, files = graph_def.debug_info, {}
    for operation in graph.get_operations():
        for file, line, _, _ in operation.traceback:
            if file not in files:
                files[file] = len(files)
                info.files.append(file)
            place = info.traces[operation.name].file_line_cols.add()
            place.file_index, place.line = files[file], line
    return graph_def


class _Recorder(run_warnings.Watcher):
    """Writes to a folder what the program makes, from a thread of its own and at its end."""

    def __init__(self, folder):
        self._writer = FileWriter(folder)
        self._graphs, self._functions, self._tags = [], [], 0
        self._written = None  # (graph, its version)
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, daemon=True)
        self._thread.start()

    def session_opened(self, session):
        """Has the session's graph written, and some of its runs traced."""
        with self._lock:
            if not any(session.graph is graph for graph in self._graphs):
                self._graphs.append(session.graph)
        session.run = self._traced(session.run)

    def function_traced(self, function):
        """Keeps the function, whose graph is written where the program has no session."""
        with self._lock:
            self._functions.append(function)

    def _traced(self, run):
        count = 0

        def traced_run(fetches, feed_dict=None, options=None, run_metadata=None):
            nonlocal count
            count += 1
            if count not in _TRACED_RUNS or options is not None or run_metadata is not None:
                return run(fetches, feed_dict, options, run_metadata)
            options = messages.RunOptions(trace_level=messages.RunOptions.FULL_TRACE)
            run_metadata = messages.RunMetadata()
            result = run(fetches, feed_dict, options, run_metadata)
            self._add_trace(run_metadata, count)
            return result

        return traced_run

    def _add_trace(self, run_metadata, count):
        with self._lock:
            self._tags += 1
            self._writer.add_run_metadata(run_metadata, f"{self._tags}: run {count}", count)
            self._writer.flush()

    def _largest(self):
        graphs = list(self._graphs)
        if not graphs:
            for function in self._functions:
                graphs += (c.graph for c in function._list_all_concrete_functions())
        return max(graphs, key=lambda graph: graph.version, default=None)

    def _write_graph(self):
        with self._lock:
            graph = self._largest()
            now = graph, graph.version if graph is not None else 0
            if graph is not None and now != self._written:
                self._writer.add_graph(_with_lines(graph))
                self._written = now
            self._writer.flush()

    def _keep_writing(self):
        while not self._is_over.wait(_EVERY_S):
            self._write_graph_if_possible()

    def _write_graph_if_possible(self):
        """A graph that cannot be written, or a full disk, does not end the program."""
        try:
            self._write_graph()
        except Exception:
            print("rheos: --view:", traceback.format_exc(limit=0).strip(), file=sys.stderr)
            self._is_over.set()

    def close(self):
        """Writes what came last."""
        if not self._is_over.is_set():
            self._is_over.set()
            self._thread.join()
            self._write_graph_if_possible()
        self._writer.close()


def _serve(command, folder):
    """Starts `rheos view --serve`, which ends with this process, and says where."""
    process = subprocess.Popen(
        [command, "view", "--serve", folder],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, RHEOS_VIEW_PARENT=str(os.getpid())),
    )
    line = process.stdout.readline()
    if line.startswith("ready "):
        print("rheos: view", line[len("ready ") :].strip(), file=sys.stderr)
        atexit.register(process.terminate)


def begin(how):
    """From here on the program is recorded. how: the command, a newline, the folder or nothing."""
    command, _, folder = how.partition("\n")
    base = os.path.splitext(os.path.basename(sys.argv[0]))[0].lstrip("-")
    folder = folder or f"{base or 'program'}.view"
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        sys.exit(f"rheos: run: --view: {error}")
    recorder = _Recorder(folder)
    run_warnings.set_watcher(recorder)
    atexit.register(recorder.close)
    _serve(command, folder)
