"""Graphs, operations and tensors, besides what is public: tensorflow.python.framework.ops."""

import itertools

from rheos.framework.eager import EagerTensor

_numbers = itertools.count()


def uid():
    """A number that no call gave before."""
    return next(_numbers)


class RegisterShape:
    """A decorator for the shape function of a type of operation: shapes are the library's."""

    def __init__(self, op_type):
        self._op_type = op_type

    def __call__(self, function):
        return function


def strip_name_scope(name, export_scope):
    """A name without the scope that it begins with; as it is if it begins with another."""
    if not export_scope:
        return name
    before, _, rest = name.partition(export_scope.rstrip("/") + "/")
    return before + rest if before in ("", "^", "loc:@") else name


def prepend_name_scope(name, import_scope):
    """A name in another scope."""
    if not import_scope:
        return name
    mark = next((mark for mark in ("^", "loc:@") if name.startswith(mark)), "")
    return f"{mark}{import_scope.rstrip('/')}/{name[len(mark) :]}"
