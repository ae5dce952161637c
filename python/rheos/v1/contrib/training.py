"""Training of tf.contrib.training: steps, loops and hyperparameters."""

from rheos.v1._names import fill as _fill

_fill(__name__)
