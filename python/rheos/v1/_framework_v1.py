"""Functions of TensorFlow 1 on the default graph's collections."""

from rheos.framework.graph import get_default_graph


def add_to_collection(name, value):
    """Adds a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Adds a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    """A copy of a collection of the default graph; `scope`: a pattern for the items' names."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    """A collection of the default graph itself."""
    return get_default_graph().get_collection_ref(key)


def import_graph_def(
    graph_def, input_map=None, return_elements=None, name=None, op_dict=None, producer_op_list=None
):
    """Adds the nodes of a GraphDef to the default graph.

    name: put before their names, "import" by default, "" for nothing. return_elements: names of
    operations and tensors to return.
    """
    if input_map:
        raise NotImplementedError("import_graph_def: input_map")
    graph = get_default_graph()
    prefix = name
    if name is None:
        prefix = graph.unique_name("import")
    elif name:
        prefix = name[:-1] if name.endswith("/") else graph.unique_name(name)
    scope = graph._scope_name()
    if prefix and not prefix.startswith(scope):
        prefix = scope + prefix
    graph._import_graph_def(graph_def.SerializeToString(), prefix or None)
    if return_elements is None:
        return None
    before = prefix + "/" if prefix else ""
    return [graph.as_graph_element(before + element) for element in return_elements]
