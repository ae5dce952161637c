"""Which TensorFlow this stands for, what it is built of, and the versions of graphs."""

import sys as _sys

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.version import __version__ as _version

VERSION = "1.15.5"
GIT_VERSION = f"rheos-{_version}"
# Python's, "3.11.2 (...) [GCC 12.2.0]": the library does not tell its own.
COMPILER_VERSION = _sys.version.rpartition("[")[2].rstrip("]")
# Of the graphs that are written.
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 134, 0, 0

__getattr__ = _attribute_of("tensorflow.version")
