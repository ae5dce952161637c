"""tf.keras of TensorFlow 1.15: networks of layers, and what trains them."""

from rheos.v1._names import fill as _fill
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

_fill(__name__)


__version__ = "2.2.4-tf"
