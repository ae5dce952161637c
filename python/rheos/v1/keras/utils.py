"""What programs with models use beside them (tf.keras.utils)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.data import (
    Sequence,
)
from rheos.models.objects import (
    CustomObjectScope,
    custom_object_scope,
    get_custom_objects,
)
from rheos.models.progress import (
    Progbar,
)

__getattr__ = _attribute_of("tensorflow.keras.utils")
