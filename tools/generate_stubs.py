"""Writes type stubs beside the modules of the package, from the modules themselves.

    generate_stubs.py FOLDER      FOLDER: where the package `rheos` lies, built

Each public module of rheos.v1 and each namespace of rheos.v2 gets a .pyi with its functions,
classes and values. What a function takes is known by its signature; what it returns is a tensor, an
operation or a tuple of these, for which the stubs say Any. A namespace has no file, and a folder
would be a package to programs: the stub of rheos.v2.keras.layers is v2/keras_layers.pyi.
"""

import importlib
import inspect
import os
import pkgutil
import re
import sys

TYPES = {
    "name": "str | None",
    "scope": "str | None",
    "seed": "int | None",
    "keepdims": "bool | None",
    "keep_dims": "bool | None",
    "trainable": "bool",
}


def default_text(value):
    """A default as a stub shows it: itself if it is short and plain."""
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        if len(text) <= 30 and text not in ("inf", "-inf", "nan"):
            return text
    return "..."


def parameters_text(signature, first=None):
    parts = [] if first is None else [first]
    starred = False
    for parameter in signature.parameters.values():
        kind = parameter.kind
        if kind is parameter.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}: Any")
            starred = True
            continue
        if kind is parameter.VAR_KEYWORD:
            parts.append(f"**{parameter.name}: Any")
            continue
        if kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        annotation = TYPES.get(parameter.name, "Any")
        text = f"{parameter.name}: {annotation}"
        if parameter.default is not parameter.empty:
            text += f" = {default_text(parameter.default)}"
            if "None" not in annotation and parameter.default is None:
                text = text.replace(f": {annotation} =", ": Any =")
        parts.append(text)
    return ", ".join(parts)


def signature_of(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def function_text(name, function, indent="", first=None):
    signature = signature_of(function)
    if signature is None:
        parameters = "*args: Any, **kwargs: Any"
        if first:
            parameters = f"{first}, {parameters}"
        return f"{indent}def {name}({parameters}) -> Any: ..."
    if first is not None:
        rest = list(signature.parameters.values())[1:]
        signature = signature.replace(parameters=rest)
    return f"{indent}def {name}({parameters_text(signature, first)}) -> Any: ..."


def own_members(kind):
    """The names of the members of a class and of the bodies it shares: those with no base."""
    bodies = [base for base in kind.__bases__ if base.__name__.endswith("Body")]
    return sorted({member for owner in (kind, *bodies) for member in vars(owner)})


def class_lines(name, kind):
    lines = []
    for member in own_members(kind):
        value = inspect.getattr_static(kind, member)
        if member.startswith("_") and member not in ("__init__", "__call__"):
            continue
        if isinstance(value, property):
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
        elif isinstance(value, classmethod):
            text = function_text(member, value.__func__, "    ", "cls")
            lines += ["    @classmethod", text]
        elif isinstance(value, staticmethod):
            lines += ["    @staticmethod", function_text(member, value.__func__, "    ")]
        elif inspect.isfunction(value):
            text = function_text(member, value, "    ", "self")
            lines.append(text.replace("-> Any", "-> None") if member == "__init__" else text)
        else:
            lines.append(f"    {member}: Any")
    head = f"class {name}(Exception):" if issubclass(kind, Exception) else f"class {name}:"
    return [head, *(lines or ["    ..."])]


def public(module):
    """(name, value) of what a module offers."""
    names = set(dir(module))
    if module.__name__ in ("rheos.v2", "rheos.v2.dtypes"):  # dir() does not list the dtypes
        face = sys.modules["rheos.v2"]
        names.update(filter(face._is_dtype, dir(sys.modules["rheos.framework.dtypes"])))
    for name in sorted(names):
        if name.startswith("_"):
            continue
        value = getattr(module, name)
        if inspect.ismodule(value) and not value.__name__.startswith("rheos"):
            continue
        yield name, value


def stub(module):
    """The text of the stub of a module."""
    opening = (module.__doc__ or "").strip().split("\n")[0]
    lines = [f'"""{opening}"""', "", "from typing import Any", ""]
    for name, value in public(module):
        if inspect.ismodule(value):
            parent, _, child = name_of_stub(value).rpartition(".")
            own = name if child == name else f"_{child}"  # only "x as x" offers a name to others
            lines.append(f"from {parent} import {child} as {own}")
            if own != name:
                lines.append(f"{name} = {own}")
        elif inspect.isclass(value):
            lines += class_lines(name, value)
        elif callable(value):
            lines.append(function_text(name, value))
        else:
            lines.append(f"{name}: Any")
    text = "\n".join(lines) + "\n"
    if hasattr(module, "Any"):  # an op
        text = re.sub(r"(: |-> |import )Any\b", r"\1_Any", text)
        text = text.replace("import _Any", "import Any as _Any", 1)
    return text


def is_namespace(module):
    """Whether it is a namespace of rheos.v2, which has no file."""
    return getattr(module, "__file__", None) is None


def name_of_stub(module):
    """What stubs import a module by."""
    if not is_namespace(module):
        return module.__name__
    return "rheos.v2." + module.__name__.removeprefix("rheos.v2.").replace(".", "_")


def path_of_stub(module):
    """Where the stub of a module lies."""
    if not is_namespace(module):
        return os.path.splitext(module.__file__)[0] + ".pyi"
    folder = os.path.dirname(sys.modules["rheos.v2"].__file__)
    return os.path.join(folder, name_of_stub(module).rpartition(".")[2] + ".pyi")


# What `import rheos` gives beside version 2's names.
OUTERMOST = """\"\"\"Rheos: dataflow graphs and sessions.\"\"\"

from rheos.framework.graph_files import read_graph as read_graph, write_graph as write_graph
from rheos.v1 import raw_ops as raw_ops
from rheos.v2 import *

__version__: str
"""


def namespaces(module):
    """A module of rheos.v2 and the namespaces inside it, which have no files."""
    yield module
    for _, value in public(module):
        if inspect.ismodule(value) and is_namespace(value):
            yield from namespaces(value)


def modules():
    """The public modules of rheos.v1 and namespaces of rheos.v2, by name."""
    import rheos.v1

    yield rheos.v1
    for found in pkgutil.walk_packages(rheos.v1.__path__, "rheos.v1."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)

    import rheos.v2

    yield from namespaces(rheos.v2)


def write(path, text):
    """Writes a file unless it has the text."""
    try:
        with open(path) as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path, "w") as file:
        file.write(text)


def main():
    folder = os.path.abspath(sys.argv[1])
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    for module in modules():
        write(path_of_stub(module), stub(module))
    write(os.path.join(folder, "rheos", "__init__.pyi"), OUTERMOST)


if __name__ == "__main__":
    main()
