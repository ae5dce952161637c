"""`rheos debug --record` and `--replay`: one step kept in a file, and computed again.

A recording has the graph, and of one run of a session, or of one call of a traced function, what
each operation computed, in order.
Replaying computes each value again from the sources: what was fed, and what comes out of variables,
queues, random numbers and all else that has state, as it was recorded. So another build, number of
threads or set of rewriting rules shows where it first gives something else.
"""

import argparse
import base64
import contextlib
import json
import sys
import zipfile
from collections import namedtuple

import numpy as np

from rheos.framework import messages, run_warnings
from rheos.framework.errors import OpError
from rheos.framework.graph import Graph
from rheos.framework.importer import import_graph_def
from rheos.inspection.calls import arguments_of, place_name
from rheos.training import watches
from rheos.training.object_saving import called_by, needed_functions
from rheos.training.session import Session

_VERSION = 1


class Recording(namedtuple("Recording", "graph_def fetches values order lines")):
    """A step: the graph; names of tensors that were fetched; {name: array or None} of what was
    computed or fed; names in the order of computing, without what was fed; {name: (file, line)}."""

    __slots__ = ()


# ---- Files


def _packed(value):
    """(array to save, how it is to be unpacked): texts are kept as JSON."""
    value = np.asarray(value)
    if value.dtype.kind not in "OSU":
        return value.view(np.uint8).reshape(-1) if value.dtype.kind == "V" else value, None
    flat = [base64.b64encode(_bytes(item)).decode() for item in value.ravel()]
    return np.zeros(0), {"shape": value.shape, "texts": flat}


def _bytes(item):
    return item if isinstance(item, bytes) else str(item).encode()


def _unpacked(array, how):
    if how is None:
        return array
    flat = np.array([base64.b64decode(text) for text in how["texts"]] + [None], object)[:-1]
    return flat.reshape(how["shape"])


def write(path, recording):
    """Writes a Recording; OSError where that fails."""
    names = [name for name, value in recording.values.items() if value is not None]
    arrays, texts = {}, {}
    for i, name in enumerate(names):
        arrays[f"v{i}"], how = _packed(recording.values[name])
        if how is not None:
            texts[name] = how
    told = {
        "version": _VERSION,
        "fetches": recording.fetches,
        "names": names,
        "texts": texts,
        "order": recording.order,
        "lines": recording.lines,
    }
    graph = np.frombuffer(recording.graph_def.SerializeToString(), np.uint8)
    with open(path, "wb") as file:
        np.savez(file, told=json.dumps(told), graph=graph, **arrays)


def read(path):
    """Reads a Recording; ValueError where the file is none."""
    try:
        with np.load(path, allow_pickle=False) as file:
            told = json.loads(str(file["told"]))
            graph_def = messages.GraphDef()
            graph_def.ParseFromString(file["graph"].tobytes())
            arrays = [file[f"v{i}"] for i in range(len(told["names"]))]
    except (KeyError, EOFError, zipfile.BadZipFile, json.JSONDecodeError, ValueError) as error:
        raise ValueError(f"it is no recording of a step: {error}") from None
    if told.get("version") != _VERSION:
        raise ValueError(f"it is a recording of version {told.get('version')}, not {_VERSION}")
    values = {
        name: _unpacked(array, told["texts"].get(name))
        for name, array in zip(told["names"], arrays)
    }
    return Recording(graph_def, told["fetches"], values, told["order"], told["lines"])


# ---- Recording


def _tensor_names(fetches, graph):
    flat, stack = [], [fetches]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, (list, tuple)):
            stack.extend(item)
        else:
            element = graph.as_graph_element(item)
            if hasattr(element, "op"):
                flat.append(element.name)
    return flat


def _keeper(values, order, lines, place=""):
    """What keeps the values of the graph that is there, and none of bodies."""

    def seen(watched):
        if watched.place != place:
            return
        values[watched.name] = watched.value
        order.append(watched.name)
        if watched.file is not None:
            lines[watched.name] = (watched.file, watched.line)

    return seen


