"""Devices, threads, and how functions run."""

from rheos.v1._names import fill as _fill
from rheos.v1.config import experimental, optimizer, threading

_fill(__name__)
