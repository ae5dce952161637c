"""Networks of layers, and what trains them: losses, metrics, optimizers, callbacks."""
