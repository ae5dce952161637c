"""Training: optimizers, checkpoints, the step counter, learning rates."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.training import queue_runner
from rheos.v1._names import fill as _fill

_fill(__name__)


_MESSAGES = (
    "BytesList",
    "CheckpointState",
    "ClusterDef",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "JobDef",
    "QueueRunnerDef",
    "SaverDef",
    "SequenceExample",
    "ServerDef",
)
__getattr__ = _attribute_of("tensorflow.train", _MESSAGES)


def __dir__():
    return sorted({*(n for n in globals() if not n.startswith("_")), *_MESSAGES})
