"""Default arguments in scopes, and variables with collections, of tf.contrib.framework."""

import types as _types

from rheos.framework import nest
from rheos.ops.media import audio_ops as _audio_ops
from rheos.v1._names import fill as _fill

_fill(__name__)


# tf.contrib.framework.python.ops.audio_ops has no other public name.
python = _types.SimpleNamespace(ops=_types.SimpleNamespace(audio_ops=_audio_ops))
