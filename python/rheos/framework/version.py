"""The version of Rheos."""

__version__ = "0.1.0"
