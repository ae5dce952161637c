"""Messages to standard error, by Python's logger "tensorflow".

That logger is TensorFlow's, so programs that set its level or its handlers find it. It is made when
it is first used: Python's logging is slow to import.
"""

import sys

DEBUG = 10
INFO = 20
WARN = 30
ERROR = 40
FATAL = 50
_state = {"logger": None, "counts": {}}


def python_logger():
    """Python's logger "tensorflow", with the handlers that it has."""
    import logging

    return logging.getLogger("tensorflow")


def _made():
    import logging

    class Handler(logging.StreamHandler):
        """Writes to what standard error is at the time."""

        def __init__(self):
            logging.Handler.__init__(self)

        @property
        def stream(self):
            return sys.stderr

    logger = python_logger()
    if not logging.getLogger().handlers and not logger.handlers:
        handler = Handler()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT, None))
        logger.addHandler(handler)
    return logger


def get_logger():
    """Python's logger "tensorflow"."""
    if _state["logger"] is None:
        _state["logger"] = _made()
    return _state["logger"]


def set_verbosity(v):
    """Messages below this level are not shown; a level's number or name."""
    get_logger().setLevel(v)


def get_verbosity():
    """The lowest level that is shown."""
    return get_logger().getEffectiveLevel()


def log(level, msg, *args, **kwargs):
    """Shows a message; `args` are put in with %."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    """Shows a message of level DEBUG; `args` are put in with %."""
    log(DEBUG, msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    """Shows a message of level INFO; `args` are put in with %."""
    log(INFO, msg, *args, **kwargs)


def warn(msg, *args, **kwargs):
    """Shows a message of level WARN; `args` are put in with %."""
    log(WARN, msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    """Shows a message of level WARN; `args` are put in with %."""
    log(WARN, msg, *args, **kwargs)


def error(msg, *args, **kwargs):
    """Shows a message of level ERROR; `args` are put in with %."""
    log(ERROR, msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    """Shows a message of level FATAL; `args` are put in with %."""
    log(FATAL, msg, *args, **kwargs)


def vlog(level, msg, *args, **kwargs):
    """Shows a message of any level; `args` are put in with %."""
    log(level, msg, *args, **kwargs)


def flush():
    """Writes out what was shown so far."""
    sys.stderr.flush()


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
