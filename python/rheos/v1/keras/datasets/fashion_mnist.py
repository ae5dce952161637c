"""The data set fashion_mnist."""

from rheos.models.example_data import fashion_mnist as load_data

__all__ = ["load_data"]
