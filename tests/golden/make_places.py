#!/usr/bin/env python3
"""Records where below tensorflow.python TensorFlow 1.15 has its public names.

Usage: python make_places.py      (a Python that has TensorFlow 1.15.5)

Writes python/rheos/v1/_insides/places.py: for each module the names in it that are public
somewhere, under their own or another name, and whether it has functions of ops too. Modules
without public names are there too: programs import some, and use little of them.
"""

import importlib
import os
import pkgutil
import re
import sys
import textwrap
import types
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.simplefilter("ignore")
import tensorflow as tf  # noqa: E402
from tensorflow import python as insides  # noqa: E402
from tensorflow.python.util import tf_decorator  # noqa: E402

PATH = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../python/rheos/v1/_insides/places.py"
)
SKIPPED = re.compile(
    r"\.debug\b|_test$|\.parameterized$|\._tf_stack$|\.gen_\w+$|keras\.api\b|\.test_ops$"
)
HEAD = '''# ruff: noqa: E501
"""Where TensorFlow 1.15 has its public names below tensorflow.python; make_places.py made this.

By module: "name" is public under that name, "name=other.name" under another one and
"name=2:other.name" only in TensorFlow 2; "*" stands for the functions of ops.
"""

PLACES = {
'''


def modules():
    """(the name below tensorflow.python, the module) of each of its modules."""
    for found in pkgutil.walk_packages(insides.__path__, "tensorflow.python."):
        if SKIPPED.search(found.name):
            continue
        try:
            yield found.name[len("tensorflow.python.") :], importlib.import_module(found.name)
        except ImportError as error:
            print(f"{found.name}: {error}", file=sys.stderr)


def nearness(name):
    """Sorts the shortest way to a name first."""
    return name.startswith("compat."), name.count("."), len(name), name


def exported(value):
    """Where a value is public: in version 1 if anywhere there, else in version 2; or None."""
    own = getattr(tf_decorator.unwrap(value)[1], "__dict__", {})
    for prefix, suffix in (("", "_v1"), ("2:", "")):
        names = own.get("_tf_api_names" + suffix) or own.get("_estimator_api_names" + suffix)
        if names:
            return prefix + min(names, key=nearness)
    return None


def constants(module):
    """{name: public name} of a module's constants."""
    found = {}
    for field in ("_tf_api_constants_v1", "_estimator_api_constants_v1"):
        for names, name in getattr(module, field, ()):
            found[name] = min(names, key=nearness)
    return found


def is_op_function(name, value):
    inside = getattr(value, "__module__", None) or ""
    return inside.rsplit(".", 1)[-1].startswith("gen_") and not name.startswith("_")


def as_in_version_1(name, at):
    """Where a program of version 1 finds what is public as `at`.

    Many functions are defined as in version 2, with the arguments of version 1 that still matter,
    and once more for version 1 with all of them.
    """
    path = at.rpartition(":")[2]
    if path == at or path.rpartition(".")[2] != name:
        return at
    found = tf.compat.v1
    for part in path.split("."):
        found = getattr(found, part, None)
    return at if found is None else path


def of_module(module):
    """The entries of one module."""
    entries, has_ops = {}, False
    public = constants(module)
    for name, value in list(vars(module).items()):
        if name.startswith("__") or isinstance(value, types.ModuleType):
            continue
        at = public.get(name) or exported(value)
        if at and not at.startswith("raw_ops."):
            entries[name] = as_in_version_1(name, at)
        elif at or is_op_function(name, value):
            has_ops = True
    rows = [name if name == at else f"{name}={at}" for name, at in sorted(entries.items())]
    return ["*"] * has_ops + rows


def main():
    assert tf.__version__.startswith("1.15"), tf.__version__
    with open(PATH, "w") as file:
        file.write(HEAD)
        for name, module in sorted(modules()):
            rows = of_module(module)
            text = " ".join(rows)
            if len(name) + len(text) + 11 <= 100:
                file.write(f'    "{name}": "{text}",\n')
                continue
            wrapped = textwrap.fill(
                text, 100, initial_indent=" " * 4, subsequent_indent=" " * 4,
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
            file.write(f'    "{name}": """\n{wrapped}\n    """,\n')
        file.write("}\n")


if __name__ == "__main__":
    main()
