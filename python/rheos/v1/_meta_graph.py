"""MetaGraphDef messages: a graph with its collections and saver, out and in."""

import os

from rheos.framework import messages
from rheos.framework.graph import get_default_graph
from rheos.framework.importer import import_graph_def
from rheos.framework.proto_functions import proto_functions, with_scope, without_scope
from rheos.ops.variables import VARIABLE_COLLECTIONS, GraphKeys, Variable
from rheos.v1 import logging

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


def add_collection_def(meta_graph_def, key, graph=None, export_scope=None):
    """Writes a collection into a MetaGraphDef; a warning says what cannot be written."""
    items = (graph or get_default_graph()).get_collection_ref(key)
    if not items:
        return
    try:
        _fill_collection(meta_graph_def.collection_def[key], key, items, export_scope)
    except Exception as error:  # whatever a program keeps in its collections
        logging.warning("The collection %s is left out of the MetaGraphDef: %s", key, error)
        del meta_graph_def.collection_def[key]


def _strip_defaults(graph_def):
    from rheos.framework import signatures

    for node in graph_def.node:
        op = signatures.op_def(node.op)
        for attr in op.attr if op else ():
            if not attr.has_default or attr.name not in node.attr:
                continue
            value = node.attr[attr.name]
            field = value.WhichOneof("value")
            is_default = {
                "b": lambda v, d: v.b == d,
                "i": lambda v, d: v.i == d,
                "f": lambda v, d: v.f == messages.AttrValue(f=d).f,
                "s": lambda v, d: v.s == d,
                "type": lambda v, d: v.type == d.as_datatype_enum,
                "list": lambda v, d: d == "[]" and not v.list.ListFields(),
            }.get(field)
            if is_default is not None and is_default(value, attr.default):
                del node.attr[attr.name]


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
    collections to write, by default all. clear_devices: without the nodes' devices.
    clear_extraneous_savers: of the collection of savers only `saver_def`. strip_default_attrs:
    without attributes that hold their default, for older readers.
    """
    del save_debug_info, kwargs
    if export_scope:
        raise NotImplementedError("export_meta_graph: export_scope")
    graph = graph or get_default_graph()
    made = messages.MetaGraphDef()
    if meta_info_def is not None:
        made.meta_info_def.CopyFrom(meta_info_def)
    made.meta_info_def.tensorflow_version = VERSION
    made.meta_info_def.stripped_default_attrs = bool(strip_default_attrs)
    made.graph_def.CopyFrom(graph_def or graph.as_graph_def(add_shapes=True))
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    if strip_default_attrs:
        _strip_defaults(made.graph_def)
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        if key == GraphKeys.SAVERS and clear_extraneous_savers:
            if saver_def is not None:
                made.collection_def[key].bytes_list.value.append(saver_def.SerializeToString())
            continue
        add_collection_def(made, key, graph)
    if filename:
        _write(made, filename, as_text)
    return made


def _write(meta_graph_def, filename, as_text):
    folder, name = os.path.split(os.fspath(filename))
    if folder:
        os.makedirs(folder, exist_ok=True)
    if as_text:
        from google.protobuf import text_format

        data = text_format.MessageToString(meta_graph_def).encode()
    else:
        data = meta_graph_def.SerializeToString(deterministic=True)
    # A kill leaves the old file or the new one.
    temporary = os.path.join(folder, f".{name}.tmp{os.getpid()}")
    with open(temporary, "wb") as file:
        file.write(data)
    os.replace(temporary, os.path.join(folder, name))


# ---- In


def read_meta_graph_file(filename):
    """The MetaGraphDef in a file of bytes or text. OSError if it cannot be read or is neither."""
    filename = os.fspath(filename)
    if not os.path.exists(filename):
        raise OSError(f"File {filename} does not exist.")
    with open(filename, "rb") as file:
        data = file.read()
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    try:
        return messages.MetaGraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return text_format.Parse(data.decode(), messages.MetaGraphDef())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None


def _import_collection(graph, key, out, import_scope, variables):
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
                if value not in variables:
                    variables[value] = from_proto(proto, import_scope=import_scope)
                item = variables[value]
            else:
                item = from_proto(proto, import_scope=import_scope)
        elif kind == "node_list":
            item = graph.as_graph_element(with_scope(value, import_scope))
        else:
            item = value
        graph.add_to_collection(key, item)


def import_meta_graph_with_elements(
    meta_graph_or_file,
    clear_devices=False,
    import_scope=None,
    input_map=None,
    return_elements=None,
    restore_collections_predicate=lambda key: True,
):
    """(saver, [elements]): as import_meta_graph(), and the elements that were asked for."""
    from rheos.v1._saver import Saver

    if messages.is_message(meta_graph_or_file, "MetaGraphDef"):
        meta_graph_def = meta_graph_or_file
    else:
        meta_graph_def = read_meta_graph_file(meta_graph_or_file)
    graph = get_default_graph()
    scope = ""
    if import_scope:
        # Names are as if the scope were entered now.
        current = graph._scope_name()
        scope = f"{current}{graph.unique_name(import_scope, mark_as_used=False)}"
    graph_def = messages.GraphDef()
    graph_def.CopyFrom(meta_graph_def.graph_def)
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    elements = import_graph_def(
        graph_def, name=import_scope or scope, input_map=input_map, return_elements=return_elements
    )
    variables = {}
    for key in sorted(meta_graph_def.collection_def):
        if restore_collections_predicate(key):
            out = meta_graph_def.collection_def[key]
            _import_collection(graph, key, out, scope, variables)
    if meta_graph_def.HasField("saver_def"):
        return Saver.from_proto(meta_graph_def.saver_def, scope or None), elements
    if any(isinstance(v, Variable) for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)):
        return Saver(), elements
    return None, elements


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds the graph of a MetaGraphDef, or of a file of one, to the default graph, and fills its
    collections; returns the Saver, None if there are no variables to save.

    clear_devices: without the nodes' devices. import_scope: put before all names. kwargs: input_map
    and return_elements of import_graph_def(), restore_collections_predicate(key).
    """
    return import_meta_graph_with_elements(
        meta_graph_or_file, clear_devices, import_scope, **kwargs
    )[0]
