"""Clusters: which tasks there are, and servers, each of which is one of them."""

import atexit
import threading

from rheos import _core
from rheos.framework import compat, errors, messages
from rheos.framework.eager import join_server
from rheos.framework.messages import is_message
from rheos.ops.flow.script_ops import call_function

_PROTOCOL = "grpc"
_SIGNALS_S = 0.5  # how long a signal may go unseen


def _as_text(value, what):
    try:
        return compat.as_text(value)
    except TypeError:
        raise TypeError(f"{what} {value!r} must be bytes or unicode") from None


def _copied(message, name):
    """The same message as one of our class."""
    return getattr(messages, name).FromString(message.SerializeToString())


# ---- What a cluster is


def _numbered(job_name, tasks):
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        return {int(index): address for index, address in tasks.items()}
    raise TypeError(
        f"The tasks for job {job_name!r} must be a list or a dictionary from integers to strings."
    )


def _to_cluster_def(jobs):
    cluster_def = messages.ClusterDef()
    for job_name, tasks in sorted(jobs.items()):
        job = cluster_def.job.add(name=_as_text(job_name, "Job name"))
        for index, address in sorted(tasks.items()):
            job.tasks[index] = _as_text(address, "Task address")
    return cluster_def


class ClusterSpec:
    """The tasks of a cluster, by job.

    cluster: a dict from the names of jobs to lists of addresses ("host:port"), or to dicts from the
    numbers of tasks to addresses; a ClusterDef; or another ClusterSpec. TypeError for what is none
    of these.
    """

    def __init__(self, cluster):
        if isinstance(cluster, dict):
            self._cluster_spec = {job: _numbered(job, tasks) for job, tasks in cluster.items()}
            self._cluster_def = _to_cluster_def(self._cluster_spec)
            return
        if isinstance(cluster, ClusterSpec):
            cluster = _copied(cluster.as_cluster_def(), "ClusterDef")
        if not is_message(cluster, "ClusterDef"):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            )
        self._cluster_def = cluster
        self._cluster_spec = {job.name: dict(job.tasks.items()) for job in cluster.job}

    def __bool__(self):
        return bool(self._cluster_spec)

    def __eq__(self, other):
        return self._cluster_spec == other

    def __ne__(self, other):
        return self._cluster_spec != other

    __hash__ = None

    def __repr__(self):
        jobs = sorted(self.as_dict().items())
        return "ClusterSpec({" + ", ".join(f"{job!r}: {tasks!r}" for job, tasks in jobs) + "})"

    def _job(self, job_name):
        try:
            return self._cluster_spec[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None

    def as_dict(self):
        """{job: list of addresses}; of a job that lacks numbers of tasks, {number: address}."""
        found = {}
        for job_name, tasks in self._cluster_spec.items():
            is_dense = bool(tasks) and max(tasks) + 1 == len(tasks)
            found[job_name] = self.job_tasks(job_name) if is_dense else dict(sorted(tasks.items()))
        return found

    def as_cluster_def(self):
        """The cluster as a ClusterDef."""
        return self._cluster_def

    @property
    def jobs(self):
        """The names of the jobs."""
        return list(self._cluster_spec)

    def num_tasks(self, job_name):
        """How many tasks a job has. ValueError if there is no such job."""
        return len(self._job(job_name))

    def task_indices(self, job_name):
        """The numbers of a job's tasks, sorted. ValueError if there is no such job."""
        return sorted(self._job(job_name))

    def task_address(self, job_name, task_index):
        """The address of a task. ValueError if there is no such job or task."""
        try:
            return self._job(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name):
        """A job's addresses by the numbers of tasks, None where a number is left out.

        ValueError if there is no such job.
        """
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]


# ---- What a server is told


def _only(values, argument):
    if len(values) != 1:
        raise ValueError(f"Must specify an explicit `{argument}`.")
    return values[0]


def _from_cluster(cluster, job_name, task_index, protocol):
    try:
        spec = ClusterSpec(cluster)
    except TypeError:
        raise TypeError(
            "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
            "`tf.train.ClusterSpec`."
        ) from None
    if job_name is None:
        job_name = _only(spec.jobs, "job_name")
    if task_index is None:
        task_index = _only(spec.task_indices(job_name), "task_index")
    return messages.ServerDef(
        cluster=_copied(spec.as_cluster_def(), "ClusterDef"),
        job_name=job_name,
        task_index=task_index,
        protocol=_PROTOCOL if protocol is None else protocol,
    )


def _from_server_def(server_def, job_name, task_index, protocol):
    made = _copied(server_def, "ServerDef")
    if job_name is not None:
        made.job_name = job_name
    if task_index is not None:
        made.task_index = task_index
    if protocol is not None:
        made.protocol = protocol
    return made


def _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config):
    is_server_def = is_message(server_or_cluster_def, "ServerDef")
    make = _from_server_def if is_server_def else _from_cluster
    server_def = make(server_or_cluster_def, job_name, task_index, protocol)
    if config is not None:
        if not is_message(config, "ConfigProto"):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        server_def.default_session_config.MergeFromString(config.SerializeToString())
    return server_def


