"""What TensorBoard reads beside event files."""

from rheos.v1.contrib.tensorboard import plugins
