#!/usr/bin/env python3
"""generate_null_calls.py OUT HEADER...: calls of every function of TensorFlow's C interface.

For each declaration of the headers it writes `CALL(name, arguments)`: every pointer is NULL, every
number is `number`, a struct is zeros, a status is `status`. test_capi_nulls.c says what these are.
"""

import re
import sys
from pathlib import Path

DECLARATION = re.compile(r"TF_CAPI_EXPORT\b([^;]*);")
NAME = re.compile(r"\b(TFE?_\w+)\s*\(")
STRUCTS = ("TF_Output", "TF_Input", "TFE_CustomDevice", "TFE_CustomDeviceTensorHandle")
# What C++ sees instead stands before what C sees.
ONLY_CPP = re.compile(r"^#ifdef __cplusplus\n(?:(?!^#).*\n)*#else\n", re.MULTILINE)


def parameters_of(text):
    """The parameters between the parentheses of a declaration."""
    found, depth, current = [], 0, ""
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            found.append(current)
            current = ""
        else:
            current += char
    return [p.strip() for p in [*found, current] if p.strip() not in ("", "void")]


def argument(parameter):
    kind = re.match(r"(?:const )?(\w+)", parameter)[1]
    if re.match(r"TF_Status \*", parameter):
        return "status"
    if "*" in parameter or "(" in parameter or kind == "TF_PayloadVisitor":
        return "NULL"
    return f"({kind}){{0}}" if kind in STRUCTS else "number"


def calls(header):
    text = re.sub(r"//[^\n]*", "", ONLY_CPP.sub("", header.read_text()))
    for match in DECLARATION.finditer(text):
        declaration = re.sub(r"\s+", " ", match[1])
        name = NAME.search(declaration)
        inside = declaration[name.end() : declaration.rindex(")")]
        if name[1] == "TF_DeleteStatus":  # which is used on
            inside = "void *"
        arguments = ", ".join(argument(p) for p in parameters_of(inside))
        yield f"CALL({name[1]}, ({arguments}))\n"


def main():
    out, *headers = map(Path, sys.argv[1:])
    out.write_text("".join(line for header in headers for line in calls(header)))


if __name__ == "__main__":
    main()
