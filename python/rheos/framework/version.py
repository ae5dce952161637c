"""The version of Rheos: that of the C library, which the extension has checked to be its own."""

from rheos._core import version

__version__ = version()
