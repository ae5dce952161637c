"""Parts of GraphDefs below a name scope, and names inside and outside of it."""

from rheos.framework import messages
from rheos.framework.proto_functions import without_scope

UNBOUND_PREFIX = "$unbound_inputs_"

_SAVE_AND_RESTORE = (
    "Save",
    "SaveSlices",
    "SaveV2",
    "Restore",
    "RestoreSlice",
    "RestoreV2",
)


def _folder(name):
    return name.removeprefix("^").rpartition("/")[0]


def extraneous_saver_nodes(graph_def, saver_def):
    """The names of the nodes of savers other than the one that `saver_def` names (or None): all
    below the scopes of their operations that save and restore."""
    savers = {node.name for node in graph_def.node if node.op in _SAVE_AND_RESTORE}
    scopes = {_folder(name) for name in savers} - savers
    if saver_def is not None:
        scopes -= {_folder(saver_def.save_tensor_name), _folder(saver_def.restore_op_name)}
    prefixes = tuple(scope + "/" for scope in scopes)
    return {node.name for node in graph_def.node if node.name.startswith(prefixes)}


def is_included(item, export_scope, excluded):
    """Whether a node, by its name, or an item of a collection belongs to what is exported."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True
    if excluded and name in excluded:
        return False
    return name.startswith(UNBOUND_PREFIX) or not export_scope or name.startswith(export_scope)


def _scoped_input(name, export_scope, unbound):
    control = "^" if name.startswith("^") else ""
    bare = name.removeprefix("^")
    if export_scope and not bare.startswith(export_scope):
        unbound.append(f"{control}{UNBOUND_PREFIX}{bare}")
        return unbound[-1]
    return control + without_scope(bare, export_scope)


def _strip_scope(node, export_scope, unbound):
    node.name = without_scope(node.name, export_scope)
    node.input[:] = [_scoped_input(name, export_scope, unbound) for name in node.input]
    if "_class" in node.attr:
        kept = []
        for text in node.attr["_class"].list.s:
            start, at, name = text.decode().partition("@")
            if not export_scope or name.startswith(export_scope):
                kept.append(f"{start}{at}{without_scope(name, export_scope)}".encode())
        node.attr["_class"].list.s[:] = kept
    if node.op in ("Enter", "RefEnter"):
        frame = node.attr["frame_name"].s.decode()
        if frame.startswith(export_scope or ""):
            node.attr["frame_name"].s = without_scope(frame, export_scope).encode()


def part_of_graph_def(graph_def, export_scope, excluded, clear_devices):
    """(GraphDef, unbound inputs): the nodes below a scope, named as if it were not there. Inputs
    from outside get UNBOUND_PREFIX; whoever imports the part has to map them. (TensorFlow names
    those that several nodes take several times, and then imports its own message no more.)"""
    made = messages.GraphDef()
    made.versions.CopyFrom(graph_def.versions)
    made.library.CopyFrom(graph_def.library)
    unbound = []
    for node in graph_def.node:
        if is_included(node.name, export_scope, excluded):
            added = made.node.add()
            added.CopyFrom(node)
            if export_scope:
                _strip_scope(added, export_scope, unbound)
            if clear_devices:
                added.device = ""
    return made, list(dict.fromkeys(unbound))
