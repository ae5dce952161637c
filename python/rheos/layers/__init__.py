"""Layers: variables and the operations on them, made together."""
