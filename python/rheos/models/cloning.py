"""Models like others, with variables of their own."""

from rheos.framework import nest
from rheos.layers import nodes
from rheos.models.input_layer import Input, InputLayer
from rheos.models.model import Model, Sequential


def _same(layer):
    return type(layer).from_config(layer.get_config())


def clone_model(model, input_tensors=None, clone_function=None):
    """A model of the same layers, made anew by clone_function(layer); new variables.

    input_tensors: what it takes instead of inputs of its own.
    """
    clone = clone_function or _same
    if isinstance(model, Sequential):
        return _cloned_sequence(model, input_tensors, clone)
    if not isinstance(model, Model) or not model._is_graph_network:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass "
            f"model instead: {model}"
        )
    given = None if input_tensors is None else nest.flatten(input_tensors)
    found, made = {}, {}
    for i, x in enumerate(model.inputs):
        layer = x._keras_history.layer
        if given is None:
            new = Input(batch_shape=layer._batch_input_shape, dtype=layer.dtype, name=layer.name)
        else:
            new = given[i] if nodes.is_connected(given[i]) else Input(tensor=given[i])
        made[id(layer)] = new._keras_history.layer
        found[id(x)] = new
    for node in model._network.nodes:
        if not node.input_tensors or all(id(x) in found for x in node.output_tensors):
            continue
        layer = made.get(id(node.layer))
        if layer is None:
            layer = made[id(node.layer)] = clone(node.layer)
        args, kwargs = node.arguments(found)
        for own, x in zip(node.output_tensors, nest.flatten(layer(*args, **kwargs))):
            found[id(own)] = x
    inputs = nest.map_leaves(lambda x: found[id(x)], model._network.input_structure)
    outputs = nest.map_leaves(lambda x: found[id(x)], model._network.output_structure)
    return type(model)(inputs, outputs, name=model.name)


def _cloned_sequence(model, input_tensors, clone):
    layers = [clone(layer) for layer in model.layers]
    if input_tensors is not None:
        x = nest.flatten(input_tensors)[0]
        x = x if nodes.is_connected(x) else Input(tensor=x)
        made = Sequential(name=model.name)
        made.add(x._keras_history.layer)
        for layer in layers:
            made.add(layer)
        return made
    first = [x for x in model._list if isinstance(x, InputLayer)]
    return Sequential([*map(_same, first), *layers], name=model.name)