class Recorder(run_warnings.Watcher):
    """Records one run of a program's sessions, or call of its traced functions: the one of that
    number, or None for the first that gives a tensor."""

    def __init__(self, path, number):
        self._path, self._number = path, number
        self._count, self._is_done, self._is_recording = 0, False, False

    def session_opened(self, session):
        """Has one of the session's runs recorded."""
        run = session.run

        def recorded_run(fetches, feed_dict=None, options=None, run_metadata=None):
            self._count += 1
            if self._is_done or not self._is_wanted(session, fetches):
                return run(fetches, feed_dict, options, run_metadata)
            self._is_done = True
            return self._record(session, run, (fetches, feed_dict, options, run_metadata))

        session.run = recorded_run

    def called(self, function, tensors):
        """Calls a traced function, and records the call if it is the one that is wanted."""
        traced = function.first or function
        self._count += not self._is_recording
        wanted = self._is_call_wanted(traced)
        if self._is_recording or self._is_done or not wanted:
            return function.call_unobserved(tensors)
        self._is_done = True
        values, order, lines = arguments_of(traced, tensors), [], {}
        seen = _keeper(values, order, lines, f"{place_name(traced.graph.name)};0")
        with self._within(), watches.watch("*", seen, "values"):
            result = function.call_unobserved(tensors)
        graph_def = traced.graph.as_graph_def()
        named = [name for node in graph_def.node for name in called_by(node)]
        graph_def.library.CopyFrom(needed_functions(named))
        names = [tensor.name for tensor in traced.graph.outputs]
        self._keep(Recording(graph_def, names, values, order, lines))
        return result

    def _is_call_wanted(self, function):
        if not hasattr(function.graph, "inputs"):
            return False  # of a saved model: its graph is not known
        if self._number is not None:
            return self._count == self._number
        return bool(function.graph.outputs)

    def _is_wanted(self, session, fetches):
        if self._number is not None:
            return self._count == self._number
        return bool(_tensor_names(fetches, session.graph))

    def _record(self, session, run, arguments):
        fetches, feed_dict, _, _ = arguments
        values, order, lines = {}, [], {}
        for key, value in (feed_dict or {}).items():
            tensor = session.graph.as_graph_element(key)
            values[tensor.name] = np.asarray(value, tensor.dtype.as_numpy_dtype)
        with self._within(), session.watch("*", _keeper(values, order, lines), "values"):
            result = run(*arguments)
        graph_def = session.graph.as_graph_def()
        names = _tensor_names(fetches, session.graph)
        self._keep(Recording(graph_def, names, values, order, lines))
        return result

    @contextlib.contextmanager
    def _within(self):
        self._is_recording = True
        try:
            yield
        finally:
            self._is_recording = False

    def _keep(self, recording):
        try:
            write(self._path, recording)
        except OSError as error:
            sys.exit(f"rheos: {self._path}: {error.strerror}")
        count = len(recording.order)
        print(f"run {self._count} is in {self._path}: {count} values", file=sys.stderr)

    def program_ended(self):
        """Says where nothing was recorded."""
        if not self._is_done:
            print(f"rheos: no run was recorded, of {self._count}", file=sys.stderr)


# ---- Replaying


class Difference(namedtuple("Difference", "name op recorded computed inputs line error")):
    """Where a replay first gave something else: the tensor, the operation's type, both arrays,
    [(name, array or None)] of its inputs, (file, line) or None; error: the run's, instead of a
    computed array."""

    __slots__ = ()

    def __str__(self):
        text = f"{self.name} ({self.op})"
        if self.line:
            text += f", {self.line[0]}:{self.line[1]}"
        if self.error is not None:
            return f"{text}: {self.error}"
        return f"{text}: {_compared(self.recorded, self.computed)}"


def _array(value):
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind == "S" else array


def _compared(a, b):
    a, b = _array(a), _array(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {list(a.shape)} was {b.dtype} {list(b.shape)}"
    where = np.flatnonzero(~_same_elements(a, b, 0.0))
    first = np.unravel_index(where[0], a.shape)
    text = f"{where.size} of {a.size} elements differ"
    if a.dtype.kind in "fiuc":
        kind = np.complex128 if a.dtype.kind == "c" else np.float64
        with np.errstate(invalid="ignore"):
            text += f", by {np.nanmax(np.abs(a.astype(kind) - b.astype(kind))):g} at most"
    return f"{text}; element {list(map(int, first))}: {a[first]} was, {b[first]} is"


def _same_elements(a, b, tolerance):
    if a.dtype.kind not in "fc":
        return np.asarray(a == b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if tolerance > 0:
        with np.errstate(invalid="ignore"):
            same |= np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b))
    return np.asarray(same)


def _is_same(a, b, tolerance):
    a, b = _array(a), _array(b)
    return (
        a.dtype == b.dtype and a.shape == b.shape and bool(_same_elements(a, b, tolerance).all())
    )


