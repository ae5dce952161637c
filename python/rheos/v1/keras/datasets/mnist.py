"""The data set mnist."""

from rheos.models.example_data import mnist as load_data

__all__ = ["load_data"]
