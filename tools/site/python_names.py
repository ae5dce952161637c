"""python_names.py FOLDER [--count]: what the built package in FOLDER offers, as JSON.

Run by the interpreter that Rheos is built for. A row is a name with its kind, signature, docstring,
and for classes the members; or an alias with the name that it is the same as; or a value; or a
module. --count only says how many lack a docstring or an example, and names those that lack one.
"""

import inspect
import json
import os
import reprlib
import sys
from types import SimpleNamespace

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import generate_stubs  # noqa: E402


def text_of_signature(value):
    signature = generate_stubs.signature_of(value)
    if signature is None:
        return "(...)"
    shown = [
        parameter.replace(
            annotation=parameter.empty,
            default=parameter.default
            if parameter.default is parameter.empty
            else Shown(generate_stubs.default_text(parameter.default)),
        )
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=shown, return_annotation=signature.empty))


class Shown:
    """A default as the page shows it."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def row(name, value):
    found = {"name": name, "doc": inspect.cleandoc(value.__doc__ or "")}
    if inspect.isclass(value):
        return {**found, "kind": "class", **class_parts(value)}
    return {**found, "kind": "function", "signature": text_of_signature(value)}


def class_parts(kind):
    try:
        signature = text_of_signature(kind)
    except (TypeError, ValueError, AttributeError):
        signature = ""
    members = []
    for name in generate_stubs.own_members(kind):
        value = inspect.getattr_static(kind, name)
        if name.startswith("_"):
            continue
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function):
            signature_of_member = text_of_signature(function)
        elif isinstance(value, property):
            signature_of_member = None
        else:
            continue
        doc = doc_of_member(kind, name)
        members.append({"name": name, "signature": signature_of_member, "doc": doc})
    return {"signature": signature, "members": members}


def doc_of_member(kind, name):
    """As help() has it: of the member, or of the one that it stands for."""
    for owner in kind.__mro__:
        doc = getattr(owner.__dict__.get(name), "__doc__", None)
        if doc:
            return inspect.cleandoc(doc)
    return ""


def is_offered(value):
    """Whether a module offers a value: no module, and nothing of another package."""
    owner = getattr(value, "__module__", None) or "rheos"
    return callable(value) and not inspect.ismodule(value) and owner.startswith("rheos")


def is_value(value):
    """Whether it is a number, a text, a dtype or the like: not called, and without names inside."""
    has_names = inspect.ismodule(value) or isinstance(value, SimpleNamespace)
    return not (callable(value) or has_names)


def named_modules():
    """The public modules by their names in programs; rheos.v2 also offers some that have files."""
    for module in generate_stubs.modules():
        name = module.__name__.replace("rheos.v2", "rheos", 1)
        yield name, module
        if not module.__name__.startswith("rheos.v2") or name == "rheos.compat":  # that is rheos.v1
            continue
        for attribute, value in generate_stubs.public(module):
            if inspect.ismodule(value) and not generate_stubs.is_namespace(value):
                yield f"{name}.{attribute}", value
                if hasattr(value, "experimental"):
                    yield f"{name}.{attribute}.experimental", value.experimental


def rows():
    """A row for each name; a value with several has its parts in the first, shortest one."""
    found = []
    for name, module in named_modules():
        yield {"name": name, "kind": "module", "doc": inspect.cleandoc(module.__doc__ or "")}
        for attribute, value in generate_stubs.public(module):
            if is_value(value):
                kind, shown = type(value).__name__, reprlib.repr(value)
                yield {"name": f"{name}.{attribute}", "kind": "value", "doc": f"{kind}, {shown}"}
            elif is_offered(value):
                found.append((f"{name}.{attribute}", value))
    found.sort(key=lambda pair: (pair[0].count("."), ".v1." in pair[0], pair[0]))
    first = {}
    for name, value in found:
        if id(value) in first:
            yield {"name": name, "kind": "alias", "same_as": first[id(value)]}
        else:
            first[id(value)] = name
            yield row(name, value)


def count(found):
    own = [one for one in found if one["kind"] in ("function", "class")]
    members = [
        (f"{one['name']}.{member['name']}", member["doc"])
        for one in own
        for member in one.get("members", ())
    ]
    for what, texts in (
        ("names", [(one["name"], one["doc"]) for one in own]),
        ("members of classes", members),
    ):
        without = [name for name, doc in texts if not doc]
        examples = sum("::" in doc or ">>>" in doc or "\n    " in doc for _, doc in texts)
        print(f"{len(texts)} {what}: {len(without)} without docstring, {examples} with an example")
        print("".join(f"  {name}\n" for name in without[:200]), end="")


def main():
    sys.path.insert(0, os.path.abspath(sys.argv[1]))
    sys.dont_write_bytecode = True
    found = list(rows())
    if "--count" in sys.argv:
        count(found)
    else:
        json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
