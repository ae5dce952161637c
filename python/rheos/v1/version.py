"""Which TensorFlow this stands for, what it is built of, and the versions of graphs."""

import sys as _sys

import rheos as _rheos
from rheos.framework.absent import attribute_of as _attribute_of

VERSION = "1.15.5"
GIT_VERSION = f"rheos-{_rheos.__version__}"
# Python's, "3.11.2 (...) [GCC 12.2.0]": the library does not tell its own.
COMPILER_VERSION = _sys.version.rpartition("[")[2].rstrip("]")
# Of the graphs that are written.
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 134, 0, 0

__getattr__ = _attribute_of("tensorflow.version")
