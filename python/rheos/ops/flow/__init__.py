"""Branches, loops, functions, and arrays of tensors."""
