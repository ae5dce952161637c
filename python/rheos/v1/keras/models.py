"""Models, and how they are saved (tf.keras.models)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.model import (
    Model,
    Sequential,
)
from rheos.models.saving import (
    model_from_config,
    model_from_json,
    model_from_yaml,
    save_model,
)

__getattr__ = _attribute_of("tensorflow.keras.models")
