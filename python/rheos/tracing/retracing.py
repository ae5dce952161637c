"""Says why a function is traced again and again, and what would stop it."""

import sys
import threading
import weakref
from collections import deque

from rheos.framework import run_warnings
from rheos.tracing.kinds import ObjectKind, PartsKind, TensorKind, ValueKind

_WARN_FROM = 5  # traces among the last _WINDOW calls
_WINDOW = 10


class Watch:
    """Counts the traces of one function among its last calls; tells once of too many."""

    def __init__(self):
        self._last = deque(maxlen=_WINDOW)
        self._has_told = False

    def were_called(self, count):
        """Notes calls that took earlier traces."""
        self._last.extend([False] * min(count, _WINDOW))

    def called(self, is_traced):
        """Notes a call; True if it is one trace too many, for the first time."""
        self._last.append(is_traced)
        if not is_traced or self._has_told or sum(self._last) <= _WARN_FROM:
            return False
        self._has_told = True
        return True

    def text(self):
        """How many of the last calls were traced; the first trace of all is none too many."""
        return f"{_WARN_FROM} out of the last {len(self._last) - 1} calls"


def _is_own(module):
    """Whether a module of that name is the package's."""
    return module.partition(".")[0] == "rheos"


class _Remade:
    """Counts functions that were made of one and the same code, and traced each by itself."""

    def __init__(self):
        self._counts = weakref.WeakKeyDictionary()  # {code: how many}
        self._lock = threading.Lock()

    def count(self, python_function):
        """How many there were, this one included; 0 for what has no code of the program's."""
        code = getattr(python_function, "__code__", None)
        if code is None or _is_own(python_function.__module__ or ""):
            return 0
        with self._lock:
            self._counts[code] = found = self._counts.get(code, 0) + 1
        return found


_remade = _Remade()


def note_first_trace(python_function, name):
    """Warns if a function is made anew for each call, as in a loop: each is traced by itself."""
    count = _remade.count(python_function)
    if count == _WARN_FROM:
        code = python_function.__code__
        run_warnings.warn(
            "retracing",
            *caller(),
            f"{name} was made and traced {count} times, which is slow: make the tf.function at "
            f"{code.co_filename}:{code.co_firstlineno} once, outside of the loop or function that "
            "makes it",
        )


def caller():
    """File and line of the program that is calling the library."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not _is_own(name):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None, 0


def _differences(name, one, other):
    """(name, earlier kind, later kind) of the parts that differ."""
    if one == other:
        return
    same = isinstance(one, PartsKind) and isinstance(other, PartsKind)
    if same and one.type is other.type and one.keys == other.keys:
        if len(one.parts) == len(other.parts):
            keys = one.keys or range(len(one.parts))
            for key, first, second in zip(keys, one.parts, other.parts):
                yield from _differences(f"{name}[{key!r}]", first, second)
            return
    yield name, one, other


def _advice(one, other):
    if isinstance(one, TensorKind) and isinstance(other, TensorKind):
        if one.dtype != other.dtype:
            return "cast it to one dtype before the call"
        return "pass reduce_retracing=True or an input_signature with None for dimensions that vary"
    if isinstance(one, ValueKind) and isinstance(other, ValueKind):
        if isinstance(other.value, (bool, int, float)):
            return "pass it as a tensor, by tf.constant(), if the graph may depend on its value"
        return "each value of Python makes a graph of its own: call with fewer different ones"
    if isinstance(one, ObjectKind) and isinstance(other, ObjectKind):
        return "each object makes a graph of its own: make the object once, or pass its tensors"
    return "pass the same kind of argument in each call"


def _distance(one, other):
    return len(list(_differences("", one, other)))


def explain(function_name, names, kind, earlier, watch):
    """Warns of a trace: which argument changed, how, where, and what would stop it.

    names: of the arguments. kind: the PartsKind of the arguments. earlier: those of traces before.
    watch: the function's Watch.
    """
    nearest = min(reversed(earlier), key=lambda one: _distance(one, kind))
    parts = list(zip(names, nearest.parts, kind.parts))
    found = [d for name, one, other in parts for d in _differences(name, one, other)]
    if len(nearest.parts) != len(kind.parts):
        found.append(("the number of arguments", nearest, kind))
    lines = [f"'{name}' was {a!r} and is now {b!r}; {_advice(a, b)}" for name, a, b in found[:3]]
    if not lines:
        lines = ["the arguments are those of an earlier trace, but it was dropped or failed"]
    run_warnings.warn(
        "retracing",
        *caller(),
        f"{watch.text()} triggered retracing of the tf.function {function_name}, which is slow; "
        f"this is said once. {'. '.join(lines)}",
    )
