"""What a module answers when it is asked for a name that it does not have."""

import sys

from rheos.framework import messages as classes


def attribute_of(module, messages=()):
    """A module's `__getattr__`; it raises AttributeError, so programs can try and fall back.

    module: the name that programs know it by, such as "tensorflow.nn". messages: the names of
    message types that are attributes of the module; their classes are made when they are used.
    """
    own = "rheos.v1" + module.removeprefix("tensorflow")

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        if name in messages:
            return getattr(classes, name)
        known = dir(sys.modules[own]) if own in sys.modules else []
        raise no_attribute(module, name, known, 1)

    return __getattr__


def no_attribute(module, name, known, version):
    """The AttributeError of a name that a module of TensorFlow `version` lacks; names near ones.

    module: as programs know it, such as "tensorflow.nn". known: the names that it has.
    """
    import difflib

    public = "tf" + module.removeprefix("tensorflow")
    near = difflib.get_close_matches(name, known, cutoff=0.75)
    meant = f"did you mean {' or '.join(f'{public}.{n}' for n in near)}? " if near else ""
    return AttributeError(
        f"module '{module}' has no attribute '{name}': {meant}If TensorFlow {version} has "
        f"{public}.{name}, it is not in Rheos yet"
    )


def public_names(namespace):
    """The names of a module's globals that are for programs; its own imports of modules aside."""
    return sorted(
        name
        for name, value in namespace.items()
        if not name.startswith("_")
        and not (isinstance(value, type(sys)) and not value.__name__.startswith("rheos"))
    )
