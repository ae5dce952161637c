"""Clusters that a session brings with it, of servers that do not know each other."""

import numpy as np
import pytest
import rheos.v1 as tf

pytestmark = pytest.mark.usefixtures("grpc")


@pytest.fixture
def servers():
    return [tf.train.Server.create_local_server() for _ in range(3)]


def config_of(ps, *workers):
    address = lambda server: server.target.removeprefix("grpc://")  # noqa: E731
    spec = tf.train.ClusterSpec({"ps": [address(ps)], "worker": [address(w) for w in workers]})
    return tf.ConfigProto(cluster_def=spec.as_cluster_def())


def test_a_session_names_servers_as_it_likes(servers):
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    with tf.device("/job:worker/task:0"):
        y = v * 2
    with tf.device("/job:worker/task:1"):
        z = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + y), [0, v])[1]
    ps, worker, other = servers
    with tf.Session(worker.target, config=config_of(ps, worker, other)) as sess:
        sess.run(v.initializer)
        np.testing.assert_array_equal(sess.run(z), [7, 7])
        assert sess.run(v.assign_add([1, 1])).tolist() == [2, 2]
        np.testing.assert_array_equal(sess.run(z), [14, 14])
        assert sorted(d.name for d in sess.list_devices() if d.device_type == "CPU") == [
            "/job:ps/replica:0/task:0/device:CPU:0",
            "/job:worker/replica:0/task:0/device:CPU:0",
            "/job:worker/replica:0/task:1/device:CPU:0",
        ]
    with tf.Session(ps.target) as sess:  # it is what it was, and its variables are its own
        assert [d.name for d in sess.list_devices() if d.device_type == "CPU"] == [
            "/job:local/replica:0/task:0/device:CPU:0"
        ]


def test_sessions_with_clusters_share_nothing(servers):
    with tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
    first, second, _ = servers
    with (
        tf.Session(first.target, config=config_of(second, first)) as a,
        tf.Session(second.target, config=config_of(first, second)) as b,
    ):
        a.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError):
            b.run(v)
        b.run(v.initializer)
        assert b.run(v.assign_add(4)) == 5 and a.run(v) == 1


def test_a_step_across_the_tasks_ends_with_its_session(servers):
    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(1, tf.float32)
        taken = queue.dequeue()
    with tf.device("/job:worker/task:0"):
        y = taken + 1
    config = config_of(servers[1], servers[0])
    config.operation_timeout_in_ms = 200
    with tf.Session(servers[0].target, config=config) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(y)
        sess.run(queue.enqueue(3.0))
        assert sess.run(y) == 4


def test_the_server_is_one_of_the_cluster(servers):
    with tf.Session(servers[2].target, config=config_of(*servers[:2])) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="no task .* is at localhost:"):
            sess.run(tf.constant(1))
