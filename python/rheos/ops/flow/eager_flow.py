"""Branches and loops where values are there: Python's own."""

import numpy as np

from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.errors import InvalidArgumentError


def _as_tensor(value):
    if value is None or hasattr(value, "dtype") or nest.is_composite(value):
        return value
    return convert_to_tensor(value)


def eager_cond(pred, true_fn, false_fn):
    """What the function gives that `pred` chooses."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("'true_fn' and 'false_fn' arguments have to be callable.")
    return true_fn() if bool(pred) else false_fn()


def eager_while(cond, body, loop_vars, maximum_iterations):
    """The loop variables after `body` ran on them as long as `cond` held."""
    if not callable(cond) or not callable(body):
        raise TypeError("'cond' and 'body' arguments have to be callable.")
    values, trips = nest.map_structure(_as_tensor, loop_vars), 0
    limit = None if maximum_iterations is None else int(maximum_iterations)
    while (limit is None or trips < limit) and bool(cond(*values)):
        given = body(*values)
        given = given if isinstance(given, (list, tuple)) else [given]
        nest.assert_same_structure(list(values), list(given))
        values = nest.map_structure(_as_tensor, nest.pack_sequence_as(values, nest.flatten(given)))
        trips += 1
    return values


def _summary(value, count):
    """The first elements of a value as text."""
    array = np.asarray(convert_to_tensor(value).numpy())
    if array.ndim == 0:
        return str(array[()])
    shown = array.reshape(-1)[: count if count >= 0 else None]
    return ", ".join([str(x) for x in shown] + ["..."] * (len(shown) < array.size))


def eager_assert(condition, data, summarize=None):
    """InvalidArgumentError with what `data` holds, unless all of `condition` is true."""
    if bool(np.all(convert_to_tensor(condition).numpy())):
        return
    count = 3 if summarize is None else summarize
    told = "\n".join(_summary(item, count) for item in data)
    raise InvalidArgumentError(
        None, None, f"Expected '{condition!s}' to be true. Summarized data: {told}"
    )
