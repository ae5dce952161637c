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
from rheos.models.utils import (
    convert_all_kernels_in_model,
    deserialize_keras_object,
    get_file,
    get_source_inputs,
    normalize,
    serialize_keras_object,
    to_categorical,
)

__getattr__ = _attribute_of("tensorflow.keras.utils")
