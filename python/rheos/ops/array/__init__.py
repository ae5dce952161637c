"""Shapes and elements of tensors."""
