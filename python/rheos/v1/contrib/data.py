"""Input pipelines of tf.contrib.data: the names from before tf.data.experimental."""

from rheos.v1._names import fill as _fill

_fill(__name__)
