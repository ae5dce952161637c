"""tf.contrib.keras: tf.keras under the name that it had at first."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1.keras import (
    activations,
    backend,
    callbacks,
    constraints,
    datasets,
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

__getattr__ = _attribute_of("tensorflow.contrib.keras")
