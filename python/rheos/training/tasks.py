"""Which task of a cluster this process is, as the environment variable TF_CONFIG says.

TF_CONFIG is JSON: {"cluster": {job: [address, ...]}, "task": {"type": job, "index": number}}.
"""

import json
import os
from collections import namedtuple

from rheos.training.cluster import ClusterSpec

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"


class Task(
    namedtuple(
        "Task",
        "cluster_spec type id master evaluation_master is_chief num_ps num_workers global_id "
        "service",
    )
):
    """A task, and what it needs to know of the others.

    cluster_spec: of those that train, empty where that is this process alone. master: the target
    of its sessions. num_workers: with the chief. global_id: its number among all that train.
    """


def tf_config():
    """What TF_CONFIG says, {} where it is not set."""
    return json.loads(os.environ.get("TF_CONFIG") or "{}")


def this_task(config=None):
    """The task that this process is. ValueError where TF_CONFIG contradicts itself."""
    config = tf_config() if config is None else config
    service = config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(
            'If "service" is set in TF_CONFIG, it must be a dict. Given %s' % type(service)
        )
    cluster = ClusterSpec(config.get("cluster", {}))
    if not cluster:
        return _alone(config)
    chief = MASTER if MASTER in cluster.jobs else CHIEF
    job, number = _checked(cluster, config.get("task", {}), chief)
    evaluation_master = config.get("eval_session_master", "")
    if job == EVALUATOR:
        if chief == MASTER:
            raise ValueError(
                "If `master` node exists in `cluster`, task_type `evaluator` is not supported."
            )
        return Task(ClusterSpec({}), job, number, "", evaluation_master, False, 0, 0, None, service)
    return Task(
        cluster,
        job,
        number,
        config.get("session_master") or _target(cluster, job, number),
        evaluation_master,
        job == chief,
        _count(cluster, PS),
        _count(cluster, WORKER) + _count(cluster, chief),
        _global_id(cluster, job, number, chief),
        service,
    )


def _alone(config):
    task = config.get("task", {})
    job, number = task.get("type", WORKER), int(task.get("index", 0))
    if job == EVALUATOR:
        number_of_all, num_workers = None, 0
    elif job != WORKER:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    elif number != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    else:
        number_of_all, num_workers = 0, 1
    return Task(
        ClusterSpec({}),
        job,
        number,
        config.get("session_master", ""),
        config.get("eval_session_master", ""),
        job == WORKER,
        0,
        num_workers,
        number_of_all,
        config.get("service"),
    )


def _count(cluster, job):
    return cluster.num_tasks(job) if job in cluster.jobs else 0


def _checked(cluster, task, chief):
    """(job, number) of the task, which is in the cluster or evaluates what that trains."""
    if chief not in cluster.jobs:
        raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "%s" node.' % chief)
    if cluster.num_tasks(chief) > 1:
        raise ValueError('The "cluster" in TF_CONFIG must have only one "%s" node.' % chief)
    job, number = task.get("type"), task.get("index")
    if not job:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if number is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    number = int(number)
    if number < 0:
        raise ValueError("Task index must be non-negative number.")
    if job == EVALUATOR:
        return job, number
    if job not in cluster.jobs:
        raise ValueError(
            "%s is not a valid task_type in the cluster_spec:\n%s\n\n"
            "Note that these values may be coming from the TF_CONFIG environment variable."
            % (job, cluster)
        )
    if number >= cluster.num_tasks(job):
        raise ValueError(
            "%d is not a valid task_id for task_type %s in the cluster_spec:\n%s\n\n"
            "Note that these value may be coming from the TF_CONFIG environment variable."
            % (number, job, cluster)
        )
    return job, number


def _target(cluster, job, number):
    if len(cluster.jobs) == 1 and cluster.num_tasks(job) == 1:
        return ""  # nobody else is there
    return "grpc://" + cluster.task_address(job, number)


def _global_id(cluster, job, number, chief):
    """The chief is first and parameter servers are last; the others go by the names of jobs."""
    order = [chief, *(j for j in sorted(cluster.jobs) if j not in (chief, PS)), PS]
    before = order[: order.index(job)]
    return sum(_count(cluster, j) for j in before) + number


def device_filters(task):
    """Which devices the sessions of a task see: its own, and those of parameter servers. So workers
    do not wait for each other. None: all.
    """
    return {
        MASTER: ["/job:ps", "/job:master"],
        CHIEF: ["/job:ps", "/job:chief"],
        WORKER: ["/job:ps", "/job:worker/task:%d" % task.id],
        PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(task.type)
