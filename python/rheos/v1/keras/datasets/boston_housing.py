"""The data set boston_housing."""

from rheos.models.example_data import boston_housing as load_data

__all__ = ["load_data"]
