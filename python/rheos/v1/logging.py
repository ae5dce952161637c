"""Messages to standard error."""

import sys as _sys

from rheos.framework.absent import attribute_of as _attribute_of

DEBUG = 10
INFO = 20
WARN = 30
ERROR = 40
FATAL = 50
_LETTERS = {DEBUG: "DEBUG", INFO: "INFO", WARN: "WARNING", ERROR: "ERROR", FATAL: "FATAL"}
_state = {"level": WARN, "counts": {}}


def set_verbosity(v):
    """Messages below this level are not shown; a level's number or name."""
    if isinstance(v, str):
        v = {name: level for level, name in _LETTERS.items()}[v.upper()]
    _state["level"] = v


def get_verbosity():
    """The lowest level that is shown."""
    return _state["level"]


def log(level, msg, *args, **kwargs):
    """Shows a message; `args` are put in with %."""
    if level < _state["level"]:
        return
    text = msg % args if args else msg
    _sys.stderr.write(f"{_LETTERS.get(level, level)}:rheos:{text}\n")


def debug(msg, *args, **kwargs):
    """Shows a message of level DEBUG; `args` are put in with %."""
    log(DEBUG, msg, *args)


def info(msg, *args, **kwargs):
    """Shows a message of level INFO; `args` are put in with %."""
    log(INFO, msg, *args)


def warn(msg, *args, **kwargs):
    """Shows a message of level WARN; `args` are put in with %."""
    log(WARN, msg, *args)


def warning(msg, *args, **kwargs):
    """Shows a message of level WARN; `args` are put in with %."""
    log(WARN, msg, *args)


def error(msg, *args, **kwargs):
    """Shows a message of level ERROR; `args` are put in with %."""
    log(ERROR, msg, *args)


def fatal(msg, *args, **kwargs):
    """Shows a message of level FATAL; `args` are put in with %."""
    log(FATAL, msg, *args)


def vlog(level, msg, *args, **kwargs):
    """Shows a message of any level; `args` are put in with %."""
    log(level, msg, *args)


def flush():
    """Writes out what was shown so far."""
    _sys.stderr.flush()


def _counter(token):
    count = _state["counts"][token] = _state["counts"].get(token, -1) + 1
    return count


def log_every_n(level, msg, n, *args):
    """Shows every n-th message of that text."""
    log_if(level, msg, not _counter(("every", msg)) % n, *args)


def log_first_n(level, msg, n, *args):
    """Shows the first n messages of that text."""
    log_if(level, msg, _counter(("first", msg)) < n, *args)


def log_if(level, msg, condition, *args):
    """Shows a message if the condition holds."""
    if condition:
        log(level, msg, *args)


def TaskLevelStatusMessage(msg):
    """Shows a message as an error."""
    error(msg)

__getattr__ = _attribute_of("tensorflow.logging")
