"""Outputs of layers by name, and sizes: utils of tf.contrib.layers and of TF-Slim."""

import collections as _collections

from rheos.contrib.layer_util import collect as collect_named_outputs, last_dimension
from rheos.framework.defaults import get_default_graph as _get_default_graph
from rheos.ops.flow.smart_cond import smart_cond, smart_constant_value as constant_value


def append_tensor_alias(tensor, alias):
    """Gives a tensor one more name, without a "/" at the end; returns the tensor."""
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def get_tensor_aliases(tensor):
    """The names that layers gave a tensor; its operation's if they gave none."""
    aliases = getattr(tensor, "aliases", None)
    return [str(alias) for alias in aliases] if aliases else [tensor.op.name]


def gather_tensors_aliases(tensors):
    """The names of several tensors, in one list."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection, clear_collection=False):
    """{name: tensor} in the order in which layers put them into a collection of outputs."""
    graph = _get_default_graph()
    outputs = _collections.OrderedDict(
        (alias, tensor)
        for tensor in graph.get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        graph.clear_collection(collection)
    return outputs


def get_variable_collections(variables_collections, name):
    """The collections for the variables of a name; of a dict, what it has for that name."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def channel_dimension(shape, data_format, min_rank=1):
    """The number of channels; ValueError if it or the rank is not known."""
    if not data_format or not data_format.startswith("NC"):
        return last_dimension(shape, min_rank)
    if shape.ndims is None:
        raise ValueError("dimension of shape must be specified but is not")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    if shape.size_at(1) is None:
        raise ValueError("second dimension shape must be known but is None")
    return shape.size_at(1)


def n_positive_integers(n, value):
    """A tuple of `n` positive integers, from one of them or from `n`; ValueError otherwise."""
    if not (isinstance(n, int) and n > 0):
        raise ValueError(f"n must be a positive integer. Got {n}")
    values = tuple(int(v) for v in value) if isinstance(value, (list, tuple)) else (value,) * n
    if len(values) != n or not all(isinstance(v, int) and v > 0 for v in values):
        raise ValueError(f"`value` must be a positive integer, or a sequence of {n}. Got {value}")
    return values


def two_element_tuple(int_or_tuple):
    """(height, width) from one number, from a pair, or from a shape of two sizes."""
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    sizes = getattr(int_or_tuple, "as_list", lambda: ())()
    if len(sizes) == 2:
        return sizes[0], sizes[1]
    raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")
