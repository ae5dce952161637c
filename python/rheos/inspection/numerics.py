"""Checks of numbers: the first NaN or infinity that an operation gives is an error that names it.

What runs at once is checked by the extension; what functions compute, and steps of sessions, by
watches.
"""

import linecache
import os
import sys

from rheos import _core
from rheos.framework import errors
from rheos.training import session as sessions, watches

# Operations that only hand on what they take, or where an infinity is a limit that is meant, and
# calls, inside of which it is looked.
_SAFE = frozenset(
    """
    Concat ConcatV2 ExpandDims Fill Gather Identity IdentityN Maximum Minimum Reshape Slice Squeeze
    Stack StridedSlice StridedSliceGrad TensorListConcatV2 TensorListGather TensorListGetItem
    TensorListPopBack TensorListStack Transpose Unpack Enter RefEnter Exit Merge NextIteration
    Switch RefSwitch Placeholder PartitionedCall StatefulPartitionedCall If StatelessIf Case
    StatelessCase While StatelessWhile
    """.split()
)
_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")  # but for output 0
_PACKAGE = os.path.realpath(os.path.dirname(os.path.dirname(__file__)))


class _State:
    is_on = False
    stack_height = path_length = 0
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


# ---- Functions and sessions


def _graph_facts(graph, watched):
    """How many outputs the operation has, and its inputs; (0, []) for one of a function."""
    try:
        op = graph.get_operation_by_name(watched.name.rpartition(":")[0])
    except KeyError:
        return 0, []
    if op.type != watched.op:
        return 0, []
    return len(op.outputs), list(op.inputs)


def _check(watched, graph):
    """graph: of the session; None: it is inside of a function that runs at once."""
    index = int(watched.name.rpartition(":")[2])
    if _is_safe(watched.op, index):
        return
    num_outputs, inputs = _graph_facts(graph, watched) if graph is not None else (0, [])
    facts = [f"tensor: {watched.name}"]
    facts += [f"in: {watched.place}"] if watched.place else []
    facts += [f"dtype: <dtype: '{watched.dtype}'>", f"shape: {watched.shape}"]
    lines = [_line_text(watched.file, watched.line)] if watched.file else []
    numbers = watched.statistics
    counts = (numbers.negative_infinite, numbers.positive_infinite, numbers.nan)
    text = _message("graph op", watched.op, index, num_outputs, facts, counts, inputs, lines)
    raise errors.InvalidArgumentError(None, None, text)


def _checker(graph):
    return lambda watched: _check(watched, graph)


def _check_function(watched):
    if watched.place:  # others are checked by the extension, which knows what they took
        _check(watched, None)


def _watch(session):
    try:
        _State.watches.append(session.watch("", _checker(session.graph), "not_finite"))
    except errors.UnimplementedError:
        pass  # of a server, whose steps run elsewhere


# ---- On and off


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """From now on a NaN or an infinity that an operation gives is an InvalidArgumentError.

    It names the operation, the output, its dtype and shape, how many there are, the inputs and the
    program's lines: at most stack_height_limit, with paths cut to path_length_limit. Of what traced
    functions compute, and steps of sessions but of those on servers, the place too: the calls and
    loops that it is in, each with its trip. Functions stay compiled.
    """
    _State.stack_height, _State.path_length = stack_height_limit, path_length_limit
    if _State.is_on:
        return
    _State.is_on = True
    _core._check_numbers(_check_eager)
    _State.watches.append(watches.watch("*", _check_function, "not_finite"))
    sessions.on_open(_watch)
    for session in sessions.open_sessions():
        _watch(session)


def disable_check_numerics():
    """Ends that; nothing happens if it was not on."""
    if not _State.is_on:
        return
    _State.is_on = False
    _core._check_numbers(None)
    sessions.on_open(None)
    ended, _State.watches = _State.watches, []
    for watch in ended:
        watch.end()
