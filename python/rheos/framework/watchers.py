"""The tapes that record on this thread, and what they are told of variables."""

from rheos._core import TapeBase, _listen, _listeners, _stop_listening, _variable_was_read

listeners = _listeners  # gives the tapes that record
variable_was_read = _variable_was_read  # has tapes watch a variable that the program reads


def listen(tape):
    """Has a tape be told of the trainable variables that this thread reads, by tape._watch().

    Where tapes do not remember anything, it is told by tape._pause() and tape._resume().
    """
    core, variables = getattr(tape, "_tape", None), None
    if isinstance(core, TapeBase):
        variables = tape._variables
    else:
        core = None  # it only knows graphs
    _listen(tape, core, variables, tape._watch_accessed_variables)


def stop_listening(tape):
    """Ends that; ValueError if the tape was not told."""
    if not _stop_listening(tape):
        raise ValueError("the tape is not recording on this thread")


def keep_for_tapes(value):
    """Has what the tapes of this thread remember keep a value, which their gradients need."""
    for tape in _listeners():
        tape._keep(value)


class stop_recording:
    """A context in which no tape of this thread remembers anything."""

    def __enter__(self):
        self._paused = _listeners()
        for tape in self._paused:
            tape._pause()

    def __exit__(self, *exc_info):
        for tape in self._paused:
            tape._resume()
