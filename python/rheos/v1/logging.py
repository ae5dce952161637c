"""Messages to standard error, by Python's logger "tensorflow"."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.logging import (
    DEBUG,
    ERROR,
    FATAL,
    INFO,
    WARN,
    TaskLevelStatusMessage,
    debug,
    error,
    fatal,
    flush,
    get_logger,
    get_verbosity,
    info,
    log,
    log_every_n,
    log_first_n,
    log_if,
    set_verbosity,
    vlog,
    warn,
    warning,
)

__getattr__ = _attribute_of("tensorflow.logging")
