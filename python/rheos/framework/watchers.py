"""The tapes that record on this thread, and what they are told of variables."""

import threading


class _Recording(threading.local):
    def __init__(self):
        self.tapes = []


_recording = _Recording()


def recording_tapes():
    """The tapes that record on this thread, the latest last; the list itself."""
    return _recording.tapes


def variable_was_read(variable):
    """Has tapes watch a trainable variable whose value the program asks for."""
    for tape in _recording.tapes:
        if tape._watch_accessed_variables:
            tape._watch(variable)


class stop_recording:
    """A context in which no tape of this thread remembers anything."""

    def __enter__(self):
        self._paused = list(_recording.tapes)
        for tape in self._paused:
            tape._tape._stop()
        del _recording.tapes[:]

    def __exit__(self, *exc_info):
        for tape in self._paused:
            tape._tape._record()
        _recording.tapes[:] = self._paused
