"""MetaGraphDef messages: a graph with its collections and saver, out and in."""

import os

from rheos.framework import gfile, logging, messages
from rheos.framework.defaults import get_default_graph
from rheos.framework.importer import import_graph_def
from rheos.framework.op_defs import (
    op_def_message,
    strip_default_attrs as strip_defaults,
    stripped_op_list,
)
from rheos.framework.proto_functions import proto_functions, with_scope, without_scope
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variables import VARIABLE_COLLECTIONS
from rheos.training.graph_scopes import extraneous_saver_nodes, is_included, part_of_graph_def

VERSION = "1.15.5"  # of TensorFlow, whose graphs these are


# ---- Out


def _kind_of(item):
    """The field of a CollectionDef for items like this one."""
    if isinstance(item, (str, bytes)):
        return "bytes_list"
    if isinstance(item, int):
        return "int64_list"
    if isinstance(item, float):
        return "float_list"
    if getattr(getattr(item, "DESCRIPTOR", None), "full_name", "") == "google.protobuf.Any":
        return "any_list"
    return "node_list"


def _fill_collection(out, key, items, export_scope):
    proto_type, to_proto, _ = proto_functions(key)
    if to_proto is not None:
        for item in items:
            proto = to_proto(item, export_scope=export_scope)
            if proto is None:
                continue
            if isinstance(proto_type, str):
                fits = messages.is_message(proto, proto_type)
            else:
                fits = isinstance(proto, proto_type)
            if not fits:
                raise TypeError(f"to_proto gave {type(proto).__name__}, not {proto_type}")
            out.bytes_list.value.append(proto.SerializeToString(deterministic=True))
        return
    kind = _kind_of(items[0])
    values = getattr(out, kind).value
    if kind == "node_list":
        for item in items:
            if not export_scope or item.name.startswith(export_scope):
                values.append(without_scope(item.name, export_scope))
    elif kind == "bytes_list":
        values.extend(i if isinstance(i, bytes) else i.encode() for i in items)
    else:
        values.extend(items)


def add_collection_def(
    meta_graph_def,
    key,
    graph=None,
    export_scope=None,
    exclude_nodes=None,
    override_contents=None,
):
    """Writes a collection into a MetaGraphDef; a warning says what cannot be written.

    export_scope: only what is below that scope, which goes from the names. exclude_nodes: names to
    leave out. override_contents: these items instead of those of the graph.
    """
    if not isinstance(key, (str, bytes)):
        logging.warning("Only collections whose key is a string are written, not %r.", key)
        return
    items = override_contents or (graph or get_default_graph()).get_collection_ref(key)
    items = [item for item in items if is_included(item, export_scope, exclude_nodes)]
    if not items:
        return
    try:
        _fill_collection(meta_graph_def.collection_def[key], key, items, export_scope)
    except Exception as error:  # whatever a program keeps in its collections
        logging.warning("The collection %s is left out of the MetaGraphDef: %s", key, error)
        del meta_graph_def.collection_def[key]


def create_meta_graph_def(
    meta_info_def=None,
    graph_def=None,
    saver_def=None,
    collection_list=None,
    graph=None,
    export_scope=None,
    exclude_nodes=None,
    clear_extraneous_savers=False,
    strip_default_attrs=False,
):
    """A MetaGraphDef message of a GraphDef (by default the graph's) and the graph's collections.

    The arguments are those of export_meta_graph(); exclude_nodes: names that collections leave out.
    """
    graph = graph or get_default_graph()
    for value, name in ((graph_def, "GraphDef"), (saver_def, "SaverDef")):
        if value is not None and not messages.is_message(value, name):
            raise TypeError(f"expected a message of type {name}, not {type(value)}")
    made = messages.MetaGraphDef()
    if meta_info_def is not None:
        made.meta_info_def.CopyFrom(meta_info_def)
    made.meta_info_def.tensorflow_version = VERSION
    if graph_def is None:
        graph_def = graph.as_graph_def(add_shapes=True)
    made.graph_def.CopyFrom(graph_def)
    if not made.meta_info_def.stripped_op_list.op:
        ops = stripped_op_list(made.graph_def, graph._foreign_op_defs.values())
        made.meta_info_def.stripped_op_list.CopyFrom(ops)
    if strip_default_attrs:
        strip_defaults(made.graph_def)
        made.meta_info_def.stripped_default_attrs = True
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        if key == GraphKeys.SAVERS and clear_extraneous_savers:
            if saver_def is not None:
                made.collection_def[key].bytes_list.value.append(saver_def.SerializeToString())
            continue
        add_collection_def(made, key, graph, export_scope, exclude_nodes)
    return made


