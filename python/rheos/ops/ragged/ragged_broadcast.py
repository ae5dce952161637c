"""Operators of two values of which at least one is ragged: their shapes broadcast.

A dimension of 1 that is the same for all rows is repeated as often as the other value needs; rows
of unlike lengths have to agree. What lies inside the ragged dimensions is left to the operator.
"""

import functools
import itertools

from rheos.framework.graph import control_dependencies
from rheos.framework.operation import Tensor
from rheos.framework.ragged import handles
from rheos.ops.array import array_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    _nrows,
    convert_to_tensor_or_ragged_tensor,
    gather,
    is_ragged,
)

_MISMATCH = "Unable to broadcast: dimension size mismatch"


def _operands(function, args, kwargs):
    """The first two parameters' values, and the other arguments, of a call."""
    import inspect  # slow to import

    named = list(inspect.signature(function).parameters)
    named = [name for name in named if not name.startswith("_")]
    args = args[1:] if args and args[0] is None else args  # a parameter that none may give
    given = dict(zip(named, args), **kwargs)
    return given.pop(named[0]), given.pop(named[1]), named, given


@handles
def binary(function, *args, **kwargs):
    """The function of two ragged tensors, whose rows broadcast."""
    x, y, named, others = _operands(function, args, kwargs)
    x, y = _converted(x, y)
    function = functools.partial(_called, function, named[:2], others)
    if not is_ragged(x) and not is_ragged(y):
        return function(x, y)
    rows, (x, y) = in_same_rows([x, y])
    return rows.with_flat_values(function(x, y))


@handles
def assertion_of(function, *args, **kwargs):
    """An assertion about two ragged tensors, whose rows broadcast."""
    x, y, named, others = _operands(function, args, kwargs)
    _, (x, y) = in_same_rows(_converted(x, y))
    return _called(function, named[:2], others, x, y)


def _called(function, names, others, x, y):
    return function(**dict(zip(names, (x, y))), **others)


def in_same_rows(values):
    """A tensor with the rows that the values have together, and the flat values of each in these.

    values: tensors of which at least one is ragged. What only meets the dense values inside the
    rows of the others stays as it is.
    """
    values = list(values)
    pairs = list(itertools.combinations(range(len(values)), 2))
    for i, j in pairs * (len(values) - 1):
        x, y = values[i], values[j]
        if (is_ragged(x) or is_ragged(y)) and _reaches_rows(x, y):
            values[i], values[j] = broadcast(x, y)
    rows = next(value for value in values if is_ragged(value))
    return rows, [value.flat_values if is_ragged(value) else value for value in values]


def _converted(x, y):
    """Both as tensors, a list of numbers with the dtype of the other where it may have that."""
    if is_ragged(y) and not is_ragged(x):
        y = convert_to_tensor_or_ragged_tensor(y)
        return convert_to_tensor_or_ragged_tensor(x, dtype_hint=y.dtype), y
    x = convert_to_tensor_or_ragged_tensor(x)
    return x, convert_to_tensor_or_ragged_tensor(y, dtype_hint=x.dtype)


def _reaches_rows(x, y):
    """Whether more of the two meets than the dense values inside one of them."""
    if is_ragged(x) and is_ragged(y):
        return True
    ragged, dense = (x, y) if is_ragged(x) else (y, x)
    outer, inner = dense.shape.ndims, ragged.flat_values.shape.ndims
    if outer == 0:
        return False
    if outer is None or inner is None:
        raise ValueError("Unable to broadcast: unknown rank")
    return outer >= inner


def broadcast(x, y):
    """Two tensors, at least one of them ragged, as two with the same rows."""
    ndims = x.shape.ndims, y.shape.ndims
    if None in ndims:
        raise ValueError("Unable to broadcast: unknown rank")
    x, y = _with_splits_alike(x, y)
    for _ in range(ndims[1] - ndims[0]):
        x = _in_one_row(x)
    for _ in range(ndims[0] - ndims[1]):
        y = _in_one_row(y)
    return _same_rows(*_same_count(x, y))


