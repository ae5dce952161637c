"""The data set cifar10."""

from rheos.models.example_data import cifar10 as load_data

__all__ = ["load_data"]
