"""Layers as configurations."""

from rheos.models import objects


def serialize(layer):
    """What stands for a layer: its class and its configuration."""
    return objects.serialize(layer)


def deserialize(config, custom_objects=None):
    """The layer that a configuration stands for."""
    return objects.deserialize("layer", config, custom_objects)
