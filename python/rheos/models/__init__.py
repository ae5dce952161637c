"""Networks of layers, and what trains them: losses, metrics, optimizers, callbacks."""

from rheos.models import op_layers  # noqa: F401 - layers make initializers of names by it
