"""Sessions: tensorflow.python.client.session."""

from rheos.training.session import (
    BaseSession,
    InteractiveSession,
    Session,
    register_session_run_conversion_functions,
)
