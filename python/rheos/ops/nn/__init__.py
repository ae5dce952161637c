"""Neural networks: layers as functions, losses, metrics."""
