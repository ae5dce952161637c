"""Of tf.contrib.cudnn_rnn: the cells that run what its networks, which need a GPU, have learnt."""

from rheos.v1._names import fill as _fill

_fill(__name__)
