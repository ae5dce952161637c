"""Functions that come with a GraphDef: what they are called where others are already."""

from rheos.framework import messages

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def rename_calls(nodes, names):
    """Has nodes of messages call the functions of `names`, {old name: new name}, by these."""
    for node in nodes:
        node.op = names.get(node.op, node.op)
        if node.op in _CALLS:
            node.attr.pop("_gradient_op_type", None)  # of the program that saved: not ours
        for attr in node.attr.values():
            for called in (attr.func, *attr.list.func) if _has_function(attr) else ():
                called.name = names.get(called.name, called.name)


def _has_function(attr):
    return attr.HasField("func") or (attr.HasField("list") and len(attr.list.func))


def renamed(library, suffix):
    """(a library whose functions have other names, {old name: new name}): a program may read more
    than one file with functions of a name."""
    made = messages.FunctionDefLibrary()
    made.CopyFrom(library)
    names = {f.signature.name: f.signature.name + suffix for f in library.function}
    for function in made.function:
        function.signature.name = names[function.signature.name]
        rename_calls(function.node_def, names)
    for gradient in made.gradient:
        gradient.function_name = names.get(gradient.function_name, gradient.function_name)
        gradient.gradient_func = names.get(gradient.gradient_func, gradient.gradient_func)
    return made, names


def separate_library(graph_def):
    """(GraphDef of the functions alone, GraphDef of the nodes, which call these).

    The functions have names that say what the library is: the same library is there once.
    """
    import hashlib  # dear, and most programs import no functions

    text = graph_def.library.SerializeToString(deterministic=True)
    suffix = f"_import{hashlib.blake2b(text, digest_size=8).hexdigest()}"
    library, names = renamed(graph_def.library, suffix)
    functions = messages.GraphDef(library=library, versions=graph_def.versions)
    nodes = messages.GraphDef()
    nodes.CopyFrom(graph_def)
    nodes.ClearField("library")
    rename_calls(nodes.node, names)
    return functions, nodes
