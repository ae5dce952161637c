"""absl.logging: messages by Python's logger "absl", to standard error."""

import logging as _python
import os as _os
import sys as _sys
import time as _time

DEBUG, INFO, WARNING, ERROR, FATAL = 1, 0, -1, -2, -3
WARN = WARNING
_LEVELS = {
    DEBUG: _python.DEBUG,
    INFO: _python.INFO,
    WARNING: _python.WARNING,
    ERROR: _python.ERROR,
    FATAL: _python.CRITICAL,
}
_NAMES = {"debug": DEBUG, "info": INFO, "warning": WARNING, "warn": WARNING, "error": ERROR,
          "fatal": FATAL}  # fmt: skip


class _Handler(_python.StreamHandler):
    """Writes to what standard error is at the time."""

    def __init__(self):
        _python.Handler.__init__(self)
        text = "%(levelname).1s%(asctime)s %(process)7d %(filename)s:%(lineno)d] %(message)s"
        self.setFormatter(_python.Formatter(text, "%m%d %H:%M:%S"))

    @property
    def stream(self):
        return _sys.stderr


_handler = _Handler()
_logger = _python.getLogger("absl")
_logger.addHandler(_handler)
_logger.propagate = False
_logger.setLevel(_python.WARNING)
_state = {"verbosity": WARNING}
_counts, _times = {}, {}


def _level(level):
    """The level of Python's logging; those above DEBUG, of vlog, are below its DEBUG."""
    if isinstance(level, str):
        level = _NAMES[level.lower()]
    return _LEVELS[max(level, FATAL)] if level <= DEBUG else max(_python.DEBUG - level + 1, 1)


def set_verbosity(v):
    """Messages below this level are not shown: a level of this module, or its name."""
    _state["verbosity"] = _NAMES[v.lower()] if isinstance(v, str) else int(v)
    _logger.setLevel(_level(v))


def get_verbosity():
    """The lowest level that is shown."""
    return _state["verbosity"]


def set_stderrthreshold(s):
    """The lowest level that is written to standard error."""
    _handler.setLevel(_level(s))


def log(level, msg, *args, **kwargs):
    """Shows a message; `args` are put in with %."""
    kwargs.setdefault("stacklevel", 2)
    _logger.log(_level(level), msg, *args, **kwargs)


def _of_level(name, level):
    def show(msg, *args, **kwargs):
        log(level, msg, *args, stacklevel=3, **kwargs)

    show.__name__ = show.__qualname__ = name
    show.__doc__ = f"Shows a message of level {name.upper()}; `args` are put in with %."
    return show


debug, info, error = _of_level("debug", DEBUG), _of_level("info", INFO), _of_level("error", ERROR)
warning = warn = _of_level("warning", WARNING)


def fatal(msg, *args, **kwargs):
    """Shows a message of level FATAL, and aborts the program."""
    log(FATAL, msg, *args, stacklevel=3, **kwargs)
    flush()
    _os.abort()


def exception(msg, *args, exc_info=True, **kwargs):
    """Shows a message of level ERROR with the exception that is handled."""
    log(ERROR, msg, *args, exc_info=exc_info, stacklevel=3, **kwargs)


def vlog(level, msg, *args, **kwargs):
    """Shows a message of any level; 2 and more are below DEBUG."""
    log(level, msg, *args, stacklevel=3, **kwargs)


def vlog_is_on(level):
    """Whether messages of a level are shown."""
    return _logger.isEnabledFor(_level(level))


level_debug = lambda: vlog_is_on(DEBUG)  # noqa: E731
level_info = lambda: vlog_is_on(INFO)  # noqa: E731


def log_if(level, msg, condition, *args, **kwargs):
    """Shows a message if a condition holds."""
    if condition:
        log(level, msg, *args, stacklevel=3, **kwargs)


def _count(kind, msg):
    count = _counts[kind, msg] = _counts.get((kind, msg), -1) + 1
    return count


def log_every_n(level, msg, n, *args, **kwargs):
    """Shows every n-th message of that text."""
    log_if(level, msg, not _count("every", msg) % n, *args, **kwargs)


def log_first_n(level, msg, n, *args, **kwargs):
    """Shows the first n messages of that text."""
    log_if(level, msg, _count("first", msg) < n, *args, **kwargs)


def log_every_n_seconds(level, msg, n_seconds, *args, **kwargs):
    """Shows a message of that text if none was shown for so many seconds."""
    now = _time.monotonic()
    if now - _times.get(msg, -n_seconds) >= n_seconds:
        _times[msg] = now
        log(level, msg, *args, stacklevel=3, **kwargs)


def flush():
    """Writes out what was shown so far."""
    _handler.flush()


def get_absl_logger():
    """Python's logger "absl"."""
    return _logger


def get_absl_handler():
    """The handler that writes its messages."""
    return _handler


def use_absl_handler():
    """Has messages of all loggers written as those of this module."""
    root = _python.getLogger()
    if _handler not in root.handlers:
        root.addHandler(_handler)
        _logger.removeHandler(_handler)
        _logger.propagate = True
