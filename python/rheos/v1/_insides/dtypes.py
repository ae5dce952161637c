"""Types of elements, those of references to variables too: tensorflow.python.framework.dtypes."""

from rheos.framework.dtypes import DType, as_dtype


def __getattr__(name):
    if name.endswith("_ref"):
        try:
            return as_dtype(name)
        except TypeError:
            pass
    raise AttributeError(f"module 'tensorflow.python.framework.dtypes' has no attribute '{name}'")
