"""Of tf.contrib.cudnn_rnn: the cells that run what its networks, which need a GPU, have learnt."""

from rheos.contrib.cudnn_cells import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell
from rheos.framework.absent import attribute_of as _attribute_of

__getattr__ = _attribute_of("tensorflow.contrib.cudnn_rnn")
