"""Whether a program is one of TensorFlow 2: tensorflow.python.tf2."""

import os

_forced = []


def enable():
    """Has enabled() be true."""
    _forced[:] = [True]


def disable():
    """Has enabled() be false."""
    _forced[:] = [False]


def enabled():
    """What was said last; before, whether the variable TF2_BEHAVIOR of the environment is 1."""
    return _forced[0] if _forced else os.environ.get("TF2_BEHAVIOR", "0") == "1"
