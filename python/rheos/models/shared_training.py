"""Steps of a model that the replicas of a strategy share: each has a part of the batch."""

import contextlib
import functools

from rheos.framework import nest
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.replication.input import parts_of
from rheos.replication.values import DistributedValues, select


def shared(strategy, step, mode):
    """A function of a batch that has each replica make a step with its part, and gives the rows of
    all for predictions, else logs that are the means over replicas."""

    def of_all(batch):
        found = strategy.run(step, args=(batch,))
        merge = _rows if mode == "predict" else _mean
        return nest.map_leaves(lambda one: merge(strategy, one), found)

    return of_all


def _values(value):
    return list(value.values) if isinstance(value, DistributedValues) else [value]


def _rows(strategy, value):
    values = strategy.extended.gather_rows(_values(value))
    return array_ops.concat(values, 0) if len(values) > 1 else values[0]


def _mean(strategy, value):
    values = _values(value)
    return values[0] if len(values) == 1 else math_ops.add_n(values) / len(values)


def batch_of(strategy, batch):
    """A batch in parts, one for each replica; one that is in parts already stays."""
    if any(isinstance(leaf, DistributedValues) for leaf in nest.flatten(batch)):
        return batch
    return nest.map_leaves(lambda leaf: parts_of(leaf, strategy.extended), batch)


def of_first_replica(batch):
    """The first replica's part of a batch."""
    return select(0, batch)


def in_scope(method):
    """A method of a model that runs in the scope of the model's strategy, if it has one."""

    @functools.wraps(method)
    def scoped(self, *args, **kwargs):
        strategy = self._strategy if self._served is None else self._served
        with contextlib.nullcontext() if strategy is None else strategy.scope():
            return method(self, *args, **kwargs)

    return scoped
