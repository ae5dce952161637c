"""What a module answers when it is asked for a name that it does not have."""

import sys

from rheos.framework import messages as classes


def attribute_of(module, messages=()):
    """A module's `__getattr__`; it raises AttributeError, so programs can try and fall back.

    module: the name that programs know it by, such as "tensorflow.nn". messages: the names of
    message types that are attributes of the module; their classes are made when they are used.
    """
    public = "tf" + module.removeprefix("tensorflow")
    own = "rheos.v1" + module.removeprefix("tensorflow")

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        if name in messages:
            return getattr(classes, name)
        import difflib

        known = dir(sys.modules[own]) if own in sys.modules else []
        near = difflib.get_close_matches(name, known, cutoff=0.75)
        meant = f"did you mean {' or '.join(f'{public}.{n}' for n in near)}? " if near else ""
        raise AttributeError(
            f"module '{module}' has no attribute '{name}': {meant}If TensorFlow 1 has "
            f"{public}.{name}, it is not in Rheos yet"
        )

    return __getattr__


def public_names(namespace):
    """The names of a module's globals that are for programs; its own imports of modules aside."""
    return sorted(
        name
        for name, value in namespace.items()
        if not name.startswith("_")
        and not (isinstance(value, type(sys)) and not value.__name__.startswith("rheos"))
    )
