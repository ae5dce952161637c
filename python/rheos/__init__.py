"""Rheos: dataflow graphs and sessions.

`import rheos.v1 as tf` gives TensorFlow 1's names.
"""

__version__ = "0.1.0"


def __getattr__(name):
    raise AttributeError(
        f"module 'rheos' has no attribute {name!r} (the TensorFlow 1 names are in rheos.v1)"
    )
