"""GraphDefs for use elsewhere: variables as constants, parts of a graph."""

from rheos.framework import logging, messages
from rheos.ops.array.constant_op import make_tensor_proto

# Ops that are variables, and those that pass a handle or reference on.
_VARIABLES = ("Variable", "VariableV2")
_PASSING_ON = ("Identity", "Switch", "RefSwitch", "Enter", "RefEnter")


def _node_name(name):
    """The node in "node", "node:1" or "^node"."""
    return name.removeprefix("^").partition(":")[0]


def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether the NodeDef (or operation) has to run on the CPU: strings, and int32 constants."""
    node_def = getattr(node, "node_def", node)
    if pin_variables_on_cpu and node_def.op in _VARIABLES:
        return True
    strings, integers = messages.DT_STRING, messages.DT_INT32
    if node_def.op == "Const":
        return node_def.attr["dtype"].type in (strings, integers)
    if node_def.op == "DynamicStitch":
        return node_def.attr["T"].type == integers
    if node_def.op in ("Cast",):
        return False
    return any(node_def.attr[key].type == strings for key in node_def.attr)


def extract_sub_graph(graph_def, dest_nodes):
    """A GraphDef with the nodes that the named ones need, and the library and versions.

    AssertionError if a name is not in graph_def; TypeError for wrong types.
    """
    if not messages.is_message(graph_def, "GraphDef"):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    todo = [_node_name(name) for name in dest_nodes]
    for name in todo:
        assert name in nodes, f"{name} is not in graph"
    kept = set()
    while todo:
        name = todo.pop()
        if name not in kept and name in nodes:
            kept.add(name)
            todo.extend(_node_name(i) for i in nodes[name].input)
    out = messages.GraphDef()
    out.node.extend(node for node in graph_def.node if node.name in kept)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def _node_that_is_waited_for(name):
    """The node of a control input, None for another input."""
    return name.removeprefix("^") if name.startswith("^") else None


def remove_training_nodes(input_graph, protected_nodes=None):
    """A GraphDef without CheckNumerics nodes, whoever waits for them, and without the Identity
    nodes that neither wait for others nor are waited for.

    protected_nodes: names of nodes that stay.
    """
    protected = set(protected_nodes or ())
    checks = {n.name for n in input_graph.node if n.op == "CheckNumerics"} - protected
    waits = {n.name: {_node_that_is_waited_for(i) for i in n.input} for n in input_graph.node}
    waits = {name: found - checks - {None} for name, found in waits.items()}
    waited_for = set().union(*waits.values())
    inputs = {}  # of the nodes that go
    for node in input_graph.node:
        is_plain = not waits[node.name] and node.name not in waited_for | protected
        if node.name in checks or node.op == "Identity" and is_plain:
            inputs[node.name] = node.input[0]
    out = messages.GraphDef()
    for node in input_graph.node:
        if node.name in inputs:
            continue
        made = out.node.add()
        made.CopyFrom(node)
        del made.input[:]
        for name in node.input:
            if _node_that_is_waited_for(name) in checks:
                continue
            while name.removesuffix(":0") in inputs:
                name = inputs[name.removesuffix(":0")]
            made.input.append(name)
    for field in ("library", "versions"):
        if input_graph.HasField(field):
            getattr(out, field).CopyFrom(getattr(input_graph, field))
    return out


def tensor_shape_from_node_def_name(graph, input_name):
    """The static shape of the tensor that a node's input names."""
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name).get_shape()


def _variable_behind(nodes, name):
    """The variable that a handle or reference comes from, through what passes it on."""
    name = _node_name(name)
    while nodes[name].op in _PASSING_ON:
        name = _node_name(nodes[name].input[0])
    return name


def _constant(name, dtype, value):
    made = messages.NodeDef(name=name, op="Const")
    made.attr["dtype"].CopyFrom(dtype)
    made.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype.type, value.shape))
    return made


def _identity(node, dtype):
    made = messages.NodeDef(name=node.name, op="Identity", input=[node.input[0]])
    made.attr["T"].CopyFrom(dtype)
    if "_class" in node.attr:
        made.attr["_class"].CopyFrom(node.attr["_class"])
    return made


def convert_variables_to_constants(
    sess,
    input_graph_def,
    output_node_names,
    variable_names_whitelist=None,
    variable_names_blacklist=None,
):
    """A GraphDef of what the outputs need, with constants of the session's values for variables.

    variable_names_whitelist: only these variables are replaced; variable_names_blacklist: all but
    these. Resource variables that are read by ReadVariableOp and ResourceGather are replaced too.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    nodes = {node.name: node for node in graph_def.node}

    def is_chosen(name):
        if variable_names_whitelist is not None and name not in variable_names_whitelist:
            return False
        return variable_names_blacklist is None or name not in variable_names_blacklist

    names = [n.name for n in graph_def.node if n.op in _VARIABLES and is_chosen(n.name)]
    handles = [n.name for n in graph_def.node if n.op == "VarHandleOp" and is_chosen(n.name)]
    fetches = [f"{name}:0" for name in names]
    fetches += [f"{name}/Read/ReadVariableOp:0" for name in handles]
    values = dict(zip(names + handles, sess.run(fetches) if fetches else []))
    types = {name: nodes[name].attr["dtype"] for name in values}
    out = messages.GraphDef()
    for node in graph_def.node:
        if node.name in values:
            out.node.append(_constant(node.name, types[node.name], values[node.name]))
            continue
        handle = None
        if node.op in ("ReadVariableOp", "ResourceGather"):
            handle = _variable_behind(nodes, node.input[0])
        if handle not in values:
            out.node.add().CopyFrom(node)
            if node.op in _PASSING_ON and node.input:
                handle = _variable_behind(nodes, node.name)
                if handle in values and nodes[handle].op == "VarHandleOp":
                    out.node[-1].attr["T"].CopyFrom(types[handle])
        elif node.op == "ReadVariableOp":
            out.node.append(_identity(node, types[handle]))
        else:
            axis = messages.NodeDef(name=f"{node.name}/axis", op="Const")
            axis.attr["dtype"].type = messages.DT_INT32
            batch_dims = node.attr["batch_dims"].i
            axis.attr["value"].tensor.CopyFrom(make_tensor_proto(batch_dims, "int32"))
            gather = messages.NodeDef(name=node.name, op="GatherV2")
            gather.input.extend([*node.input[:2], axis.name, *node.input[2:]])
            gather.attr["Tparams"].CopyFrom(types[handle])
            gather.attr["Tindices"].CopyFrom(node.attr["Tindices"])
            gather.attr["Taxis"].type = messages.DT_INT32
            if batch_dims:
                gather.attr["batch_dims"].i = batch_dims
            out.node.extend([axis, gather])
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    logging.info("Converted %d variables to const ops.", len(values))
    return out
