"""Gradients, of graphs and of what tapes remember."""
