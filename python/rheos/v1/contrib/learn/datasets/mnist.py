"""MNIST's images of digits, from files in a folder."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1.examples.tutorials.mnist.input_data import (
    DEFAULT_SOURCE_URL,
    DataSet,
    dense_to_one_hot,
    extract_images,
    extract_labels,
    read_data_sets,
)

__getattr__ = _attribute_of("tensorflow.contrib.learn.datasets.mnist")
