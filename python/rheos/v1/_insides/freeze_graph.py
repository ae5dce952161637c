"""A graph and a checkpoint made into one file: tensorflow.python.tools.freeze_graph."""

from rheos.framework import messages
from rheos.framework.importer import import_graph_def
from rheos.framework.messages import GraphDef, MetaGraphDef, SaverDef, from_text
from rheos.training.checkpoints import NewCheckpointReader, checkpoint_exists
from rheos.training.graph_util import convert_variables_to_constants
from rheos.training.saver import Saver, import_meta_graph
from rheos.training.session import Session
from rheos.v1 import Graph, saved_model


def _read(path, message, is_binary):
    if is_binary:
        with open(path, "rb") as file:
            return message.FromString(file.read())
    with open(path, encoding="utf-8") as file:
        return from_text(file.read(), message())


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _restore(session, saver_def, checkpoint, restore_op_name, filename_tensor_name):
    if saver_def is not None:
        Saver(saver_def=saver_def).restore(session, checkpoint)
        return
    variables = {}
    for name in NewCheckpointReader(checkpoint).get_variable_to_shape_map():
        try:
            variables[name] = session.graph.get_tensor_by_name(name + ":0")
        except KeyError:
            continue  # kept by the training, not in this graph
    if variables:
        Saver(var_list=variables).restore(session, checkpoint)
    else:
        session.run(restore_op_name, {filename_tensor_name: checkpoint})


def freeze_graph_with_def_protos(
    input_graph_def,
    input_saver_def,
    input_checkpoint,
    output_node_names,
    restore_op_name,
    filename_tensor_name,
    output_graph,
    clear_devices,
    initializer_nodes,
    variable_names_whitelist="",
    variable_names_blacklist="",
    input_meta_graph_def=None,
    input_saved_model_dir=None,
    saved_model_tags=None,
    checkpoint_version=2,
):
    """The GraphDef of the outputs, with variables as constants; written if a path is given.

    ValueError if there is no checkpoint or no output is named.
    """
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You must supply the name of a node to --output_node_names.")
    source = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    if clear_devices and source is not None:
        for node in source.node:
            node.device = ""
    with Graph().as_default(), Session() as session:
        if input_saved_model_dir:
            meta = saved_model.loader.load(session, saved_model_tags, input_saved_model_dir)
            source = meta.graph_def
        elif input_meta_graph_def:
            saver = import_meta_graph(input_meta_graph_def, clear_devices=clear_devices)
            saver.restore(session, input_checkpoint)
        else:
            import_graph_def(source, name="")
            _restore(
                session, input_saver_def, input_checkpoint, restore_op_name, filename_tensor_name
            )
        if initializer_nodes:
            session.run(_names(initializer_nodes))
        frozen = convert_variables_to_constants(
            session,
            source,
            _names(output_node_names),
            _names(variable_names_whitelist) or None,
            _names(variable_names_blacklist) or None,
        )
    if output_graph:
        with open(output_graph, "wb") as file:
            file.write(frozen.SerializeToString())
    return frozen


def freeze_graph(
    input_graph,
    input_saver,
    input_binary,
    input_checkpoint,
    output_node_names,
    restore_op_name,
    filename_tensor_name,
    output_graph,
    clear_devices,
    initializer_nodes,
    variable_names_whitelist="",
    variable_names_blacklist="",
    input_meta_graph=None,
    input_saved_model_dir=None,
    saved_model_tags="serve",
    checkpoint_version=2,
):
    """The same, of files: a GraphDef or MetaGraphDef, binary or text, and a SaverDef."""
    graph_def = _read(input_graph, GraphDef, input_binary) if input_graph else None
    meta = _read(input_meta_graph, MetaGraphDef, input_binary) if input_meta_graph else None
    saver_def = _read(input_saver, SaverDef, input_binary) if input_saver else None
    return freeze_graph_with_def_protos(
        graph_def,
        saver_def,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        meta,
        input_saved_model_dir,
        saved_model_tags.split(",") if saved_model_tags else None,
        checkpoint_version,
    )
