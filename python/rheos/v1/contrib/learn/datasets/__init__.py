"""Data that is read from files."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1.contrib.learn.datasets import mnist

__getattr__ = _attribute_of("tensorflow.contrib.learn.datasets")
