"""Resolvers of clusters; the answers are those of TensorFlow 2.21."""

import json
from types import SimpleNamespace

import pytest
import rheos as tf
import rheos.v1 as tf1

resolvers = tf.distribute.cluster_resolver
assert tf1.distribute.cluster_resolver.UnionResolver is resolvers.UnionResolver


def simple(tasks, **kwargs):
    return resolvers.SimpleClusterResolver(tf.train.ClusterSpec(tasks), **kwargs)


def test_a_cluster_that_the_program_describes():
    r = simple(
        {"worker": ["a:1", "b:2"]},
        master="m:1",
        task_type="worker",
        task_id=1,
        rpc_layer="grpc",
        num_accelerators={"GPU": 2},
    )
    assert r.master() == "grpc://m:1" and r.master("worker", 0) == "grpc://a:1"
    assert r.master("worker", 0, "http") == "http://a:1"
    assert (r.task_type, r.task_id, r.environment, r.rpc_layer) == ("worker", 1, "", "grpc")
    assert r.num_accelerators() == {"GPU": 2}
    with pytest.raises(TypeError, match="cluster_spec must be a `tf.train.ClusterSpec`."):
        resolvers.SimpleClusterResolver({"a": ["b"]})


def test_a_cluster_that_the_environment_describes(monkeypatch):
    def set_config(**config):
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))

    cluster = {"worker": ["a:1", "b:2"]}
    set_config(cluster=cluster, task={"type": "worker", "index": "1"}, rpc_layer="grpc")
    r = resolvers.TFConfigClusterResolver()
    assert r.master() == "grpc://b:2" and r.master("worker", 0) == "grpc://a:1"
    assert (r.task_type, r.task_id, r.rpc_layer, r.environment) == ("worker", 1, "grpc", None)
    assert r.cluster_spec().as_dict() == cluster and r.num_accelerators() == {}
    given = resolvers.TFConfigClusterResolver("worker", 0, rpc_layer="x", environment="e")
    assert given.master() == "x://a:1" and given.environment == "e"
    set_config(cluster={"worker": ["a:1"]}, session_master="sm")
    assert r.master() == "sm"
    set_config(cluster={"worker": ["a:1"]})
    assert r.master() == ""
    monkeypatch.delenv("TF_CONFIG")
    assert (r.master(), r.task_type, r.task_id, r.cluster_spec().as_dict()) == ("", None, None, {})


def test_several_clusters_as_one():
    first = simple({"worker": ["a:1", "b:2"]}, master="m:1", task_type="worker", task_id=1)
    union = resolvers.UnionResolver(first, simple({"ps": ["c:3"], "worker": ["d:4"]}))
    assert union.cluster_spec().as_dict() == {"ps": ["c:3"], "worker": ["a:1", "b:2", "d:4"]}
    assert (union.master(), union.task_type, union.task_id) == ("m:1", "worker", 1)
    sparse = simple({"worker": {1: "d:4"}})
    union = resolvers.UnionResolver(sparse, simple({"worker": {0: "e:4"}}))
    assert union.cluster_spec().as_dict() == {"worker": ["e:4", "d:4"]}
    with pytest.raises(KeyError, match="Duplicate keys detected when merging"):
        resolvers.UnionResolver(first, sparse).cluster_spec()
    with pytest.raises(ValueError, match="At least one ClusterResolver is required."):
        resolvers.UnionResolver()
    with pytest.raises(TypeError, match="must be a sub-class of `ClusterResolver.`"):
        resolvers.UnionResolver(3)


@pytest.fixture
def slurm(monkeypatch):
    def slurm(**values):
        for name, value in values.items():
            monkeypatch.setenv("SLURM_" + name, value)

    slurm(PROCID="3", STEP_NUM_TASKS="5", STEP_NODELIST="n[1-2,5],m3", LOCALID="0")
    slurm(STEP_TASKS_PER_NODE="2,1(x3)")
    return slurm


def test_the_tasks_of_a_slurm_step(slurm):
    jobs = {"ps": 1, "worker": 4}
    r = resolvers.SlurmClusterResolver(jobs, 100, 2, 1, auto_set_gpu=False)
    workers = ["n1:100", "n1:101", "n2:100", "n5:100"]
    assert r.cluster_spec().as_dict() == {"ps": ["m3:100"], "worker": workers}
    assert r.get_task_info() == ("worker", 2)
    assert r.master() == "grpc://n2:100" and r.master("worker", 1) == "grpc://n1:101"
    one = resolvers.SlurmClusterResolver({"a": 4}, tasks_per_node=1)
    assert one.cluster_spec().as_dict() == {"a": ["m3:8888", "n1:8888", "n2:8888", "n5:8888"]}
    with pytest.raises(RuntimeError, match="Requested 9 tasks but only 5 were assigned."):
        resolvers.SlurmClusterResolver({"a": 9})
    slurm(STEP_NODELIST="tux[3-4]x-[01-03],b")
    with pytest.raises(ValueError, match="Invalid hostlist format"):
        resolvers.SlurmClusterResolver()


def test_outside_of_slurm(monkeypatch):
    monkeypatch.delenv("SLURM_PROCID", raising=False)
    with pytest.raises(RuntimeError, match="Not running inside a SLURM step"):
        resolvers.SlurmClusterResolver()


class Pods:
    """What a client of Kubernetes says of pods."""

    def list_pod_for_all_namespaces(self, label_selector):
        running = [("z", "1.1", "Running"), ("b", "2.2", "Running")]
        found = {"a": running, "c": [("q", "", "Failed")]}
        return SimpleNamespace(
            items=[
                SimpleNamespace(
                    metadata=SimpleNamespace(name=name),
                    status=SimpleNamespace(phase=phase, host_ip=address),
                )
                for name, address, phase in found[label_selector]
            ]
        )


def test_pods():
    r = resolvers.KubernetesClusterResolver({"worker": ["a"]}, override_client=Pods())
    assert r.cluster_spec().as_dict() == {"worker": ["2.2:8470", "1.1:8470"]}
    assert r.master() == "" and r.master("worker", 0) == "grpc://2.2:8470"
    r = resolvers.KubernetesClusterResolver({"worker": ["a", "c"]}, override_client=Pods())
    with pytest.raises(RuntimeError, match='Pod "q" is not running; phase: "Failed"'):
        r.cluster_spec()