def export_scoped_meta_graph(
    filename=None,
    graph_def=None,
    graph=None,
    export_scope=None,
    as_text=False,
    unbound_inputs_col_name="unbound_inputs",
    clear_devices=False,
    saver_def=None,
    clear_extraneous_savers=False,
    strip_default_attrs=False,
    save_debug_info=False,
    **kwargs,
):
    """(MetaGraphDef, {name: variable}): as export_meta_graph(), and the variables below the scope.

    unbound_inputs_col_name: the collection with the names of the inputs that come from outside the
    scope; whoever imports the message has to give them in input_map.
    """
    del save_debug_info
    graph = graph or get_default_graph()
    excluded = None
    if export_scope or clear_extraneous_savers or clear_devices:
        whole = graph_def if graph_def is not None else graph.as_graph_def(add_shapes=True)
        if clear_extraneous_savers:
            excluded = extraneous_saver_nodes(whole, saver_def)
        graph_def, unbound = part_of_graph_def(whole, export_scope, excluded, clear_devices)
        if unbound_inputs_col_name:
            graph.clear_collection(unbound_inputs_col_name)
            for name in unbound:
                graph.add_to_collection(unbound_inputs_col_name, name)
    made = create_meta_graph_def(
        graph_def=graph_def,
        saver_def=saver_def,
        graph=graph,
        export_scope=export_scope,
        exclude_nodes=excluded,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    if filename:
        _write(made, filename, as_text)
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope)
    return made, {
        without_scope(v.name, export_scope): v
        for v in variables
        if is_included(v, export_scope, excluded)
    }


def export_meta_graph(
    filename=None,
    meta_info_def=None,
    graph_def=None,
    saver_def=None,
    collection_list=None,
    as_text=False,
    graph=None,
    export_scope=None,
    clear_devices=False,
    clear_extraneous_savers=False,
    strip_default_attrs=False,
    save_debug_info=False,
    **kwargs,
):
    """A graph as a MetaGraphDef message, written to a file if one is named.

    graph_def, saver_def: instead of those of the graph. collection_list: the keys of the
    collections to write, by default all. export_scope: only what is below that scope, which goes
    from all names. clear_devices: without the nodes' devices. clear_extraneous_savers: without the
    nodes of savers other than `saver_def`'s, and of the collection of savers only that one.
    strip_default_attrs: without attributes that hold their default, for older readers.
    """
    return export_scoped_meta_graph(
        filename,
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        as_text=as_text,
        clear_devices=clear_devices,
        saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        meta_info_def=meta_info_def,
        collection_list=collection_list,
        **kwargs,
    )[0]


def _write(meta_graph_def, filename, as_text):
    folder, name = os.path.split(gfile.local_path(os.fsdecode(filename)))
    if folder:
        os.makedirs(folder, exist_ok=True)
    if as_text:
        data = messages.to_text(meta_graph_def).encode()
    else:
        data = meta_graph_def.SerializeToString(deterministic=True)
    # A kill leaves the old file or the new one.
    temporary = os.path.join(folder, gfile.unfinished_name(name, f".tmp{os.getpid()}"))
    with open(temporary, "wb") as file:
        file.write(data)
    os.replace(temporary, os.path.join(folder, name))


# ---- In


