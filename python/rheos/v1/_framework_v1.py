"""Functions of TensorFlow 1 on the default graph's collections."""

from rheos.framework.defaults import get_default_graph


def add_to_collection(name, value):
    """Adds a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Adds a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    """A copy of a collection of the default graph; `scope`: a pattern for the items' names.

    >>> tf.add_to_collection("losses", 1.5)
    >>> print(tf.get_collection("losses"))
    [1.5]
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    """A collection of the default graph itself."""
    return get_default_graph().get_collection_ref(key)
