"""Python functions made ones that add their branches and loops over tensors to the graph."""
