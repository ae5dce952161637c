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


def near_names(name, known):
    """Up to three of the known names that are near one."""
    import difflib

    return difflib.get_close_matches(name, known, cutoff=0.75 if len(name) > 4 else 0.6)


def did_you_mean(name, known):
    """ "; did you mean 'adam'?" for what is near an unknown name, "" if nothing is."""
    near = near_names(name, known) if isinstance(name, str) else ()
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def no_attribute(module, name, known, version, is_of_version_1=False):
    """The AttributeError of a name that a module of TensorFlow `version` lacks; names near ones.

    module: as programs know it, such as "tensorflow.nn". known: the names that it has.
    is_of_version_1: whether TensorFlow 1 has the name, and TensorFlow 2 none of it.
    """
    public = "tf" + module.removeprefix("tensorflow")
    if is_of_version_1:
        return AttributeError(
            f"module '{module}' has no attribute '{name}': {public}.{name} is a name of TensorFlow "
            f"1: run the program by 'rheos run --tf1', or write {_below_compat(public, name)}"
        )
    moved = _moved(public, name)
    near = [moved] if moved else [f"{public}.{n}" for n in near_names(name, known)]
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    error = AttributeError(
        f"module '{module}' has no attribute '{name}': {meant}If TensorFlow {version} has "
        f"{public}.{name}, it is not in Rheos yet"
    )
    error.name, error.obj = name, None  # else Python asks the module too, and says it once more
    return error


# Where names of tf.contrib went when they were no longer tried out.
_BEYOND_CONTRIB = (
    "estimator", "train", "data", "layers", "nn", "losses", "metrics", "initializers"
)


def _moved(public, name):
    """The name beside tf.contrib that stands for one of tf.contrib which is missing; "" if none."""
    tf = sys.modules.get("rheos.v1")
    if not tf or not public.startswith("tf.contrib.") or name in _BEYOND_CONTRIB:
        return ""
    places = {f"tf.{place}": getattr(tf, place, None) for place in _BEYOND_CONTRIB}
    return next((f"{at}.{name}" for at, place in places.items() if hasattr(place, name)), "")


def _below_compat(public, name):
    return f"tf.compat.v1{public.removeprefix('tf')}.{name}"


def public_names(namespace):
    """The names of a module's globals that are for programs; its own imports of modules aside."""
    return sorted(
        name
        for name, value in namespace.items()
        if not name.startswith("_")
        and not (isinstance(value, type(sys)) and not value.__name__.startswith("rheos"))
    )