def read_meta_graph_file(filename):
    """The MetaGraphDef in a file of bytes or text. OSError if it cannot be read or is neither."""
    filename = gfile.local_path(filename)
    if not os.path.exists(filename):
        raise OSError(f"File {filename} does not exist.")
    with open(filename, "rb") as file:
        data = file.read()
    try:
        return messages.MetaGraphDef.FromString(data)
    except messages.parse_errors():
        pass
    try:
        return messages.from_text(data.decode(), messages.MetaGraphDef())
    except (*messages.parse_errors(), UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None


def _import_collection(graph, key, out, import_scope, variables, has_trainable):
    kind = out.WhichOneof("kind")
    if kind is None:
        logging.error("Cannot identify data type for collection %s. Skipping.", key)
        return
    proto_type, _, from_proto = proto_functions(key)
    for value in getattr(out, kind).value:
        if from_proto is not None and kind == "bytes_list":
            if isinstance(proto_type, str):
                proto = getattr(messages, proto_type).FromString(value)
            else:
                proto = proto_type.FromString(value)
            if key in VARIABLE_COLLECTIONS:
                if not has_trainable:
                    proto.trainable = key == GraphKeys.TRAINABLE_VARIABLES
                if value not in variables:
                    variables[value] = from_proto(proto, import_scope=import_scope)
                item = variables[value]
            else:
                item = from_proto(proto, import_scope=import_scope)
        elif kind == "node_list":
            item = graph.as_graph_element(with_scope(value, import_scope))
        elif kind == "bytes_list" and import_scope:
            item = with_scope(value.decode(errors="surrogateescape"), import_scope)
        else:
            item = value
        graph.add_to_collection(key, item)


def _check_unbound(meta_graph_def, key, input_map):
    """ValueError unless the input map has exactly the inputs that come from elsewhere."""
    if not key or key not in meta_graph_def.collection_def:
        return
    collection = meta_graph_def.collection_def[key]
    names = getattr(collection, collection.WhichOneof("kind")).value
    names = [name.decode() if isinstance(name, bytes) else name for name in names]
    if names and set(names) != set(input_map or ()):
        missing = [name for name in names if name not in (input_map or ())]
        raise ValueError(
            f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs "
            "through input_map."
        )


def _has_trainable(meta_graph_def):
    """Whether its variables say if they are trainable: since TensorFlow 1.9."""
    version = meta_graph_def.meta_info_def.tensorflow_version
    numbers = [int(n) for n in version.split(".")[:2] if n.isdigit()]
    return not version or numbers >= [1, 9]


def _keep_op_defs(graph, op_list):
    for op in op_list.op:
        if op_def_message(op.name) is None:
            graph._foreign_op_defs.setdefault(op.name, op)


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file,
    clear_devices=False,
    graph=None,
    import_scope=None,
    input_map=None,
    unbound_inputs_col_name="unbound_inputs",
    restore_collections_predicate=lambda key: True,
    return_elements=None,
):
    """({name: variable}, [elements]): as import_scoped_meta_graph(), and the elements that were
    asked for."""
    if messages.is_message(meta_graph_or_file, "MetaGraphDef"):
        meta_graph_def = meta_graph_or_file
    else:
        meta_graph_def = read_meta_graph_file(meta_graph_or_file)
    _check_unbound(meta_graph_def, unbound_inputs_col_name, input_map)
    graph = graph or get_default_graph()
    with graph.as_default():
        scope = scope_for_import(graph, import_scope)
        graph_def = meta_graph_def.graph_def
        if clear_devices:
            graph_def = part_of_graph_def(graph_def, None, None, True)[0]
        if scope:
            graph_def = _in_scoped_frames(meta_graph_def, graph_def, scope)
        _keep_op_defs(graph, meta_graph_def.meta_info_def.stripped_op_list)
        elements = import_graph_def(
            graph_def,
            name=import_scope or (scope + "/" if scope else ""),
            input_map=input_map,
            return_elements=return_elements,
            producer_op_list=meta_graph_def.meta_info_def.stripped_op_list,
        )
        _import_collections(
            graph,
            meta_graph_def,
            scope,
            lambda key: key != unbound_inputs_col_name and restore_collections_predicate(key),
        )
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
    return {without_scope(v.name, scope): v for v in variables}, elements


def _frames_of(contexts):
    """The names of loops that are among WhileContextDefs and CondContextDefs, or inside of them."""
    for context in contexts:
        if hasattr(context, "parallel_iterations"):
            yield context.context_name
        yield from _frames_of(getattr(c, c.WhichOneof("ctxt")) for c in context.nested_contexts)


def _in_scoped_frames(meta_graph_def, graph_def, scope):
    """The GraphDef with loops named as their contexts will be, below a scope."""
    kinds = {"cond_context": "CondContextDef", "while_context": "WhileContextDef"}
    frames = set()
    for key, kind in kinds.items():
        if key in meta_graph_def.collection_def:
            values = meta_graph_def.collection_def[key].bytes_list.value
            frames.update(_frames_of(getattr(messages, kind).FromString(v) for v in values))
    if not frames:
        return graph_def
    made = messages.GraphDef()
    made.CopyFrom(graph_def)
    for node in made.node:
        frame = node.attr["frame_name"].s.decode() if node.op in ("Enter", "RefEnter") else None
        if frame in frames:
            node.attr["frame_name"].s = with_scope(frame, scope).encode()
    return made


def scope_for_import(graph, import_scope):
    """What stands before the names of nodes imported with that scope."""
    if not import_scope:
        return graph.get_name_scope()  # entered already
    return graph.unique_name(import_scope, mark_as_used=False)  # as if it were entered now


def _import_collections(graph, meta_graph_def, scope, predicate):
    variables = {}
    keys = sorted(meta_graph_def.collection_def)
    # Where variables do not say it, the collection of trainable ones does.
    keys.sort(key=lambda key: key != GraphKeys.TRAINABLE_VARIABLES)
    has_trainable = _has_trainable(meta_graph_def)
    for key in keys:
        if predicate(key):
            out = meta_graph_def.collection_def[key]
            _import_collection(graph, key, out, scope, variables, has_trainable)


def import_scoped_meta_graph(
    meta_graph_or_file,
    clear_devices=False,
    graph=None,
    import_scope=None,
    input_map=None,
    unbound_inputs_col_name="unbound_inputs",
    restore_collections_predicate=lambda key: True,
):
    """Adds the graph of a MetaGraphDef, or of a file of one, to a graph (the default one).

    Fills its collections too; returns its variables by their names without the scope.

    unbound_inputs_col_name: the collection that names inputs from outside of what was exported;
    ValueError if input_map does not have exactly these.
    """
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def copy_scoped_meta_graph(from_scope, to_scope, from_graph=None, to_graph=None):
    """Copies what is below a scope of a graph to a scope of the same or another graph; returns its
    variables by their names without the scope."""
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same "
            f"graph. Got the same scope: {from_scope}"
        )
    part, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(part, graph=to_graph, import_scope=to_scope)
