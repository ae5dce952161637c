"""Functions of tensors and of the session (tf.keras.backend)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.backend import (
    backend,
    batch_get_value,
    batch_set_value,
    cast,
    clear_session,
    epsilon,
    eval,
    floatx,
    get_session,
    get_uid,
    get_value,
    image_data_format,
    learning_phase,
    learning_phase_scope,
    placeholder,
    reset_uids,
    set_epsilon,
    set_floatx,
    set_image_data_format,
    set_learning_phase,
    set_session,
    set_value,
    variable,
)

__getattr__ = _attribute_of("tensorflow.keras.backend")
