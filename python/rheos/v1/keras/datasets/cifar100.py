"""The data set cifar100."""

from rheos.models.example_data import cifar100 as load_data

__all__ = ["load_data"]
