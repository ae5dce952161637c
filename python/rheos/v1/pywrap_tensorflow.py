"""Names that programs take from TensorFlow's extension module."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.training.checkpoints import CheckpointReader, NewCheckpointReader

__getattr__ = _attribute_of("tensorflow.pywrap_tensorflow")
