"""Replicas that train in step, on a cluster in this process."""

import threading

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(scope="module")
def cluster(grpc):
    return tf.test.create_local_cluster(2, 1)


class Replica(threading.Thread):
    """Trains until the global step is 5, in a graph of its own."""

    def __init__(self, number, target):
        super().__init__(daemon=True)
        self.number, self.target = number, target
        self.values, self.error = None, None

    def run(self):
        try:
            with tf.Graph().as_default():
                self.train()
        except Exception as error:
            self.error = error

    def train(self):
        device = f"/job:worker/task:{self.number}"
        with tf.device(tf.train.replica_device_setter(1, worker_device=device)):
            dense = tf.get_variable("dense", [2], initializer=tf.zeros_initializer())
            rows = tf.get_variable("rows", [3, 2], initializer=tf.zeros_initializer())
            step = tf.train.get_or_create_global_step()
            loss = tf.reduce_sum(dense * [1.0, 2.0]) + tf.reduce_sum(tf.gather(rows, [0, 2, 2]))
            optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2)
            train = optimizer.minimize(loss, global_step=step)
        is_chief = self.number == 0
        hooks = [optimizer.make_session_run_hook(is_chief), tf.train.StopAtStepHook(last_step=5)]
        creator = tf.train.ChiefSessionCreator if is_chief else tf.train.WorkerSessionCreator
        session = tf.train.MonitoredSession(
            creator(master=self.target), hooks, stop_grace_period_secs=1
        )
        with session:
            while not session.should_stop():
                session.run(train)
                if session.should_stop():
                    break
                self.values = session.run([step, dense, rows])


def test_a_step_is_the_mean_of_enough_gradients(cluster):
    workers, _ = cluster
    replicas = [Replica(i, worker.target) for i, worker in enumerate(workers)]
    replicas[0].start()
    replicas[1].start()
    replicas[0].join(100)
    assert replicas[0].error is None and not replicas[0].is_alive()
    step, dense, rows = replicas[0].values
    assert 0 <= step <= 5
    # Variables may be one step ahead of the step that was read, or behind: all have the same.
    count = dense[0] / -0.5
    assert abs(count - step) <= 1 and count == int(count)
    np.testing.assert_allclose(dense, [-0.5 * count, -1.0 * count])
    taken = rows[0, 0] / -0.5
    assert abs(taken - step) <= 1
    np.testing.assert_allclose(rows, -0.5 * taken * np.array([[1, 1], [0, 0], [2, 2]]))


def make():
    return tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 3, 2)


def test_what_comes_too_early_is_refused():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [])
        step = tf.train.get_or_create_global_step()
        optimizer = make()
        with pytest.raises(ValueError, match="after apply_gradients"):
            optimizer.get_init_tokens_op()
        with pytest.raises(ValueError, match="after apply_gradients"):
            optimizer.get_chief_queue_runner()
        with pytest.raises(ValueError, match="before using the hook"):
            optimizer.make_session_run_hook(True).begin()
        with pytest.raises(ValueError, match="at least one variable"):
            optimizer.apply_gradients([], global_step=step)
        with pytest.raises(ValueError, match="Global step is required"):
            optimizer.minimize(v * v)
        optimizer.minimize(v * v, global_step=step)
        with pytest.raises(ValueError, match=r"Too few tokens .* 0 \(given\) vs 1 \(needed\)"):
            optimizer.get_init_tokens_op(0)
        assert optimizer.get_chief_queue_runner().enqueue_ops


def test_one_replica_in_a_session_of_this_process():
    with tf.Graph().as_default():
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, 1)
        train = optimizer.minimize(3 * v, global_step=step)
        hook = optimizer.make_session_run_hook(True, num_tokens=2)
        with tf.train.MonitoredSession(hooks=[hook], stop_grace_period_secs=1) as session:
            for _ in range(5):  # the third gradient is for a step that is over
                session.run(train)
            assert session.run(step) == 2
            assert session.run(v) == -6
