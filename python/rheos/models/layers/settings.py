"""How layers take and give back activations, initializers, regularizers and constraints."""

from rheos.models import (  # noqa: F401
    activations,
    constraints,
    drawn_initializers,
    initializers,
    op_layers,
    regularizers,
)

_GROUPS = (
    ("activation", activations),
    ("initializer", initializers),
    ("regularizer", regularizers),
    ("constraint", constraints),
)


def group_of(name):
    """The module for an argument such as kernel_initializer, None for other arguments."""
    for ending, module in _GROUPS:
        if name == ending or name.endswith("_" + ending):
            return module
    return None


def resolved(arguments):
    """Arguments with objects for the names and configurations among them."""
    result = {}
    for name, value in arguments.items():
        module = group_of(name)
        result[name] = value if module is None else module.get(value)
    return result


def config_of(layer, names):
    """The configuration of these attributes of a layer."""
    config = {}
    for name in names:
        module, value = group_of(name), getattr(layer, name)
        config[name] = value if module is None else module.serialize(value)
    return config
