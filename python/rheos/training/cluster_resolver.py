"""Where the tasks of a cluster are, as whatever runs them says: the program, TF_CONFIG, Slurm,
Kubernetes."""

import abc
import os
import re

from rheos.training.cluster import ClusterSpec
from rheos.training.tasks import tf_config


def _url(address, rpc_layer):
    return f"{rpc_layer}://{address}" if rpc_layer else address


class ClusterResolver(abc.ABC):
    """What all resolvers have.

    task_type, task_id: which task this process is, None where that is not known. rpc_layer: the
    protocol in targets of sessions.
    """

    rpc_layer = None
    environment = ""  # "google" inside that company
    task_type = None
    task_id = None

    @abc.abstractmethod
    def cluster_spec(self):
        """The ClusterSpec, as it is now."""

    @abc.abstractmethod
    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target of sessions with a task, by default with this one."""

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many of each kind of accelerator a task has."""
        return {}

    def _target(self, task_type, task_id, rpc_layer):
        address = self.cluster_spec().task_address(task_type, task_id)
        return _url(address, rpc_layer or self.rpc_layer)

    def _target_or_none(self, task_type, task_id, rpc_layer):
        """That of the task, or of this one; "" where which one that is is not known."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return self._target(task_type, task_id, rpc_layer)


class SimpleClusterResolver(ClusterResolver):
    """A cluster that the program describes."""

    def __init__(
        self,
        cluster_spec,
        master="",
        task_type=None,
        task_id=None,
        environment="",
        num_accelerators=None,
        rpc_layer=None,
    ):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self.task_type, self.task_id = task_type, task_id
        self.environment, self.rpc_layer = environment, rpc_layer
        self._cluster_spec, self._master = cluster_spec, master
        self._num_accelerators = num_accelerators

    def cluster_spec(self):
        return self._cluster_spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return self._target(task_type, task_id, rpc_layer)
        return _url(self._master, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {} if self._num_accelerators is None else self._num_accelerators


class TFConfigClusterResolver(ClusterResolver):
    """A cluster that the environment variable TF_CONFIG describes; what is given counts more."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self.environment = environment

    @property
    def task_type(self):
        """The job of this task, as was given or TF_CONFIG says; None if nothing does."""
        found = self._task_type or tf_config().get("task", {}).get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type):
        self._task_type = task_type

    @property
    def task_id(self):
        """The task's number in its job, as was given or TF_CONFIG says; None if nothing does."""
        found = self._task_id
        if found is None:
            found = tf_config().get("task", {}).get("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id):
        self._task_id = task_id

    @property
    def rpc_layer(self):
        """What connects tasks, as in "grpc"; None if nothing says it."""
        return self._rpc_layer or tf_config().get("rpc_layer")

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer):
        self._rpc_layer = rpc_layer

    def cluster_spec(self):
        return ClusterSpec(tf_config().get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        said = tf_config().get("session_master")
        if said is not None:
            return said
        cluster = self.cluster_spec()
        if sum(cluster.num_tasks(job) for job in cluster.jobs) <= 1:
            return ""  # nobody else is there
        return self._target(
            self.task_type if task_type is None else task_type,
            self.task_id if task_id is None else task_id,
            rpc_layer,
        )


class UnionResolver(ClusterResolver):
    """Several clusters as one; which task this is, the first of them says if nothing else does."""

    def __init__(self, *args, **kwargs):
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(resolver, ClusterResolver) for resolver in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args
        self.rpc_layer = kwargs.pop("rpc_layer", args[0].rpc_layer)
        self.task_type = kwargs.pop("task_type", args[0].task_type)
        self.task_id = kwargs.pop("task_id", args[0].task_id)
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")

    @property
    def environment(self):
        return self._resolvers[0].environment

    def cluster_spec(self):
        specs = [resolver.cluster_spec() for resolver in self._resolvers]
        jobs = dict.fromkeys(job for spec in specs for job in spec.jobs)
        return ClusterSpec(
            {job: self._tasks([s for s in specs if job in s.jobs], job) for job in jobs}
        )

    @staticmethod
    def _tasks(specs, job):
        """Lists follow one another; numbers that are given stay."""
        parts = [spec.as_dict()[job] for spec in specs]
        if all(isinstance(part, list) for part in parts):
            return [address for part in parts for address in part]
        merged = {}
        for part in parts:
            part = part if isinstance(part, dict) else dict(enumerate(part))
            twice = merged.keys() & part.keys()
            if twice:
                raise KeyError(
                    f"Duplicate keys detected when merging two ClusterSpecs: {set(twice)!r}"
                )
            merged.update(part)
        return merged

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return self._target(task_type, task_id, rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


# ---- Slurm


def _slurm(name):
    value = os.environ.get("SLURM_" + name)
    if value is None:
        raise RuntimeError(
            f"SLURM_{name} not found in environment. Not running inside a SLURM step?"
        )
    return value


def _hosts(text):
    """The names in a list such as "n[1-2,05],m3"."""
    names = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        match = re.fullmatch(r"([^\[\]]*)(?:\[([-,\d]+)\])?([^\[\]]*)", part)
        if match is None:
            raise ValueError(f'Invalid hostlist format "{text}": Invalid part: {part}')
        prefix, ranges, suffix = match.groups()
        if ranges is None:
            names.append(part)
            continue
        for numbers in ranges.split(","):
            first, _, last = numbers.partition("-")
            for number in range(int(first), int(last or first) + 1):
                names.append(f"{prefix}{number:0{len(first)}}{suffix}")
    return names


def _counts(text):
    """The numbers in a list such as "2(x3),1"."""
    counts = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f'Invalid tasks-per-node list format "{text}"')
        counts += [int(match.group(1))] * int(match.group(2) or 1)
    return counts


class SlurmClusterResolver(ClusterResolver):
    """The tasks of a Slurm step, dealt out to jobs in the order of hosts' names.

    jobs: how many tasks each job has, all to "worker" by default. port_base: that of the first
    task on each host. GPUs are dealt out to the tasks of a host, by CUDA_VISIBLE_DEVICES.
    """

    def __init__(
        self,
        jobs=None,
        port_base=8888,
        gpus_per_node=None,
        gpus_per_task=None,
        tasks_per_node=None,
        auto_set_gpu=True,
        rpc_layer="grpc",
    ):
        self._rank = int(_slurm("PROCID"))
        total = int(_slurm("STEP_NUM_TASKS"))
        self._jobs = {"worker": total} if jobs is None else dict(jobs)
        wanted = sum(self._jobs.values())
        if wanted > total:
            raise RuntimeError(f"Requested {wanted} tasks but only {total} were assigned.")
        self._port_base, self.rpc_layer = port_base, rpc_layer
        self._gpus_per_task = gpus_per_task or 0
        self._gpus_per_node = gpus_per_node
        self._sets_gpus = auto_set_gpu
        hosts = _hosts(_slurm("STEP_NODELIST"))
        if isinstance(tasks_per_node, int):
            counts = [tasks_per_node] * len(hosts)
        elif tasks_per_node is not None:
            counts = list(tasks_per_node)
        else:
            counts = _counts(_slurm("STEP_TASKS_PER_NODE"))
        self._tasks_on = dict(zip(hosts, counts))

    def _places(self):
        """(address, number on its host) of each task."""
        places = []
        for host, count in sorted(self._tasks_on.items()):
            places += [(f"{host}:{self._port_base + i}", i) for i in range(count)]
        return places[: sum(self._jobs.values())]

    def cluster_spec(self):
        places, cluster = iter(self._places()), {}
        rank = 0
        for job, count in self._jobs.items():
            cluster[job] = []
            for number, (address, place) in zip(range(count), places):
                cluster[job].append(address)
                if rank == self._rank:
                    self.task_type, self.task_id = job, number
                    self._take_gpus(place)
                rank += 1
        return ClusterSpec(cluster)

    def _take_gpus(self, place):
        if self._sets_gpus and self._gpus_per_task > 0:
            first = place * self._gpus_per_task
            gpus = range(first, first + self._gpus_per_task)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))

    def get_task_info(self):
        """(job, number) of this process, once cluster_spec() was asked for."""
        return self.task_type, self.task_id

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        return self._target_or_none(task_type, task_id, rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {"GPU": self._gpus_per_task}


# ---- Kubernetes


class KubernetesClusterResolver(ClusterResolver):
    """Pods by their labels: a list of selectors for each job."""

    def __init__(
        self,
        job_to_label_mapping=None,
        tf_server_port=8470,
        rpc_layer="grpc",
        override_client=None,
    ):
        self._selectors = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self.rpc_layer = tf_server_port, rpc_layer
        self._client = override_client or self._own_client()

    @staticmethod
    def _own_client():
        try:
            from kubernetes import client, config
        except ImportError as error:
            raise ImportError(
                "The Kubernetes Python client must be installed before using the Kubernetes "
                "Cluster Resolver. To install the Kubernetes Python client, run `pip install "
                "kubernetes` on your command line."
            ) from error
        config.load_kube_config()
        return client.CoreV1Api()

    def _address(self, pod):
        if pod.status.phase != "Running":
            raise RuntimeError(
                f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"'
            )
        return f"{pod.status.host_ip}:{self._port}"

    def cluster_spec(self):
        cluster = {}
        for job, selectors in self._selectors.items():
            cluster[job] = []
            for selector in selectors:
                found = self._client.list_pod_for_all_namespaces(label_selector=selector).items
                pods = sorted(found, key=lambda pod: pod.metadata.name)
                cluster[job] += [self._address(pod) for pod in pods]
        return ClusterSpec(cluster)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        return self._target_or_none(task_type, task_id, rpc_layer)
