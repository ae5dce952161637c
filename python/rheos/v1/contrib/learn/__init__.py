"""Of tf.contrib.learn: what prepares texts and reads data; estimators are not there."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1.contrib.learn import datasets, preprocessing


class ModeKeys:
    """What a model function is asked to build."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"


__getattr__ = _attribute_of("tensorflow.contrib.learn")
