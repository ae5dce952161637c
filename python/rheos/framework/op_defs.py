"""Definitions of ops as OpDef messages, and what graphs say with them."""

import functools

from rheos import _core
from rheos.framework import messages


@functools.lru_cache(maxsize=None)
def op_def_message(op_type):
    """The OpDef of an op; None if there is no such op. Shared: not to be changed."""
    serialized = _core.op_def_bytes(op_type)
    return None if serialized is None else messages.OpDef.FromString(serialized)


def ops_of(graph_def):
    """The types of the nodes of a GraphDef and of the functions that it calls, sorted."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    found, todo = set(), [graph_def.node]
    while todo:
        for node in todo.pop():
            if node.op not in found and node.op in functions:
                todo.append(functions[node.op].node_def)
            found.add(node.op)
    return sorted(found - functions.keys())


def stripped_op_list(graph_def, known=()):
    """An OpList message with the definitions of a GraphDef's ops; a reader of another version can
    tell from it which attributes hold their default. known: OpDefs of ops that Rheos lacks.
    """
    foreign = {op.name: op for op in known}
    made = messages.OpList()
    for op_type in ops_of(graph_def):
        op = op_def_message(op_type) or foreign.get(op_type)
        if op is not None:
            made.op.append(op)
    return made


def _strip_node(node, functions):
    op = None if node.op in functions else op_def_message(node.op)
    for attr in op.attr if op else ():
        if attr.HasField("default_value") and attr.name in node.attr:
            if node.attr[attr.name] == attr.default_value:
                del node.attr[attr.name]


def strip_default_attrs(graph_def):
    """Takes attributes that hold their default out of a GraphDef's nodes and functions."""
    functions = {f.signature.name for f in graph_def.library.function}
    for node in graph_def.node:
        _strip_node(node, functions)
    for function in graph_def.library.function:
        for node in function.node_def:
            _strip_node(node, functions)
