"""Layers (tf.keras.layers)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.layers.input_spec import (
    InputSpec,
)
from rheos.layers.layer import (
    Layer,
)
from rheos.models.input_layer import (
    Input,
    InputLayer,
)
from rheos.models.layers.core import (
    Activation,
    ActivityRegularization,
    AlphaDropout,
    Dense,
    Dropout,
    Flatten,
    GaussianDropout,
    GaussianNoise,
    Lambda,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
    Softmax,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)

__getattr__ = _attribute_of("tensorflow.keras.layers")
