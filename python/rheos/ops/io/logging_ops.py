"""Printing from graphs."""

import itertools
import sys

from rheos.framework import dtypes, nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import apply_op
from rheos.framework.operation import Operation, Tensor, _VariableBase
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.io import string_ops

_LEVELS = {"debug", "info", "warning", "error"}


class _Place:
    """Stands for a tensor in the text of a structure."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


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


def _place(leaf, tensors, place):
    """What stands for a tensor, which is added to the list; other values as they are."""
    if _is_tensor(leaf) or isinstance(leaf, RaggedBase):
        tensors.append(leaf)
        return _Place(place)
    if isinstance(leaf, SparseTensor):
        tensors.extend([leaf.indices, leaf.values, leaf.dense_shape])
        return _Place(f"'SparseTensor(indices={place}, values={place}, shape={place})'")
    return leaf


def _text(value, tensors, place):
    """The text of a structure with `place` for each tensor, which are added to the list."""
    if nest.is_nested(value):
        from pprint import pformat

        places = [_place(leaf, tensors, place) for leaf in nest.flatten(value)]
        return pformat(nest.pack_sequence_as(value, places))
    return str(_place(value, tensors, place))


def _template(inputs, sep):
    """(template, tensors, place): what stands for a tensor occurs nowhere else in the template."""
    for place in itertools.chain(["{}"], (f"{{{i}}}" for i in itertools.count())):
        tensors = []
        template = sep.join(_text(value, tensors, place) for value in inputs)
        if template.count(place) == len(tensors):
            return template, tensors, place


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
        template, tensors, place = _template(inputs, sep)
        line = string_ops.string_format(template, tensors, place, summarize)
    printed = apply_op("PrintV2", name, line, output_stream=stream, end=end)
    return printed if isinstance(printed, Operation) else None  # it has run
