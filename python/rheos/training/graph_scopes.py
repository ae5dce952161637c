"""Parts of GraphDefs below a name scope, and names inside and outside of it."""

from rheos.framework import messages
from rheos.framework.proto_functions import register_proto_function, with_scope, without_scope

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


# ---- What loops and conditions of the first generation are kept as

_NAMES = (
    "context_name",
    "pred_name",
    "pivot_name",
    "pivot_for_pred_name",
    "pivot_for_body_name",
    "maximum_iterations_name",
)
_LISTS = ("loop_exit_names", "loop_enter_names")


class ControlFlowContext:
    """A loop or condition of a graph that was imported: its message, with names as in the graph."""

    def __init__(self, message):
        self._message = message
        self.name = message.context_name

    def to_proto(self, export_scope=None):
        """The message; None if the context is not below `export_scope`."""
        if export_scope and not self.name.startswith(export_scope):
            return None
        return _renamed(self._message, lambda name: without_scope(name, export_scope))

    @staticmethod
    def from_proto(message, import_scope=None):
        """The context of a message whose graph was imported below `import_scope`."""
        return ControlFlowContext(_renamed(message, lambda name: with_scope(name, import_scope)))


def _renamed(message, rename):
    made = type(message)()
    made.CopyFrom(message)
    for field in _NAMES:
        if getattr(made, field, ""):
            setattr(made, field, rename(getattr(made, field)))
    for field in _LISTS:
        if hasattr(made, field):
            getattr(made, field)[:] = [rename(name) for name in getattr(message, field)]
    made.values_def.values[:] = [rename(name) for name in message.values_def.values]
    made.values_def.external_values.clear()
    for key, value in message.values_def.external_values.items():
        made.values_def.external_values[rename(key)] = rename(value)
    if not message.HasField("values_def"):
        made.ClearField("values_def")
    for nested in made.nested_contexts:
        kind = nested.WhichOneof("ctxt")
        if kind is not None:
            inner = getattr(nested, kind)
            inner.CopyFrom(_renamed(inner, rename))
    return made


for _key, _type in (("cond_context", "CondContextDef"), ("while_context", "WhileContextDef")):
    register_proto_function(
        _key,
        _type,
        lambda context, export_scope=None: context.to_proto(export_scope),
        ControlFlowContext.from_proto,
    )
