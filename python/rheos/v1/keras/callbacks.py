"""Callbacks (tf.keras.callbacks)."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.models.callbacks import (
    BaseLogger,
    Callback,
    CSVLogger,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    ModelCheckpoint,
    ProgbarLogger,
    ReduceLROnPlateau,
    RemoteMonitor,
    TerminateOnNaN,
)
from rheos.models.tensorboard import (
    TensorBoard,
)

__getattr__ = _attribute_of("tensorflow.keras.callbacks")
