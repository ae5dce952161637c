"""tf.keras of TensorFlow 1.15: networks of layers, and what trains them."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.input_layer import Input
from rheos.models.model import Model, Sequential
from rheos.v1.keras import (
    activations,
    backend,
    callbacks,
    constraints,
    datasets,
    experimental,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    preprocessing,
    regularizers,
    utils,
)

__version__ = "2.2.4-tf"
__getattr__ = _attribute_of("tensorflow.keras")
