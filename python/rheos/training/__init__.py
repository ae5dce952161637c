"""Training, and what it keeps: optimizers, sessions, hooks, checkpoints, events, records."""
