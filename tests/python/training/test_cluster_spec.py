"""ClusterSpec: what a cluster may be made of, and what it is asked."""

import pytest
import rheos
import rheos.v1 as tf

ClusterSpec = tf.train.ClusterSpec


def test_lists_and_numbers_are_jobs():
    spec = ClusterSpec({"ps": ["a:1", b"b:1"], "worker": {1: "c:1", "3": "d:1"}, "none": []})
    assert spec.jobs == ["ps", "worker", "none"]
    assert spec.num_tasks("ps") == spec.num_tasks("worker") == 2
    assert spec.task_indices("worker") == [1, 3]
    assert spec.task_address("worker", 3) == "d:1"
    assert spec.job_tasks("worker") == [None, "c:1", None, "d:1"]
    assert spec.as_dict()["worker"] == {1: "c:1", 3: "d:1"}
    assert spec.as_dict()["none"] == {} and spec.job_tasks("none") == []
    assert ClusterSpec({"b": ["x:1"], "a": {2: "y:1"}}).__repr__() == (
        "ClusterSpec({'a': {2: 'y:1'}, 'b': ['x:1']})"
    )


def test_there_and_back():
    spec = ClusterSpec({"ps": ["a:1", "b:1"], "worker": {1: "c:1"}})
    cluster_def = spec.as_cluster_def()
    assert [job.name for job in cluster_def.job] == ["ps", "worker"]
    assert dict(cluster_def.job[1].tasks) == {1: "c:1"}
    for other in (ClusterSpec(cluster_def), ClusterSpec(spec), ClusterSpec(spec.as_dict())):
        assert other == spec and not other != spec
        assert other.as_dict() == {"ps": ["a:1", "b:1"], "worker": {1: "c:1"}}
    assert ClusterSpec(tf.train.ClusterDef.FromString(cluster_def.SerializeToString())) == spec
    assert spec != ClusterSpec({"ps": ["a:1"]}) and spec != 3
    assert spec and not ClusterSpec({})
    with pytest.raises(TypeError):
        hash(spec)


def test_version_2_has_the_same():
    assert rheos.train.ClusterSpec is ClusterSpec


@pytest.mark.parametrize(
    "cluster, message",
    [
        (3, "`cluster` must be a dictionary"),
        ({"a": 3}, "tasks for job 'a' must be a list or a dictionary"),
        ({"a": [1]}, "Task address 1 must be bytes or unicode"),
        ({3: ["a:1"]}, "Job name 3 must be bytes or unicode"),
    ],
)
def test_what_no_cluster_is_made_of(cluster, message):
    with pytest.raises(TypeError, match=message):
        ClusterSpec(cluster)


def test_what_is_not_there():
    spec = ClusterSpec({"a": {1: "b:1"}})
    for ask in (spec.num_tasks, spec.task_indices, spec.job_tasks):
        with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
            ask("x")
    with pytest.raises(ValueError, match="No task with index 0 in job 'a'"):
        spec.task_address("a", 0)
