"""TensorBoard's plugins."""

from rheos.v1.contrib.tensorboard.plugins import projector
