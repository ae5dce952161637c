"""Sound."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.audio_ops import decode_wav, encode_wav

__getattr__ = _attribute_of("tensorflow.audio")
