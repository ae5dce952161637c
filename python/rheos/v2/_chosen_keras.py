"""Which Keras tf.keras is: Rheos's own, or the package `keras` where a program asks for that.

RHEOS_KERAS=3 (`rheos run --keras=3`) asks for the package, TF_USE_LEGACY_KERAS=1 for Rheos's own.
"""

import os
from importlib.machinery import PathFinder

# The namespaces that are Keras's, also where they lie outside tf.keras.
NAMESPACES = frozenset(("keras", "initializers", "losses", "metrics", "optimizers"))


def is_keras_3():
    """Whether the package is asked for; ValueError if the variable is no version of Keras."""
    if os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true"):
        return False
    asked = os.environ.get("RHEOS_KERAS", "")
    if asked not in ("", "2", "3"):
        raise ValueError(f"RHEOS_KERAS is 2 (Rheos's own Keras) or 3 (the package), not {asked!r}")
    return asked == "3"


def namespace(name):
    """The package, or the module in it; ImportError says what to install where it is absent."""
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    if PathFinder.find_spec("keras") is None:  # `import keras` would give tf.keras
        raise ImportError(
            "Keras 3 is asked for (RHEOS_KERAS) and not installed: 'pip install keras' brings it"
        )
    import keras

    return keras if name == "keras" else getattr(keras, name)
