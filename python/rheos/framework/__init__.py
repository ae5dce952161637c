"""What every face of the package is built on: graphs, tensors, dtypes, shapes, errors."""
