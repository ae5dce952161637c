"""TensorFlow 1 names on Rheos: graphs, and sessions that run them.

import rheos.v1 as tf
"""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1 import (
    app,
    audio,
    bitwise,
    compat,
    debugging,
    dtypes,
    errors,
    flags,
    gfile,
    image,
    initializers,
    io,
    layers,
    logging,
    lookup,
    losses,
    manip,
    math,
    metrics,
    nest,
    nn,
    python_io,
    quantization,
    queue,
    ragged,
    random,
    raw_ops,
    sets,
    sparse,
    spectral,
    strings,
    summary,
    train,
    version,
)
from rheos.v1._names import fill as _fill
from rheos.v1.version import COMPILER_VERSION, GIT_VERSION, VERSION

_fill(__name__)


__version__, __git_version__, __compiler_version__ = VERSION, GIT_VERSION, COMPILER_VERSION
CXX11_ABI_FLAG = MONOLITHIC_BUILD = 0


_MESSAGES = (
    "AttrValue",
    "ConfigProto",
    "Event",
    "Example",
    "GPUOptions",
    "GraphDef",
    "GraphOptions",
    "HistogramProto",
    "LogMessage",
    "MetaGraphDef",
    "NameAttrList",
    "NodeDef",
    "OptimizerOptions",
    "RunMetadata",
    "RunOptions",
    "SessionLog",
    "Summary",
    "SummaryMetadata",
    "TensorInfo",
)
# Modules that are large, or need what is: imported when they are used.
_LATER = (
    "autograph",
    "config",
    "contrib",
    "data",
    "distribute",
    "distributions",
    "estimator",
    "feature_column",
    "examples",
    "graph_util",
    "keras",
    "linalg",
    "pywrap_tensorflow",
    "resource_loader",
    "saved_model",
    "signal",
    "test",
)
_absent = _attribute_of("tensorflow", _MESSAGES)


def __getattr__(name):
    if name in _LATER:
        return __import__(f"{__name__}.{name}", fromlist=("",))
    if name == "function":
        from rheos.tracing.function import function

        return function
    if name == "wrap_function":
        from rheos.tracing.wrapped import wrap_function

        return wrap_function
    if not name.startswith("_"):
        from rheos.v1._legacy import NAMES

        if name in NAMES:
            return NAMES[name]
    return _absent(name)


def __dir__():
    names = (n for n in globals() if not n.startswith("_"))
    return sorted({*names, *_MESSAGES, *_LATER, "__version__", "function", "wrap_function"})
