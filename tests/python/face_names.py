"""Names as a program writes them behind `tf.`, with dots."""

import functools


def leads_somewhere(name, face):
    """Whether a face of TensorFlow, a module, has what the name says."""
    try:
        functools.reduce(getattr, name.split("."), face)
    except AttributeError:
        return False
    return True
