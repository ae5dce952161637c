"""Data sets (tf.keras.datasets): those downloaded before, or from the network."""

from rheos.v1.keras.datasets import (
    boston_housing,
    cifar10,
    cifar100,
    fashion_mnist,
    imdb,
    mnist,
    reuters,
)
