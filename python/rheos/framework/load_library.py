"""Kernels in libraries of TensorFlow's, which nothing but TensorFlow can load."""

import os

from rheos.framework import errors


def load_op_library(library_filename):
    """NotFoundError if there is no such file; else UnimplementedError, with what can be done.

    Kernels of TensorFlow's are compiled against its classes, which are not here.
    """
    path = os.fspath(library_filename)
    path = path.decode() if isinstance(path, bytes) else path
    if not os.path.isfile(path):
        raise errors.NotFoundError(
            None, None, f"{path}: cannot open shared object file: No such file or directory"
        )
    raise errors.UnimplementedError(
        None,
        None,
        f"{path}: kernels that are compiled for TensorFlow cannot be loaded into Rheos; tf.py_func "
        "and tf.numpy_function run functions of Python as operations",
    )


load_file_system_library = load_op_library


def load_library(library_location):
    """load_op_library() of a file, or of each in a folder; OSError if there is neither."""
    if not os.path.exists(library_location):
        raise OSError(
            2,
            "The file or folder to load kernel libraries from does not exist.",
            library_location,
        )
    if not os.path.isdir(library_location):
        return load_op_library(library_location)
    for name in sorted(os.listdir(library_location)):
        if name.endswith(".so"):
            load_op_library(os.path.join(library_location, name))
    return None