_FRAMES = ("Enter", "Merge", "Switch", "NextIteration", "Exit", "LoopCond")


class _Replay:
    def __init__(self, recording, config, tolerance):
        self.recording, self.tolerance, self.num_compared = recording, tolerance, 0
        self.graph = Graph()
        with self.graph.as_default():
            import_graph_def(recording.graph_def, name="")
        self.session = Session(graph=self.graph, config=config)
        self.computed = set(recording.order)
        self.has_state_in_loops = any(
            self._has_state(operation) and operation._control_flow_context is not None
            for operation in self.graph.get_operations()
            if hasattr(operation, "_control_flow_context")
        )
        self.sources = {}  # by tensor: the value that is fed
        for name, value in recording.values.items():
            tensor = self.graph.get_tensor_by_name(name)
            if value is not None and (name not in self.computed or self._is_source(tensor.op)):
                self.sources[tensor] = value

    def _has_state(self, operation):
        return operation.op_def.is_stateful

    def _is_source(self, operation):
        if self._has_state(operation) or operation.type in ("Placeholder", "PlaceholderV2"):
            return True
        if self.has_state_in_loops and operation.type in _FRAMES:
            return True
        return any(
            tensor.dtype._is_ref_dtype or tensor.dtype.name == "resource"
            for tensor in operation.inputs
        )

    def feeds_of(self, tensor):
        """The sources that the tensor is computed from; None where an effect comes before it."""
        feeds, seen, stack = {}, set(), [tensor.op]
        while stack:
            operation = stack.pop()
            if operation in seen:
                continue
            seen.add(operation)
            fed = [t for t in operation.outputs if t in self.sources]
            if fed and operation is not tensor.op:  # waited for, or taken
                feeds.update((t, self.sources[t]) for t in fed)
                continue
            if self._is_source(operation):
                return None
            stack.extend(taken.op for taken in operation.inputs)
            stack.extend(operation.control_inputs)
        return feeds

    def compare(self, name):
        """The Difference of one value; None where it is the same, or is not computed again."""
        tensor = self.graph.get_tensor_by_name(name)
        recorded = self.recording.values.get(name)
        feeds = None
        if recorded is not None and tensor not in self.sources:
            feeds = self.feeds_of(tensor)
        if feeds is None:
            return None
        self.num_compared += 1
        computed = error = None
        try:
            computed = self.session.run(tensor, feeds)
        except (OpError, ValueError) as failed:
            error = str(failed).splitlines()[0]
        if error is None and _is_same(recorded, computed, self.tolerance):
            return None
        inputs = [(taken.name, self.recording.values.get(taken.name)) for taken in tensor.op.inputs]
        line = self.recording.lines.get(name)
        return Difference(name, tensor.op.type, recorded, computed, inputs, line, error)

    def compare_all(self, names):
        """The first Difference."""
        for name in names:
            difference = self.compare(name)
            if difference is not None:
                return difference
        return None


def replay(recording, config=None, tolerance=0.0, whole=False):
    """Computes a Recording again: (how many values were compared, the first Difference or None).

    config: the session's ConfigProto. tolerance: how much numbers may differ, relatively. The
    fetched values are compared first; if these are the same others are only with `whole`.
    """
    step = _Replay(recording, config, tolerance)
    with step.session:
        found = step.compare_all(recording.fetches)
        if found is None and step.num_compared and not whole:
            return step.num_compared, None
        step.num_compared = 0
        first = step.compare_all(recording.order)
        return step.num_compared, first if first is not None else found


# ---- The command


def _config(options):
    config = messages.ConfigProto()
    if options.threads is not None:
        config.intra_op_parallelism_threads = options.threads
    if options.no_rewriting:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def main(arguments):
    """`rheos debug --replay`: the exit status is 0 if all is the same, 1 if not, 2 on failure."""
    parser = argparse.ArgumentParser(prog="rheos debug --replay", add_help=False)
    parser.add_argument("path")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--no-rewriting", action="store_true")
    parser.add_argument("--tolerance", type=float, default=0.0)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args(arguments)
    try:
        recording = read(options.path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        print(f"rheos: {options.path}: {why}", file=sys.stderr)
        return 2
    count, difference = replay(recording, _config(options), options.tolerance, options.whole)
    if difference is None:
        print(f"{count} values are the same")
        return 0
    print(f"the first of {count} values that is not the same: {difference}")
    for name, value in difference.inputs:
        kind = "" if value is None else f" {np.asarray(value).dtype} {list(np.shape(value))}"
        print(f"  takes {name}{kind}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
