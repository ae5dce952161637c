"""Rheos: dataflow graphs and sessions.

`import rheos as tf` gives TensorFlow 2's names, and eager execution with the first that is used;
`import rheos.v1 as tf` gives TensorFlow 1's names, `rheos.raw_ops` each op by its own name.
`rheos.write_graph` and `rheos.read_graph` keep large constants in files beside the graph.
"""

import _imp
import os
import sys


def _is_there(module):
    """Without importlib.util, which is slow to import."""
    finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
    return module in sys.modules or any(find(module, None) for find in finders if find is not None)


def _why_not():
    """What this interpreter lacks that Rheos needs, and what to do; None if it lacks nothing."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.version_info < (3, 9):
        version = ".".join(map(str, sys.version_info[:2]))
        return f"Rheos needs Python 3.9 or a later one, {sys.executable} is Python {version}"
    names = ["_core" + suffix for suffix in _imp.extension_suffixes()]
    if not any(os.path.exists(os.path.join(folder, name)) for name in names):
        found = sorted(
            name[len("_core.") : -len(".so")]
            for name in os.listdir(folder)
            if name.startswith("_core.") and name.endswith(".so")
        )
        if not found:
            return None  # the import of it tells
        return (
            f"Rheos in {folder} was built for {', '.join(found)}, not for this Python "
            f"({sys.implementation.cache_tag}, {sys.executable}): install its wheel with pip, "
            "or run with the Python that it was built for"
        )
    for module, package in (("numpy", "numpy"), ("google", "protobuf")):
        if not _is_there(module):
            return (
                f"Rheos needs the package {package}, which {sys.executable} does not have: "
                f"'{sys.executable} -m pip install {package}' brings it"
            )
    return None


_reason = _why_not()
if _reason is not None:
    # To who calls the command it is no program of Python: a sentence says it, not a traceback.
    if os.path.basename((getattr(sys, "argv", None) or [""])[0]) in ("rheos", "-m"):
        sys.exit("rheos: " + _reason)
    raise ImportError(_reason, name=__name__ + "._core")


try:
    from rheos._core import version as _version
except ImportError as _error:
    from rheos._load_errors import explained

    raise ImportError(explained(_error), name=__name__ + "._core") from None
__version__ = _version()

_PACKAGES = ("contrib", "framework", "layers", "ops", "pipelines", "training", "v1", "v2")


def __getattr__(name):
    if name == "raw_ops":
        import rheos.v1.raw_ops

        return rheos.v1.raw_ops
    if name in ("read_graph", "write_graph"):
        from rheos.framework import graph_files

        return getattr(graph_files, name)
    is_private = name.startswith("_") and name != "__internal__"
    if is_private or name in _PACKAGES:  # modules that are not imported yet
        raise AttributeError(f"module 'rheos' has no attribute {name!r}")
    import rheos.v2

    value = getattr(rheos.v2, name)
    globals()[name] = value
    return value
