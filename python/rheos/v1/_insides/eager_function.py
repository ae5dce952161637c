"""Traced functions: tensorflow.python.eager.function."""

from rheos.tracing.concrete import ConcreteFunction
from rheos.tracing.function import function as defun
