"""What the layers of tf.contrib.layers share: renamed variables, collections, flags."""

from rheos.contrib import variables
from rheos.framework.defaults import get_default_graph


def variable_getter(rename=None):
    """A custom getter: variables get other last names, and are model variables."""
    rename = rename or {}

    def getter(
        getter,
        name,
        shape=None,
        dtype=None,
        initializer=None,
        regularizer=None,
        trainable=True,
        collections=None,
        caching_device=None,
        partitioner=None,
        use_resource=None,
        synchronization=None,
        aggregation=None,
        **_,
    ):
        *scopes, last = name.split("/")
        name = "/".join([*scopes, rename.get(last, last)])
        return variables.model_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=collections,
            caching_device=caching_device,
            partitioner=partitioner,
            custom_getter=getter,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )

    return getter


def collections_for(variables_collections, name):
    """The collections of one variable, of a list for all or of a dict with one for each."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def keep_variable(variable, variables_collections, name):
    """Adds a variable to the collections for its kind, unless it is in there."""
    graph = get_default_graph()
    for collection in collections_for(variables_collections, name) or ():
        if not any(v is variable for v in graph.get_collection(collection)):
            graph.add_to_collection(collection, variable)


def add_to_collections(names, value):
    """Adds a value to one collection, or to several."""
    graph = get_default_graph()
    for name in [names] if isinstance(names, str) else dict.fromkeys(names):
        graph.add_to_collection(name, value)


def collect(collections, alias, outputs):
    """Adds the output of a layer to `collections`, under a name of its own. Returns it."""
    if collections:
        outputs.aliases = [*getattr(outputs, "aliases", []), alias]
        add_to_collections(collections, outputs)
    return outputs


def finish(outputs, sc_name, outputs_collections, activation_fn, normalizer_fn=None, params=None):
    """The end of each layer: normalizes, activates, collects."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect(outputs_collections, sc_name, outputs)


def two(value):
    """A pair of numbers from one number or a pair; ValueError for others."""
    if isinstance(value, (list, tuple)):
        if len(value) != 2:
            raise ValueError(f"Must be a list with 2 elements: {value}")
        return int(value[0]), int(value[1])
    return int(value), int(value)


def last_dimension(shape, min_rank=1):
    """The size of the last dimension; ValueError if it or the rank is not known."""
    if shape.ndims is None:
        raise ValueError("dimension of shape must be specified but is not")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape.size_at(-1)
    if size is None:
        raise ValueError("last dimension shape must be known but is None")
    return size


def format_of(data_format, allowed):
    """The data format as tf.layers names it; ValueError unless it is allowed."""
    if data_format not in allowed:
        raise ValueError(f"data_format has to be one of {', '.join(filter(None, allowed))}.")
    first = data_format is not None and data_format.startswith("NC")
    return "channels_first" if first else "channels_last"
