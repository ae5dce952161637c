"""Graphs of functions: tensorflow.python.framework.func_graph."""

from rheos.framework.func_graph import FuncGraph
