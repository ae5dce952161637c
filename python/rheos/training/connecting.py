"""tf.config.experimental_connect_to_cluster: a program says which cluster it will use."""

import threading

from rheos.framework.graph import Graph
from rheos.framework.messages import ConfigProto
from rheos.training.cluster import ClusterSpec, Server
from rheos.training.cluster_resolver import ClusterResolver
from rheos.training.session import Session


class _Process:
    servers = {}  # {(cluster, job, task): the Server that this process is}
    lock = threading.Lock()


def _serve(spec, job, task):
    key = repr(spec), job, task
    with _Process.lock:
        if key not in _Process.servers:
            _Process.servers[key] = Server(spec, job_name=job, task_index=task)


def connect_to_cluster(
    cluster_spec_or_resolver,
    job_name="localhost",
    task_index=0,
    protocol=None,
    make_master_device_default=True,
    cluster_device_filters=None,
):
    """Waits until the tasks of a cluster can be reached, for up to five minutes.

    cluster_spec_or_resolver: a ClusterSpec or ClusterResolver. job_name, task_index: which task
    this process is, as a resolver may say too: of the cluster's own it becomes the server. What
    runs on the others is what strategies and sessions have there: operations that run at once stay
    here.
    ValueError for other protocols than "grpc" and for what is no cluster.
    tf.errors.UnavailableError where a task cannot be reached.
    """
    if protocol not in (None, "grpc"):
        raise ValueError(f"the protocol of clusters is grpc, not {protocol!r}")
    spec = cluster_spec_or_resolver
    if isinstance(spec, ClusterResolver):
        resolver, spec = spec, spec.cluster_spec()
        if resolver.task_type in spec.jobs:
            job_name, task_index = resolver.task_type, resolver.task_id
    if not isinstance(spec, ClusterSpec):
        raise ValueError(
            "`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`, not "
            f"{cluster_spec_or_resolver!r}"
        )
    if job_name in spec.jobs:
        _serve(spec, job_name, task_index)
    others = [(job, i) for job in spec.jobs for i in spec.task_indices(job)]
    for job, i in others:
        if (job, i) != (job_name, task_index):
            config = ConfigProto(device_filters=[f"/job:{job}/task:{i}"])
            with Session(f"grpc://{spec.task_address(job, i)}", Graph(), config) as session:
                session.list_devices()
