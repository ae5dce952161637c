"""Checks of numbers: the first NaN or infinity that an operation gives is an error that names it.

What runs at once is checked by the extension, steps of sessions by a watch of each. Functions run
as Python meanwhile, so that what they call is checked operation by operation, with its line.
"""

import linecache
import os
import sys

import numpy as np

from rheos import _core
from rheos.framework import errors
from rheos.tracing.function import functions_run_eagerly, run_functions_eagerly
from rheos.training import session as sessions

# Operations that only hand on what they take, or where an infinity is a limit that is meant.
_SAFE = frozenset(
    """
    Concat ConcatV2 ExpandDims Fill Gather Identity IdentityN Maximum Minimum Reshape Slice Squeeze
    Stack StridedSlice StridedSliceGrad TensorListConcatV2 TensorListGather TensorListGetItem
    TensorListPopBack TensorListStack Transpose Unpack Enter RefEnter Exit Merge NextIteration
    Switch RefSwitch Placeholder
    """.split()
)
_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")  # but for output 0
_PACKAGE = os.path.realpath(os.path.dirname(os.path.dirname(__file__)))


class _State:
    is_on = False
    stack_height = path_length = 0
    functions_ran_eagerly = False
    watches = []


def _is_safe(op_type, index):
    return op_type in _SAFE or op_type in _BATCH_NORMS and index > 0


def _program_lines():
    """The frames of the program under way, innermost last, as text."""
    frame, lines = sys._getframe(2), []
    while frame is not None and len(lines) < _State.stack_height:
        file = frame.f_code.co_filename
        if not os.path.realpath(file).startswith(_PACKAGE):
            lines.append(_line_text(file, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return lines[::-1]


def _line_text(file, line, function=""):
    most = _State.path_length
    path = file if len(file) <= most else "..." + file[len(file) - most :]
    source = linecache.getline(file, line).strip()
    where = f"{path} (L{line}) {function}".rstrip()
    return f"    + {where}\n      |   {source}" if source else f"    + {where}"


def _message(kind, op_type, index, outputs, facts, counts, inputs, lines):
    """What is said of an output. outputs: how many there are, 0: not known. counts: of -Inf, +Inf
    and NaN."""
    of = f" (# of outputs: {outputs})" if outputs else ""
    text = f'\n\n!!! Detected Infinity or NaN in output {index} of {kind} "{op_type}"{of} !!!\n'
    text += "".join(f"  {fact}\n" for fact in facts)
    names = ("-Inf", "+Inf", "+NaN")
    text += "".join(f"  # of {n} elements: {c}\n" for n, c in zip(names, counts) if c)
    if len(inputs) == 1:
        text += f"\n  Input tensor: {inputs[0]!s}\n"
    elif inputs:
        text += f"\n  Input tensors ({len(inputs)}):\n"
        text += "".join(f"         {i}: {tensor!s}\n" for i, tensor in enumerate(inputs))
    if lines:
        text += "\n  Stack trace of op's creation:\n" + "\n".join(lines) + "\n"
    had = [name.replace("+NaN", "NaN") for name, count in zip(names, counts) if count]
    return f"{text}\n : Tensor had {' and '.join(had)} values"


def _check_eager(op_type, index, num_outputs, output, inputs, nan, low, high):
    if _is_safe(op_type, index):
        return
    facts = [f"dtype: <dtype: '{output.dtype.name}'>", f"shape: {output.shape}"]
    text = _message(
        "eagerly-executing op", op_type, index, num_outputs, facts, (low, high, nan), inputs,
        _program_lines(),
    )  # fmt: skip
    raise errors.InvalidArgumentError(None, None, text)


# ---- Sessions


def _counts(value):
    """(-Inf, +Inf, NaN) of an array."""
    if value.dtype.kind == "c":
        value = np.stack([value.real, value.imag])
    return tuple(int(np.count_nonzero(f(value))) for f in (np.isneginf, np.isposinf, np.isnan))


def _graph_facts(graph, watched):
    """How many outputs the operation has, and its inputs; (0, []) for one of a function."""
    try:
        op = graph.get_operation_by_name(watched.name.rpartition(":")[0])
    except KeyError:
        return 0, []
    if op.type != watched.op:
        return 0, []
    return len(op.outputs), list(op.inputs)


def _checker(graph):
    def tell(watched):
        index = int(watched.name.rpartition(":")[2])
        value = watched.value
        if not isinstance(value, (np.ndarray, np.generic)) or _is_safe(watched.op, index):
            return
        is_real = value.dtype.kind in "fc" or value.dtype.name == "bfloat16"
        if not is_real or np.isfinite(value).all():
            return
        num_outputs, inputs = _graph_facts(graph, watched)
        facts = [f"tensor: {watched.name}"]
        facts += [f"in: {watched.place}"] if watched.place else []
        facts += [f"dtype: <dtype: '{value.dtype.name}'>", f"shape: {value.shape}"]
        lines = [_line_text(watched.file, watched.line)] if watched.file else []
        text = _message(
            "graph op", watched.op, index, num_outputs, facts, _counts(value), inputs, lines
        )
        raise errors.InvalidArgumentError(None, None, text)

    return tell


def _watch(session):
    try:
        _State.watches.append(session.watch("", _checker(session.graph), "values"))
    except errors.UnimplementedError:
        pass  # of a server, whose steps run elsewhere


# ---- On and off


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """From now on a NaN or an infinity that an operation gives is an InvalidArgumentError.

    It names the operation, the output, its dtype and shape, how many there are, the inputs and the
    program's lines: at most stack_height_limit, with paths cut to path_length_limit. Also in steps
    of sessions, but of those on servers. Functions run as Python meanwhile.
    """
    _State.stack_height, _State.path_length = stack_height_limit, path_length_limit
    if _State.is_on:
        return
    _State.is_on = True
    _State.functions_ran_eagerly = functions_run_eagerly()
    run_functions_eagerly(True)
    _core._check_numbers(_check_eager)
    sessions.on_open(_watch)
    for session in sessions.open_sessions():
        _watch(session)


def disable_check_numerics():
    """Ends that; nothing happens if it was not on."""
    if not _State.is_on:
        return
    _State.is_on = False
    run_functions_eagerly(_State.functions_ran_eagerly)
    _core._check_numbers(None)
    sessions.on_open(None)
    watches, _State.watches = _State.watches, []
    for watch in watches:
        watch.end()
