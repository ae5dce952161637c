"""Functions that add operations to a graph, named and structured as TensorFlow's are."""
