"""tf.config.experimental_connect_to_cluster: a program waits for the tasks of its cluster."""

import pytest
import rheos as tf
from ports import free_port

connect = tf.config.experimental_connect_to_cluster


def test_a_program_becomes_its_task(grpc):
    spec = tf.train.ClusterSpec({job: [f"localhost:{free_port()}"] for job in ("chief", "worker")})
    tf.distribute.Server(spec, job_name="worker")
    for _ in range(2):
        connect(spec, job_name="chief", task_index=0)
    with tf.compat.v1.Session(f"grpc://{spec.task_address('chief', 0)}", tf.Graph()) as session:
        assert len([d for d in session.list_devices() if d.device_type == "CPU"]) == 2
    connect(tf.distribute.cluster_resolver.SimpleClusterResolver(spec))


def test_what_is_no_cluster_is_an_error():
    with pytest.raises(ValueError, match="ClusterResolver"):
        connect("localhost:1")
    with pytest.raises(ValueError, match="grpc"):
        connect(tf.train.ClusterSpec({"worker": ["localhost:1"]}), protocol="mpi")
