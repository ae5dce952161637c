"""tf.profiler.experimental: what functions and steps of a program take, for TensorBoard's profiles.

What is recorded: calls of traced functions from Python, and the parts of the program that Trace
names, by thread. The files are those of TensorFlow's profiler:
PATH/plugins/profile/RUN/HOST.xplane.pb.
"""

import collections
import os
import socket
import threading
import time

from rheos.framework import errors, gfile, messages
from rheos.tracing import concrete

ProfilerOptions = collections.namedtuple(
    "ProfilerOptions",
    ["host_tracer_level", "python_tracer_level", "device_tracer_level", "delay_ms"],
    defaults=[2, 0, 1, None],
)
ProfilerOptions.__doc__ = "How much is to be recorded; taken, and without effect."


class _Recording:
    """The events since start(): (thread, name, start and end in nanoseconds, numbers and texts)."""

    def __init__(self, folder):
        self.folder = folder
        self.started_ns = time.time_ns()
        self._clock_ns = time.perf_counter_ns()
        self.events = []

    def note(self, name, start_ns, end_ns, stats):
        """Adds an event; the times are of perf_counter_ns()."""
        thread = threading.current_thread()
        since = max(start_ns - self._clock_ns, 0)
        self.events.append((thread.ident, thread.name, name, since, end_ns - start_ns, stats))

    def space(self):
        """The events as an XSpace message."""
        made = messages.XSpace(hostnames=[socket.gethostname()])
        plane = made.planes.add(id=1, name="/host:CPU")
        events, stats, lines = {}, {}, {}
        for thread, thread_name, name, since, duration, values in list(self.events):
            line = lines.get(thread)
            if line is None:
                line = lines[thread] = plane.lines.add(
                    id=thread, name=thread_name, timestamp_ns=self.started_ns
                )
            number = events.setdefault(name, len(events) + 1)
            event = line.events.add(
                metadata_id=number, offset_ps=since * 1000, duration_ps=duration * 1000
            )
            for key, value in values.items():
                _add_stat(event, stats.setdefault(key, len(stats) + 1), value)
        for name, number in events.items():
            plane.event_metadata[number].id = number
            plane.event_metadata[number].name = name
        for name, number in stats.items():
            plane.stat_metadata[number].id = number
            plane.stat_metadata[number].name = name
        return made


def _add_stat(event, number, value):
    stat = event.stats.add(metadata_id=number)
    if isinstance(value, (bool, int)) and -(2**63) <= value < 2**63:
        stat.int64_value = int(value)
    elif isinstance(value, float):
        stat.double_value = value
    else:
        stat.str_value = str(value)


class _Profiler:
    """The recording that goes on, of which a process has one, and who looks at calls."""

    def __init__(self):
        self.recording = None
        self.graphs = None  # {name: graph} of functions that were called, while they are wanted
        self.lock = threading.Lock()

    def watch(self):
        """Has calls of functions be looked at while anybody wants that."""
        wanted = self.recording is not None or self.graphs is not None
        concrete.observe_calls(self._called if wanted else None)

    def _called(self, function, tensors):
        graphs, recording = self.graphs, self.recording
        if graphs is not None:
            graphs.setdefault(function.graph.name, function.graph)
        if recording is None:
            return function.call_unobserved(tensors)
        start = time.perf_counter_ns()
        try:
            return function.call_unobserved(tensors)
        finally:
            recording.note(function.graph.name, start, time.perf_counter_ns(), {})


_profiler = _Profiler()


def start(logdir, options=None):
    """Begins a profile that stop() writes below a folder. AlreadyExistsError if one goes on."""
    with _profiler.lock:
        if _profiler.recording is not None:
            raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
        _profiler.recording = _Recording(os.fsdecode(logdir))
        _profiler.watch()


def stop(save=True):
    """Ends the profile, and writes it if `save`. UnavailableError if there is none."""
    with _profiler.lock:
        recording, _profiler.recording = _profiler.recording, None
        _profiler.watch()
    if recording is None:
        raise errors.UnavailableError(
            None, None, "Cannot export profiling results. No profiler is running."
        )
    if not save:
        return
    moment = time.localtime(recording.started_ns // 10**9)
    run = time.strftime("%Y_%m_%d_%H_%M_%S", moment)
    folder = os.path.join(recording.folder, "plugins", "profile", run)
    gfile.MakeDirs(folder)
    path = os.path.join(folder, f"{socket.gethostname()}.xplane.pb")
    with gfile.GFile(path, "wb") as file:
        file.write(recording.space().SerializeToString())


class Profile:
    """A context whose profile is written below a folder."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, kind, value, traceback):
        stop()


class Trace:
    """A context that a profile shows under a name, with what is given of it, such as step_num."""

    def __init__(self, name, **kwargs):
        self._name, self._stats = name, kwargs
        self._start_ns = None

    def __enter__(self):
        self._start_ns = time.perf_counter_ns()
        return self

    def set_metadata(self, **kwargs):
        """Adds to what is told of it."""
        self._stats.update(kwargs)

    def __exit__(self, kind, value, traceback):
        recording = _profiler.recording
        if recording is not None:
            recording.note(self._name, self._start_ns, time.perf_counter_ns(), self._stats)


# ---- Graphs of the functions that are called, for summaries


def note_graphs(is_wanted):
    """Begins, or ends, to note which functions are called."""
    with _profiler.lock:
        _profiler.graphs = {} if is_wanted else None
        _profiler.watch()


def noted_graphs():
    """The graphs of the functions that were called; None if they were not noted."""
    graphs = _profiler.graphs
    return None if graphs is None else list(graphs.values())