def _own_address(server_def):
    """The address of the task that the server is."""
    job_name, index = server_def.job_name, server_def.task_index
    for job in server_def.cluster.job:
        if job.name != job_name:
            continue
        if index not in job.tasks:
            raise errors.InvalidArgumentError(
                None, None, f'Task {index} was not defined in job "{job_name}"'
            )
        return job.tasks[index]
    raise errors.InternalError(None, None, f'Job "{job_name}" was not defined in cluster')


def _check_protocol(server_def):
    if server_def.protocol != _PROTOCOL:
        raise errors.NotFoundError(
            None,
            None,
            f"No server factory registered for the given ServerDef: {server_def}\n"
            "The available server factories are: [ GRPC_SERVER ]",
        )


# ---- Servers


_servers = set()  # that listen, until the process ends: who joins their cluster goes by that


# What the program has waited for, such as the last worker's word in a queue, may be unanswered yet.
EXIT_GRACE_MS = 500


@atexit.register
def _stop_servers():
    for server in _servers:
        server._server.stop(EXIT_GRACE_MS)


def _bound(address):
    """Where the task of that address listens: others reach it there, nobody where none can.

    None: on the machine itself alone.
    """
    host = address.rpartition(":")[0]
    return None if host == "localhost" or host.startswith("127.") else "0.0.0.0"


class Server:
    """One task of a cluster, in this process: sessions on its `target` run on all tasks.

    server_or_cluster_def: a ServerDef, or what ClusterSpec takes. job_name, task_index: which task;
    may be left out where there is one alone. protocol: "grpc". config: a ConfigProto; how many
    devices of the CPU the task has, and threads. start: whether it listens at once. Its port in the
    cluster may be 0, for a free one.

    A task whose address is localhost is reached from this machine alone; others listen on every
    interface, and whoever reaches them can run any operation in this process, those that read and
    write files and tf.py_func among them. Certificates and tokens that the environment names
    (RHEOS_TLS_CA, RHEOS_TLS_CERT, RHEOS_TLS_KEY, RHEOS_TOKEN_FILE) keep others out.

    tf.errors.OpError if it cannot listen, UnimplementedError where gRPC is not installed.
    """

    _local_job = "local"

    def __init__(
        self,
        server_or_cluster_def,
        job_name=None,
        task_index=None,
        protocol=None,
        config=None,
        start=True,
    ):
        self._server_def = _make_server_def(
            server_or_cluster_def, job_name, task_index, protocol, config
        )
        _check_protocol(self._server_def)
        self._address = _own_address(self._server_def)
        self._server = None
        if start:
            self.start()

    def start(self):
        """Begins to listen, if it does not yet."""
        if self._server is not None:
            return
        config = self._server_def.default_session_config
        self._server = _core._Server(
            self._server_def.cluster.SerializeToString(),
            self._server_def.job_name,
            self._server_def.task_index,
            bind=_bound(self._address),
            cpu_devices=config.device_count.get("CPU", 0),
            threads=max(config.intra_op_parallelism_threads, 0),
            program_function=call_function,
            default_session_config=config.SerializeToString(),
            allows_files=True,  # programs save and restore through their servers
        )
        _servers.add(self)

    def run_eagerly_here(self):
        """Has operations that run at once be run by this task; RuntimeError if one ran already."""
        self.start()
        join_server(self._server)

    def join(self):
        """Waits for the end of the server, which is that of the process; Ctrl-C ends the wait."""
        self.start()
        # The main thread sees signals while it waits for another one, not while it is in C; and a
        # signal that comes just before such a wait does not end it, so no wait is long.
        waits = threading.Thread(target=self._server.join, daemon=True)
        waits.start()
        while waits.is_alive():
            waits.join(_SIGNALS_S)

    @property
    def server_def(self):
        """The ServerDef of this server."""
        return self._server_def

    @property
    def target(self):
        """What sessions give as their target: "grpc://localhost:port".

        A server whose port is a free one begins to listen to know it.
        """
        port = self._address.rpartition(":")[2]
        if self._server is None and int(port) != 0:
            return f"grpc://localhost:{port}"
        self.start()
        return self._server.target

    @classmethod
    def create_local_server(cls, config=None, start=True):
        """A server that is the only task of its cluster, on a free port of this machine."""
        cluster = {cls._local_job: ["localhost:0"]}
        return cls(cluster, protocol=_PROTOCOL, config=config, start=start)


class ServerV2(Server):
    __doc__ = Server.__doc__

    _local_job = "localhost"


# ---- Clusters in this process


def _free_ports(count):
    """Ports that nobody has at this moment, each another one."""
    import socket

    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def create_local_cluster(
    num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None
):
    """Servers in this process that are a cluster: lists of the jobs "worker" and "ps".

    worker_config, ps_config: the `config` of the servers.
    """
    ports = _free_ports(num_workers + num_ps)
    addresses = [f"localhost:{port}" for port in ports]
    cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})

    def servers(job, count, config):
        return [Server(cluster, job, index, protocol, config) for index in range(count)]

    return servers("worker", num_workers, worker_config), servers("ps", num_ps, ps_config)
