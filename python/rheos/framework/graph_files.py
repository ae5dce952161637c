"""Graphs as files, with large constants in files of their own beside them."""

import os

from rheos import _core
from rheos.framework import messages
from rheos.framework.defaults import get_default_graph
from rheos.framework.importer import import_graph_def


def write_graph(path, graph=None, side_file_bytes=0):
    """Writes a graph (the default one) as a GraphDef.

    side_file_bytes: constants of at least so many bytes are not in it; each lies in a file of its
    own in the folder `path`.data and is an ImmutableConst node, so that a graph may have more than
    the 2 GB that a GraphDef is limited to. 0: all are in it, and ValueError if that is too much.
    """
    (graph or get_default_graph())._write(os.fspath(path), side_file_bytes)


def read_graph(path, input_map=None, return_elements=None, name=""):
    """Adds the graph of a GraphDef file to the default graph; constants in files beside it are
    mapped into memory when they are used. The other arguments are those of import_graph_def()."""
    graph_def = messages.GraphDef.FromString(_core.read_graph_def(os.fspath(path)))
    return import_graph_def(graph_def, input_map, return_elements, name=name)
