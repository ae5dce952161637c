"""Strategies of replicas in several tasks."""

import atexit
import contextlib
import sys

from rheos.framework import errors, messages, replicas
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.eager import device_name, executing_eagerly
from rheos.framework.graph import init_scope
from rheos.pipelines.options import AutoShardPolicy
from rheos.replication import input as distributed_input, reductions, variables
from rheos.replication.collectives import Collectives
from rheos.replication.input import DistributedDataset
from rheos.replication.options import CommunicationOptions, InputContext
from rheos.replication.strategy import Strategy, StrategyExtended
from rheos.training import ranks
from rheos.training.cluster import Server
from rheos.training.cluster_resolver import TFConfigClusterResolver

_LEAVE_S = 10.0  # how long a task that is done waits for the others to be
_JOBS = ("chief", "worker")  # of which each task has a replica, in this order


class _Tasks:
    """The servers of this process, which live as long as it does: {cluster, task: server}."""

    servers = {}


def _ranked(spec):
    """(job, number) of all tasks that have a replica, in the order of these."""
    return [(job, i) for job in _JOBS if job in spec.jobs for i in spec.task_indices(job)]


def _join(spec, task):
    """Has operations that run at once take part in the collectives of a cluster, as a task."""
    key = (repr(spec), task)
    if key in _Tasks.servers:
        return
    if _Tasks.servers:
        raise RuntimeError("this process is a task of another cluster already")
    config = messages.ConfigProto()
    job, number = _ranked(spec)[0]
    config.experimental.collective_group_leader = f"/job:{job}/replica:0/task:{number}"
    server = Server(spec, job_name=task[0], task_index=task[1], config=config)
    server.run_eagerly_here()
    _Tasks.servers[key] = server
    atexit.register(_leave, len(_ranked(spec)))  # before servers are stopped


def _leave(size):
    """Waits for the others to be done too: they may still take what this task has given. Who ends
    by an error does not wait."""
    if getattr(sys, "last_type", None) is None:
        with contextlib.suppress(errors.OpError):
            Collectives(size, _LEAVE_S).meet()


class _MultiWorkerExtended(StrategyExtended):
    """A replica in each task; values of all go through collectives."""

    def __init__(self, strategy, resolver, options):
        spec = resolver.cluster_spec()
        task = (resolver.task_type, resolver.task_id)
        ranked = _ranked(spec)
        if task not in ranked:
            raise ValueError(
                f"the task {task[0]}:{task[1]} has no replica: the cluster's are "
                + ", ".join(f"{job}:{i}" for job, i in ranked)
            )
        if resolver.rpc_layer != ranks.RPC_LAYER:
            _join(spec, task)
        super().__init__(strategy, [device_name()])
        self._cluster_resolver = resolver
        self._num_replicas_in_sync = len(ranked)
        self._first_replica = ranked.index(task)
        self._collectives = Collectives(
            len(ranked),
            options.timeout_seconds or 0.0,
            begins_early=resolver.rpc_layer == ranks.RPC_LAYER,
        )

    _num_replicas_in_sync = 1

    @property
    def should_checkpoint(self):
        """Whether the task writes checkpoints: the first does."""
        return self._first_replica == 0

    should_save_summary = should_checkpoint

    def _in_multi_worker_mode(self):
        return True

    def _use_merge_call(self):
        return True

    # Variables

    def _make_copies(self, make, arguments):
        made = variables.make_copies(self._strategy, make, arguments, self.worker_devices)
        with init_scope():
            copy = made.values[0]
            copy.assign(self._collectives.broadcast(copy.read_value(), self._first_replica == 0))
        return made

    # Values

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """The sum or mean over all workers."""
        return self.batch_reduce_to(reduce_op, [(value, destinations)], options)[0]

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """The sums or means of several values over all workers."""
        self._check_meets()
        reduce_op = reductions.reduction(reduce_op)
        values = [_own(value) for value, _ in value_destination_pairs]
        return self._collectives.reduce_all(reduce_op, values)

    def _reduce_local(self, reduce_op, values):
        return self._collectives.reduce(reduce_op, _own(values[0]))

    def _reduce_over(self, reduce_op, values, axis):
        total = reductions.reduced_over(reductions.ReduceOp.SUM, values, axis)
        total = self._collectives.reduce(reductions.ReduceOp.SUM, total)
        if reduce_op is reductions.ReduceOp.SUM:
            return total
        rows = reductions.counted(convert_to_tensor(values[0]), axis, total.dtype)
        return total / self._collectives.reduce(reductions.ReduceOp.SUM, rows)

    def gather_rows(self, values):
        """The rows of all workers, in the order of these."""
        return [self._collectives.gather(values[0], 0)]

    def _gather_local(self, values, axis):
        return self._collectives.gather(_own(values[0]), axis)

    # Input

    def _experimental_distribute_dataset(self, dataset, options):
        count, number = self._num_replicas_in_sync, self._first_replica
        policy = dataset.options().experimental_distribute.auto_shard_policy
        if policy is AutoShardPolicy.FILE:
            raise NotImplementedError(
                "AutoShardPolicy.FILE: Rheos shares the elements of a dataset (DATA), not its files"
            )
        if policy is AutoShardPolicy.OFF:  # each worker goes over the whole
            parts = distributed_input.split_batches(dataset, count)._dataset
            return DistributedDataset(distributed_input.one_after_the_other(parts))
        return DistributedDataset(distributed_input.share_of(dataset, number, count))

    def _distribute_datasets_from_function(self, dataset_fn, options):
        return DistributedDataset(dataset_fn(self._input_context()))

    def _input_context(self):
        return InputContext(
            self._num_replicas_in_sync, self._first_replica, self._num_replicas_in_sync
        )


def _own(value):
    values = reductions.values_of(value)
    return value if values is None else values[0]


def is_of_ranks(cluster_resolver):
    """Whether a strategy is one of the ranks that mpirun has started."""
    return cluster_resolver is None and ranks.are_there() and not _said_cluster()


def _said_cluster():
    return TFConfigClusterResolver().cluster_spec()


def _check_outside():
    if replicas.several() is not None or not executing_eagerly():
        raise RuntimeError("a strategy of several tasks is made outside of scopes")


class MultiWorkerMirroredStrategy(Strategy):
    """A replica in each task of a cluster, which all have copies of the variables.

    cluster_resolver: which task this is, by default as TF_CONFIG says. Without a cluster each
    process that mpirun has started has a replica, and they reduce by MPI; without mpirun there is
    one replica. Each task runs the same program, which makes the strategy before any operation
    runs. communication_options: CommunicationOptions, of which the timeout counts.

    RuntimeError if an operation ran already; ValueError for a task that has no replica;
    tf.errors.UnimplementedError under mpirun where librheos-mpi.so or MPI is not there.
    """

    def __init__(self, cluster_resolver=None, communication_options=None):
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        options = CommunicationOptions() if communication_options is None else communication_options
        if is_of_ranks(cluster_resolver):
            _check_outside()
            resolver = ranks.join()
        if not resolver.cluster_spec():
            super().__init__()
            self._extended._cluster_resolver = resolver
            return
        _check_outside()
        super().__init__(_MultiWorkerExtended(self, resolver, options))
