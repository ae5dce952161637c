"""Rheos: dataflow graphs and sessions.

`import rheos.v1 as tf` gives TensorFlow 1's names, `rheos.raw_ops` each op by its own name.
`rheos.write_graph` and `rheos.read_graph` keep large constants in files beside the graph.
"""

from rheos.framework.version import __version__  # noqa: F401


def __getattr__(name):
    if name == "raw_ops":
        import rheos.v1.raw_ops

        return rheos.v1.raw_ops
    if name in ("read_graph", "write_graph"):
        from rheos.framework import graph_files

        return getattr(graph_files, name)
    raise AttributeError(
        f"module 'rheos' has no attribute {name!r} (the TensorFlow 1 names are in rheos.v1)"
    )
