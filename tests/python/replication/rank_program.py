"""What test_ranks.py runs in each rank: rank_program.py FOLDER NAME. Writes its result as JSON."""

import json
import os
import sys
import time
from pathlib import Path

import rheos as tf
from worker_program import fit


def values(strategy):
    rank = strategy.extended._first_replica
    with strategy.scope():
        drawn = tf.Variable(tf.random.normal([2]))  # the first rank's: a broadcast

    def step():
        context = tf.distribute.get_replica_context()
        mine = tf.constant([0.1, 1e8, 3.0]) * (rank + 1)
        rows = tf.fill([rank + 1, 2], rank)
        return context.all_reduce("SUM", mine), context.all_gather(rows, axis=0)

    large = tf.range(300000.0) * 0.1 + [1e8, 1.25, -1e8, 0.3][rank]
    wanted = tf.range(300000.0) * 0.1 + 1e8
    for other in (1.25, -1e8, 0.3)[: strategy.num_replicas_in_sync - 1]:
        wanted += tf.range(300000.0) * 0.1 + other
    summed = strategy.reduce("SUM", large, axis=None)
    total, gathered = tf.function(lambda: strategy.run(step))()
    resolver = strategy.cluster_resolver
    return {
        "task": [resolver.task_type, resolver.task_id, resolver.rpc_layer],
        "device": strategy.extended.worker_devices[0],
        "drawn": drawn.numpy().tolist(),
        "is_in_order": bool(tf.reduce_all(summed == wanted)),
        "total": [value.hex() for value in total.numpy().tolist()],
        "gathered": gathered.numpy().tolist(),
        "mean": float(strategy.reduce("MEAN", tf.constant(float(rank)), axis=None)),
        "checkpoints": strategy.extended.should_checkpoint,
    }


def reordered(strategy):
    """Each rank begins the same sums in an order of its own, all of them in one function."""
    rank, count = strategy.extended._first_replica, strategy.num_replicas_in_sync
    instances = [10 + (i * (2 * rank + 1) + rank) % 8 for i in range(8)]

    @tf.function
    def sums():
        return {
            str(instance): tf.raw_ops.CollectiveReduceV2(
                input=tf.fill([instance * 100], float(instance + rank)), group_size=count,
                group_key=1, instance_key=instance, ordering_token=[],
                merge_op="Add", final_op="Id",
            )
            for instance in instances
        }  # fmt: skip

    return {
        "order": instances,
        "sums": {name: [len(x), float(x[0]), float(x[-1])] for name, x in sums().items()},
    }


def late(strategy):
    """The first rank waits half a second for the others, then all meet."""
    rank = strategy.extended._first_replica
    error = None
    if rank == 0:
        try:
            sum_of(strategy, 1, timeout_s=0.5)
        except tf.errors.DeadlineExceededError as found:
            error = str(found)
    return {"error": error, "sum": sum_of(strategy, 2)}


def ended(strategy):
    """The second rank is done where the others still want a sum of it."""
    if strategy.extended._first_replica == 1:
        return {}
    try:
        sum_of(strategy, 1)
    except tf.errors.UnavailableError as found:
        return {"error": str(found)}


def sum_of(strategy, instance, timeout_s=0.0):
    count = strategy.num_replicas_in_sync
    return float(
        tf.raw_ops.CollectiveReduceV2(
            input=1.0, group_size=count, group_key=1, instance_key=1000 + instance,
            ordering_token=[], merge_op="Add", final_op="Id", timeout_seconds=timeout_s,
        )
    )  # fmt: skip


def killed(strategy):
    """The second rank is killed while the others wait for it."""
    if strategy.extended._first_replica == 1:
        time.sleep(0.3)
        os.kill(os.getpid(), 9)
    sum_of(strategy, 1)


def failed(strategy):
    """The second rank ends by an error while the others wait for it."""
    if strategy.extended._first_replica == 1:
        raise ArithmeticError("of the second rank")
    sum_of(strategy, 1)


PROGRAMS = (fit, values, reordered, late, ended, killed, failed)

if __name__ == "__main__":
    folder, name = sys.argv[1:]
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    (program,) = (program for program in PROGRAMS if program.__name__ == name)
    found = {"replicas": strategy.num_replicas_in_sync, **program(strategy)}
    Path(folder, f"{strategy.extended._first_replica}.json").write_text(json.dumps(found))
