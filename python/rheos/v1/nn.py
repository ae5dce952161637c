"""Neural networks."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.nn.nn_conv import conv2d_transpose
from rheos.v1 import rnn_cell
from rheos.v1._names import fill as _fill

_fill(__name__)


_absent = _attribute_of("tensorflow.nn")


def __getattr__(name):
    # The name of conv2d_transpose before TensorFlow 0.6, which dir() does not show.
    return conv2d_transpose if name == "deconv2d" else _absent(name)
