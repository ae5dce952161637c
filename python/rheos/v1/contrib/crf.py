"""Linear-chain conditional random fields of tf.contrib.crf."""

from rheos.v1._names import fill as _fill

_fill(__name__)
