"""Estimators whose steps the replicas of a strategy share."""

import contextlib
from collections import namedtuple

from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops

DistributeConfig = namedtuple(
    "DistributeConfig", "train_distribute eval_distribute remote_cluster", defaults=(None,) * 3
)


def strategies_of(config, train, evaluate):
    """The strategies for training and for evaluation of a DistributeConfig and a RunConfig.

    ValueError if both say one; NotImplementedError for a cluster that the program is not part of.
    """
    if getattr(config, "remote_cluster", None) is not None:
        raise NotImplementedError("experimental_distribute.remote_cluster is not in Rheos")
    if train is not None and config.train_distribute is not None:
        raise ValueError(
            "Either `experimental_distribute.train_distribute` or `train_distribute` can be set."
        )
    if evaluate is not None and config.eval_distribute is not None:
        raise ValueError(
            "Either `experimental_distribute.eval_distribute` or `eval_distribute` can be set."
        )
    return train or config.train_distribute, evaluate or config.eval_distribute


def replicas_of(strategy):
    """How many batches a step of evaluation goes through.

    One replica evaluates them, one after the other: metrics are the same in any order.
    """
    return 1 if strategy is None else strategy.num_replicas_in_sync


@contextlib.contextmanager
def scope_of(strategy):
    """The context in which the model is made whose steps a strategy's replicas share: losses that
    are means of a replica's batch are scaled there."""
    if strategy is None:
        yield
        return
    strategy._scales_losses = True
    try:
        with strategy.scope():
            yield
    finally:
        strategy._scales_losses = False


def merged_spec(strategy, specs):
    """The EstimatorSpec of all replicas: the first one's, with the loss of all and a step that is
    done when all are."""
    first = specs[0]
    if len(specs) == 1:
        return first
    losses = [spec.loss for spec in specs]
    loss = math_ops.add_n(losses)
    if strategy.loss_is_mean():
        loss = loss / len(losses)
    train_op = control_flow_ops.group(*(spec.train_op for spec in specs))
    return first._replace(loss=array_ops.identity(loss, name="loss"), train_op=train_op)
