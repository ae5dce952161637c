"""Models, and how they are saved (tf.keras.models)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.cloning import (
    clone_model,
)
from rheos.models.files import (
    load_model,
    save_model,
)
from rheos.models.model import (
    Model,
    Sequential,
)
from rheos.models.saving import (
    model_from_config,
    model_from_json,
    model_from_yaml,
)

__getattr__ = _attribute_of("tensorflow.keras.models")
