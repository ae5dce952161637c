"""Clusters in this process: servers, sessions on them, and what they share."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import rheos
import rheos.v1 as tf

pytestmark = pytest.mark.usefixtures("grpc")


@pytest.fixture
def server():
    return tf.train.Server.create_local_server()


@pytest.fixture
def cluster():
    """(two workers, two parameter servers)"""
    return tf.test.create_local_cluster(num_workers=2, num_ps=2)


# ---- Sessions on a server


def test_a_session_runs_on_a_server(server):
    assert server.target.startswith("grpc://localhost:")
    x = tf.placeholder(tf.float32, [None])
    y = {"sum": tf.reduce_sum(x), "all": (x * 2,)}
    with tf.Session(server.target) as sess:
        found = sess.run(y, {x: [1, 2, 3]})
        assert found["sum"] == 6 and found["all"][0].tolist() == [2, 4, 6]
        assert sess.sess_str == server.target
        double = sess.make_callable(x * 2, [x])
        assert double([4]).tolist() == [8]


def test_sessions_share_variables_unless_they_are_isolated(server):
    v = tf.Variable(3.0, name="v")
    with tf.Session(server.target) as first, tf.Session(server.target) as second:
        first.run(v.initializer)
        assert second.run(v.assign_add(1)) == 4 and first.run(v) == 4
    with tf.Session(server.target) as later:
        assert later.run(v) == 4
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(server.target, config=config) as alone:
        with pytest.raises(tf.errors.FailedPreconditionError):
            alone.run(v)


def test_a_session_tells_of_the_devices_of_its_cluster(cluster):
    workers, _ = cluster
    with tf.Session(workers[0].target) as sess:
        devices = [device for device in sess.list_devices() if device.device_type == "CPU"]
    assert sorted(device.name for device in devices) == [
        f"/job:{job}/replica:0/task:{task}/device:CPU:0"
        for job in ("ps", "worker")
        for task in (0, 1)
    ]
    assert len({device.incarnation for device in devices}) == 4
    assert {device.memory_limit_bytes for device in devices} == {268435456}


def test_a_server_that_does_not_tell_of_devices_is_an_error():
    with tf.Session("grpc://localhost:1") as sess:
        with pytest.raises(tf.errors.UnavailableError, match="grpc://localhost:1"):
            sess.list_devices()


def test_a_graph_grows_between_runs(server):
    y = tf.constant(1.0)
    with tf.Session(server.target) as sess:
        for i in range(4):
            assert sess.run(y) == 2**i
            y = y * 2


def test_an_error_has_its_class_message_and_operation(server):
    v = tf.Variable(1.0, name="v")
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            sess.run(v)
        assert "Attempting to use uninitialized value v" in caught.value.message
        x = tf.placeholder(tf.float32, [2], "x")
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed.*'x'") as caught:
            sess.run(x * 2)
        assert caught.value.op is x.op
        with pytest.raises(tf.errors.InvalidArgumentError, match="boom"):
            sess.run(tf.Assert(tf.constant(False), ["boom"]))
        assert sess.run(tf.constant(1)) == 1


def test_a_step_ends_by_its_deadline(server):
    queue = tf.FIFOQueue(1, tf.float32)
    config = tf.ConfigProto(operation_timeout_in_ms=50)
    with tf.Session(server.target, config=config) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(queue.dequeue())
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=50))


def test_nobody_there_is_an_error():
    with tf.Session("grpc://localhost:1") as sess:
        with pytest.raises(tf.errors.UnavailableError, match="grpc://localhost:1"):
            sess.run(tf.constant(1))


# ---- Several tasks


def test_devices_of_all_tasks_are_listed(cluster):
    workers, _ = cluster
    with tf.Session(workers[1].target) as sess:
        names = {d.name for d in sess.list_devices() if d.device_type == "CPU"}
    assert names == {
        f"/job:{job}/replica:0/task:{task}/device:CPU:0"
        for job in ("worker", "ps")
        for task in range(2)
    }


def test_the_config_of_a_server_says_its_devices():
    config = tf.ConfigProto(device_count={"CPU": 2})
    workers, ps = tf.test.create_local_cluster(1, 1, worker_config=config)
    assert workers[0].server_def.default_session_config.device_count["CPU"] == 2
    with tf.device("/job:worker/task:0/cpu:1"):
        x = tf.constant(2.0)
    with tf.Session(workers[0].target) as sess:
        cpus = [device for device in sess.list_devices() if device.device_type == "CPU"]
        assert len(cpus) == 3 and sess.run(x + 1) == 3


def test_functions_of_the_program_are_called(cluster):
    workers, _ = cluster
    with tf.device("/job:worker/task:1"):
        x = tf.py_func(np.negative, [tf.constant(2.0)], tf.float32)
        elements = tf.data.Dataset.from_generator(lambda: iter([5, 7]), tf.int64)
        iterator = elements.make_initializable_iterator()
        element = iterator.get_next()
        bad = tf.py_func(lambda: [][0], [], tf.float32)
    with tf.Session(workers[0].target) as sess:
        assert sess.run(x) == -2
        sess.run(iterator.initializer)
        assert [sess.run(element), sess.run(element)] == [5, 7]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element)
        with pytest.raises(tf.errors.UnknownError, match="IndexError: list index"):
            sess.run(bad)


def _model():
    """(placeholder, labels, loss, step) of a regression whose variables are on two tasks."""
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    with tf.device("/job:ps/task:0"):
        w = tf.Variable(tf.zeros([3, 1]), name="w")
    with tf.device("/job:ps/task:1"):
        b = tf.Variable(tf.zeros([1]), name="b")
    with tf.device("/job:worker/task:1"):
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    return x, y, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def test_workers_train_together(cluster):
    workers, ps = cluster
    x, y, loss, step = _model()
    rng = np.random.RandomState(1)
    xs = rng.rand(64, 3)
    feeds = {x: xs, y: xs @ [[1], [-2], [3]] + 0.5}
    with tf.Session(workers[0].target) as one, tf.Session(workers[1].target) as two:
        one.run(tf.global_variables_initializer())
        first = one.run(loss, feeds)
        for _ in range(50):
            one.run(step, feeds)
            two.run(step, feeds)
        last = two.run(loss, feeds)
        assert last < first / 20
    with tf.Session(ps[0].target) as sess:  # any task is a master
        assert sess.run(loss, feeds) == last


def test_replicas_put_variables_on_parameter_servers(cluster):
    workers, ps = cluster
    setter = tf.train.replica_device_setter(cluster=workers[0].server_def.cluster)
    with tf.device(setter):
        vs = [tf.get_variable(f"v{i}", [], use_resource=i == 1) for i in range(3)]
        optimizer = tf.train.AdamOptimizer(0.1)
        step = optimizer.minimize(tf.add_n([tf.square(v - 2.0) for v in vs]))
    with tf.Session(workers[1].target) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            sess.run(step)
        np.testing.assert_allclose(sess.run(vs), 2, atol=0.1)


# ---- Resets


def test_a_reset_ends_sessions_and_frees_a_container(cluster):
    workers, ps = cluster
    with tf.device("/job:ps/task:1"):
        v = tf.Variable(1.0, name="v")
        with tf.container("kept"):
            w = tf.Variable(2.0, name="w")
    sess = tf.Session(workers[0].target)
    sess.run([v.initializer, w.initializer])
    tf.Session.reset(workers[0].target)
    with pytest.raises(tf.errors.AbortedError, match="is not found"):
        sess.run(v)
    with tf.Session(workers[0].target) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(v)
        assert sess.run(w) == 2
    config = tf.ConfigProto(device_filters=["/job:worker"])
    tf.Session.reset(workers[0].target, ["kept"], config)
    with tf.Session(workers[0].target) as sess:
        assert sess.run(w) == 2  # on another job
    tf.Session.reset(workers[0].target, ["kept"])
    with tf.Session(workers[0].target) as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(w)


def test_a_reset_of_this_process_ends_its_sessions(server):
    x = tf.constant(1)
    with tf.Session(server.target) as there, tf.Session() as here:
        assert here.run(x) == 1
        tf.Session.reset("")
        with pytest.raises(RuntimeError, match="closed Session"):
            here.run(x)
        assert there.run(x) == 1


def test_a_reset_needs_a_server():
    with pytest.raises(tf.errors.UnavailableError, match="grpc://localhost:1"):
        tf.Session.reset("grpc://localhost:1")
    with pytest.raises(tf.errors.InvalidArgumentError, match="no target"):
        tf.Session.reset("nowhere")


# ---- What a server is told


def test_which_task_a_server_is_may_be_left_out():
    server = tf.train.Server({"only": {3: "localhost:0"}}, start=False)
    assert (server.server_def.job_name, server.server_def.task_index) == ("only", 3)
    assert server.server_def.protocol == "grpc"
    with pytest.raises(ValueError, match="explicit `job_name`"):
        tf.train.Server({"a": ["localhost:0"], "b": ["localhost:0"]})
    with pytest.raises(ValueError, match="explicit `task_index`"):
        tf.train.Server({"a": ["localhost:0", "localhost:0"]})


def test_a_server_def_is_taken_with_changes():
    spec = tf.train.ClusterSpec({"a": ["localhost:0", "localhost:0"]})
    told = tf.train.ServerDef(cluster=spec.as_cluster_def(), job_name="a", protocol="grpc")
    server = tf.train.Server(told, task_index=1, start=False)
    assert server.server_def.task_index == 1 and told.task_index == 0


@pytest.mark.parametrize(
    "told, error, message",
    [
        ((3,), TypeError, "Could not convert `server_or_cluster_def`"),
        (({"a": [1]},), TypeError, "Could not convert `server_or_cluster_def`"),
        (({"a": ["localhost:0"]}, "b"), ValueError, "No such job in cluster: 'b'"),
        (({"a": ["localhost:0"]}, "b", 0), tf.errors.InternalError, 'Job "b" was not defined'),
        (
            ({"a": ["localhost:0"]}, "a", 3),
            tf.errors.InvalidArgumentError,
            'Task 3 was not defined in job "a"',
        ),
        (({"a": ["nowhere"]},), tf.errors.InvalidArgumentError, "nowhere"),
        (({"a": ["localhost:0"]}, "a", 0, "x"), tf.errors.NotFoundError, "No server factory"),
    ],
)
def test_what_no_server_can_be(told, error, message):
    with pytest.raises(error, match=message):
        tf.train.Server(*told)


def test_a_port_is_one_servers(server):
    port = server.target.rsplit(":", 1)[1]
    with pytest.raises(tf.errors.OpError):
        tf.train.Server({"a": [f"localhost:{port}"]})


def test_a_server_listens_when_it_is_started(server):
    port = server.target.rsplit(":", 1)[1]
    late = tf.train.Server({"a": [f"localhost:{port}"]}, start=False)
    assert late.target == server.target
    with pytest.raises(tf.errors.OpError):
        late.start()
    server.start()  # again


def test_version_2_has_servers_too():
    server = rheos.distribute.Server.create_local_server()
    assert server.server_def.job_name == "localhost"
    assert isinstance(server, rheos.compat.v1.train.Server)
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        assert sess.run(tf.constant(1)) == 1


# ---- Ends


def run_program(text, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def test_ctrl_c_ends_a_join():
    program = run_program(
        """
        import rheos.v1 as tf
        server = tf.train.Server.create_local_server()
        print(server.target, flush=True)
        try:
            server.join()
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    target = program.stdout.readline().strip()
    with tf.Session(target) as sess:
        assert sess.run(tf.constant(1)) == 1
    program.send_signal(signal.SIGINT)
    assert program.communicate(timeout=60)[0] == "interrupted\n" and program.returncode == 0


def test_a_program_may_end_in_the_middle():
    program = run_program(
        """
        import contextlib, threading, time
        import rheos.v1 as tf
        workers, ps = tf.test.create_local_cluster(1, 1)
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(1, tf.float32)
            x = queue.dequeue()
        sess = tf.Session(workers[0].target)

        def run():  # what it would print at the end, Python 3.13 takes for an error of its own
            with contextlib.suppress(tf.errors.OpError):
                sess.run(x)

        threading.Thread(target=run, daemon=True).start()
        time.sleep(0.3)
        print("end")
        """
    )
    assert program.communicate(timeout=60)[0] == "end\n" and program.returncode == 0
