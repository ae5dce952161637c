"""GraphDef messages into a graph."""

import collections
import contextlib
import itertools

from rheos import _core
from rheos.framework import logging
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.devices import apply_devices_since
from rheos.framework.imported_functions import separate_library
from rheos.framework.messages import is_message
from rheos.framework.op_defs import op_def_message
from rheos.framework.operation import Operation, Tensor


def _text(name):
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name


def _checked_elements(return_elements):
    if return_elements is None:
        return None
    elements = tuple(_text(element) for element in return_elements)
    if not all(isinstance(element, str) for element in elements):
        raise TypeError("return_elements must be a list of strings.")
    for element in elements:
        if element.count(":") > 1:
            raise ValueError(f"Cannot convert '{element}' to a tensor name.")
    return elements


def _checked_map(input_map):
    if input_map is None:
        return {}
    if isinstance(input_map, dict):
        input_map = {_text(key): value for key, value in input_map.items()}
    if not isinstance(input_map, dict) or not all(isinstance(key, str) for key in input_map):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return input_map


def _target(graph, key, value):
    """(key, id of the operation, output) for an entry of the input map."""
    if isinstance(value, Operation):
        if not key.startswith("^"):
            raise TypeError(f"input_map: '{key}' is a tensor, but is mapped to an operation")
        element, index = value, 0
    else:
        tensor = convert_to_tensor(value)
        element, index = tensor.op, tensor.value_index
    if element.graph is not graph:
        raise ValueError(f"input_map: '{key}' is mapped to a tensor of another graph")
    return key, element._id, index


def _without_newer_defaults(graph_def, producer_op_list):
    """The GraphDef without attributes that Rheos's ops lack and that hold the default which they
    have for the program that wrote it: they came later, and say nothing."""
    written = {op.name: op for op in producer_op_list.op}
    made = type(graph_def)()
    made.CopyFrom(graph_def)
    bodies = [function.node_def for function in made.library.function]
    functions = {function.signature.name for function in made.library.function}
    for node in itertools.chain(made.node, *bodies):
        known = None if node.op in functions else op_def_message(node.op)
        if known is None or node.op not in written:
            continue
        names = {attr.name for attr in known.attr}
        for attr in written[node.op].attr:
            if attr.name in names or attr.name not in node.attr:
                continue
            if attr.HasField("default_value") and node.attr[attr.name] == attr.default_value:
                del node.attr[attr.name]
    return made


def _warn_of_unknown(graph_def):
    functions = {function.signature.name for function in graph_def.library.function}
    counts = collections.Counter(node.op for node in graph_def.node)
    unknown = {
        op: count
        for op, count in sorted(counts.items())
        if op not in functions and _core.op_signature(op) is None
    }
    if unknown:
        nodes = {node.op: node.name for node in reversed(graph_def.node)}
        logging.warning(
            "Op type not registered: %s. What needs these cannot run.",
            ", ".join(
                f"'{op}' ({count} nodes, the first is '{nodes[op]}')"
                if count > 1
                else f"'{op}' ('{nodes[op]}')"
                for op, count in unknown.items()
            ),
        )


def _add_nodes(graph, graph_def, prefix, entries, elements):
    """Imports below `prefix`, under the devices of the graph's contexts."""
    asks_functions = any(map(callable, graph._devices))
    first = graph._num_operations()
    # Functions are asked about nodes that are there, with the devices that these came with.
    with graph.device(None) if asks_functions else contextlib.nullcontext():
        try:
            answer = graph._import_graph_def(
                graph_def.SerializeToString(deterministic=True),
                prefix,
                entries,
                True,
                elements,
                not asks_functions,
            )
        except TypeError as error:  # here a wrong dtype is the file's, not the caller's
            raise ValueError(str(error)) from None
    if asks_functions:
        apply_devices_since(graph, first)
    return answer


def import_graph_def(
    graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None
):
    """Adds the nodes of a GraphDef message, and the functions of its library, to the default graph.

    input_map: a dict from inputs as the GraphDef writes them ("x:0", "^op") to the tensors (or
    operations) that take their place. return_elements: names of operations and tensors to return,
    as a list. name: put before all names, made unique; "import" by default, "" for nothing: then
    names that are in use are made unique each.
    producer_op_list: an OpList message, the ops as the writing program knew them: an attribute that
    is newer than Rheos and holds its default there is dropped. op_dict: accepted, not needed.

    Operations whose op Rheos lacks are kept, with a warning that names them all: a step that needs
    one is refused, others run. ValueError if inputs are missing or do not fit, or input_map or
    return_elements name what the GraphDef does not have; TypeError for wrong types.
    """
    del op_dict
    if not is_message(graph_def, "GraphDef"):
        raise TypeError("graph_def must be a GraphDef proto.")
    if producer_op_list is not None:
        graph_def = _without_newer_defaults(graph_def, producer_op_list)
    input_map = _checked_map(input_map)
    return_elements = _checked_elements(return_elements)
    if name == "" and not all(isinstance(v, (Tensor, Operation)) for v in input_map.values()):
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor "
            "values. Try calling tf.convert_to_tensor() on `input_map` values before calling "
            "tf.import_graph_def()."
        )
    graph = get_default_graph()
    if graph.building_function and graph_def.library.function:  # a body has no library of its own
        functions, graph_def = separate_library(graph_def)
        with graph._root.as_default():
            _add_nodes(graph._root, functions, "", [], [])
    with graph.name_scope("import" if name is None else name) as scope:
        prefix = scope.rstrip("/") if scope else ""
        with graph.name_scope("_inputs" if prefix else ""):
            entries = [_target(graph, key, value) for key, value in input_map.items()]
        found, elements = _add_nodes(graph, graph_def, prefix, entries, list(return_elements or ()))
    unused = [key for (key, _, _), is_found in zip(entries, found) if not is_found]
    if unused:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]"
        )
    _warn_of_unknown(graph_def)
    if return_elements is None:
        return None
    made = [(graph._operation(op), index) for op, index in elements]
    return [op if index < 0 else op.outputs[index] for op, index in made]
