"""Printing from graphs."""

import sys

from rheos.framework import dtypes, nest
from rheos.framework.graph import Tensor, _VariableBase, convert_to_tensor
from rheos.framework.op_call import apply_op
from rheos.ops import string_ops

_LEVELS = {"debug", "info", "warning", "error"}


class _Place:
    """Stands for a tensor in the text of a structure."""

    def __repr__(self):
        return "{}"


def _stream(stream):
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr or stream is None:
        return "stderr"
    name = getattr(stream, "__name__", "")
    if callable(stream) and name in _LEVELS:
        return f"log({name})"
    if isinstance(stream, str) and stream.startswith("file://") and len(stream) > 7:
        return stream
    raise ValueError(
        "Output stream must be `sys.stdout`, `sys.stderr`, `tf.compat.v1.logging.info`, a file "
        f"('file:///...') or the like, got {stream!r}"
    )


def _is_tensor(value):
    return isinstance(value, (Tensor, _VariableBase))


def _text(value, tensors):
    """The text of a structure with {} for each tensor, which are added to the list."""
    if isinstance(value, str):
        return value
    if _is_tensor(value):
        tensors.append(value)
        return "{}"
    if nest.is_nested(value):
        leaves = nest.flatten(value)
        tensors.extend(leaf for leaf in leaves if _is_tensor(leaf))
        places = nest.map_leaves(lambda leaf: _Place() if _is_tensor(leaf) else leaf, value)
        from pprint import pformat

        return pformat(places)
    return str(value)


def print_v2(*inputs, **kwargs):
    """Prints when it runs: an operation. Tensors are shown with their first and last elements.

    inputs: tensors, other values, and lists, tuples and dicts of these. output_stream: sys.stderr
    (the default), sys.stdout, a function of tf.logging, or "file:///path" to add to a file;
    ValueError for others. summarize: how many elements to show at each end of each dimension, -1
    for all. sep, end: what is between the inputs and at the end. name: of the operation.
    """
    stream = _stream(kwargs.pop("output_stream", None))
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    only = inputs[0] if len(inputs) == 1 else None
    if _is_tensor(only) and only.shape.ndims == 0 and only.dtype.base_dtype == dtypes.string:
        line = convert_to_tensor(only)
    else:
        tensors = []
        template = sep.join(_text(value, tensors) for value in inputs)
        line = string_ops.string_format(template, tensors, summarize=summarize)
    return apply_op("PrintV2", name, line, output_stream=stream, end=end)