def _with_splits_alike(x, y):
    if not (is_ragged(x) and is_ragged(y)) or x.row_splits.dtype == y.row_splits.dtype:
        return x, y
    return x.with_row_splits_dtype("int64"), y.with_row_splits_dtype("int64")


def _in_one_row(value):
    return array_ops.expand_dims(value, 0)


def _known_rows(value):
    return value.shape.as_list()[0] if value.shape.ndims else None


def _dtype_of(x, y):
    return (x if is_ragged(x) else y).row_splits.dtype


def _checked(value, checks):
    """The value, behind checks for the step."""
    checks = [check for check in checks if check is not None]
    if not checks:
        return value
    with control_dependencies(checks):
        if isinstance(value, Tensor):
            return array_ops.identity(value)
        return RaggedTensor(value.values, array_ops.identity(value.row_splits), internal=True)


def _same_count(x, y):
    """Both with as many rows as the one that has more than one."""
    known = _known_rows(x), _known_rows(y)
    if None not in known:
        if known[0] == known[1]:
            return x, y
        if 1 not in known:
            raise ValueError(f"{_MISMATCH}: {known[0]} and {known[1]} rows")
    dtype = _dtype_of(x, y)
    counts = _nrows(x, dtype), _nrows(y, dtype)
    most = array_ops.where(math_ops.equal(counts[0], 1), counts[1], counts[0])
    fits = math_ops.logical_or(
        math_ops.equal(counts[0], counts[1]),
        math_ops.logical_or(math_ops.equal(counts[0], 1), math_ops.equal(counts[1], 1)),
    )
    checks = [] if 1 in known else [check_ops.assert_equal(fits, True, message=_MISMATCH)]
    rows = math_ops.range(most)
    if known[0] is None or known[0] == 1:
        x = gather(x, rows * math_ops.cast(math_ops.not_equal(counts[0], 1), dtype))
    if known[1] is None or known[1] == 1:
        y = gather(y, rows * math_ops.cast(math_ops.not_equal(counts[1], 1), dtype))
    return _checked(x, checks), y


def _same_rows(x, y):
    """Both with the same splits, given as many rows of the same number of dimensions."""
    if not is_ragged(x) and not is_ragged(y):
        return x, y
    if is_ragged(x) and is_ragged(y):
        if x.row_splits is not y.row_splits:
            x = _checked(x, [check_ops.assert_equal(x.row_splits, y.row_splits, message=_MISMATCH)])
        inner = _same_rows(x.values, y.values)
        return x.with_values(inner[0]), RaggedTensor(inner[1], x.row_splits, internal=True)
    if is_ragged(x):
        x, values = _spread(y, x)
        inner = _same_rows(x.values, values)
        return x.with_values(inner[0]), x.with_values(inner[1])
    y, values = _spread(x, y)
    inner = _same_rows(values, y.values)
    return y.with_values(inner[0]), y.with_values(inner[1])


def _spread(dense, ragged):
    """The ragged tensor, checked, and the values of `dense` that lie in its rows."""
    dtype = ragged.row_splits.dtype
    width = dense.shape.as_list()[1]
    shape = array_ops.shape(dense, out_type=dtype)
    rows = ragged.value_rowids()
    if width == 1:
        return ragged, gather(array_ops.squeeze(dense, [1]), rows)
    columns = math_ops.range(_nrows(ragged.values, dtype)) - gather(ragged.row_starts(), rows)
    lengths = ragged.row_lengths()
    fits = math_ops.logical_or(math_ops.equal(shape[1], 1), math_ops.equal(lengths, shape[1]))
    ragged = _checked(
        ragged, [check_ops.assert_equal(fits, array_ops.ones_like(fits), message=_MISMATCH)]
    )
    with control_dependencies([ragged.row_splits]):
        places = rows * shape[1] + columns * math_ops.cast(math_ops.not_equal(shape[1], 1), dtype)
    flat = array_ops.reshape(dense, array_ops.concat([[-1], shape[2:]], 0))
    return ragged, gather(flat, places)
