"""Pages of the ops: the table of docs/ops.md, a section for each op."""

import re

import rst

ROW = re.compile(r"^\| `(\w+)` \| (.*) \| `(.*)` \| (.*) \| (.*) \|$", re.MULTILINE)
WRAPPER = re.compile(r'rheos_op_from_struct\(scope, "(\w+)"')
FUNCTION = re.compile(r"\brheos_(\w+)_with\(rheos_scope \*scope")


def wrappers(header):
    """The C function of each op, by the generated header."""
    found, name = {}, None
    for line in header.split("\n"):
        function, op = FUNCTION.search(line), WRAPPER.search(line)
        name = function[1] if function else name
        if op and name:
            found[op[1]] = f"rheos_{name}"
    return found


def split_signature(text):
    """(inputs, outputs, attributes), each a list of (name, what it is)."""
    text = text.replace("\\|", "|")
    arguments, _, attributes = text.partition(";")
    inputs, _, outputs = arguments.partition("->")
    lists = []
    for part, separator in ((inputs, ","), (outputs, ","), (attributes, ";")):
        pairs = [one.partition(":") for one in part.split(separator) if one.strip()]
        lists.append([(name.strip(), what.strip()) for name, _, what in pairs])
    return lists


def differences(text):
    """What docs/ops.md says of ops whose answers differ, by the op."""
    found = {}
    for line in re.findall(r"^- (.*)$", text, re.MULTILINE):
        for name in set(re.findall(r"`([A-Z]\w+)`", line)):
            found.setdefault(name, []).append(line)
    return found


def entry(row, functions, python, differs):
    name, what, signature, gradient, kernels = row
    inputs, outputs, attributes = split_signature(signature)
    tables = [
        rst.table((head, "dtype"), [(rst.literal(a), rst.literal(b)) for a, b in pairs])
        for head, pairs in (("input", inputs), ("output", outputs))
    ]
    tables.append(
        rst.table(
            ("attribute", "what it takes, and its default"),
            [(rst.literal(a), rst.literal(b)) for a, b in attributes],
        )
    )
    calls = []
    if name in functions:
        calls.append(f":c:func:`{functions[name]}`")
    if f"rheos.raw_ops.{name}" in python:
        calls.append(f":py:func:`rheos.raw_ops.{name}`")
    also = sorted(one for one in python.by_op.get(name, ()))
    calls += [f":py:func:`{one}`" for one in also]
    facts = [f"Gradient: {gradient or 'none is there'}.", f"Kernels: {kernels}."]
    if calls:
        facts.append("Called by: " + ", ".join(calls) + ".")
    facts += [f"Differs: {rst.prose(line)}" for line in differs.get(name, ())]
    body = [rst.prose(what), *tables, "\n".join(f"- {fact}" for fact in facts)]
    if name in functions:
        argument = f"rheos_output {functions[name]}(rheos_scope *scope, ...)"
        note = f"Adds a node of the op :op:`{name}`: inputs by position, the rest by name."
        body.append(rst.directive("c:function", argument, note))
    return rst.directive("op", name, "\n\n".join(filter(None, body)))


def pages(text, header, python):
    """A page for each letter: (name of the page, its text)."""
    functions, differs = wrappers(header), differences(text)
    letters = {}
    for row in ROW.findall(text):
        letters.setdefault(row[0].lstrip("_")[0].upper(), []).append(row)
    for letter, rows in sorted(letters.items()):
        entries = [entry(row, functions, python, differs) for row in rows]
        yield letter, rst.title(f"Ops: {letter}") + "\n" + "\n\n".join(entries)
