"""Matrices and linear operators."""
