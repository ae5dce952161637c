"""What a client sees of a step on servers: what each task did, and whose fault an error was."""

import re

import pytest
import rheos.v1 as tf

pytestmark = pytest.mark.usefixtures("grpc")
WORKER = "/job:worker/replica:0/task:%d/device:CPU:0"
FULL = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)


@pytest.fixture
def target():
    """Of the first of two workers."""
    config = tf.ConfigProto(device_count={"GPU": 0})
    workers, _ = tf.test.create_local_cluster(num_workers=2, num_ps=0, worker_config=config)
    yield workers[0].target
    del workers


@pytest.fixture
def product():
    """(x, y): y is made on both workers."""
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [2], name="x")
        first = tf.sin(x, name="first")
    with tf.device("/job:worker/task:1"):
        return x, tf.cos(first, name="second")


def ran(metadata):
    told = {}
    for device in metadata.step_stats.dev_stats:
        told.setdefault(device.device, []).extend(node.node_name for node in device.node_stats)
    return told


def test_a_step_tells_what_came_from_other_tasks(target, product):
    x, y = product
    metadata = tf.RunMetadata()
    with tf.Session(target) as sess:
        sess.run(y, {x: [1, 2]}, FULL, metadata)
    ((device, node),) = [
        (device.device, node)
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
        if node.node_name == "RecvTensor"
    ]
    assert device == WORKER % 1 and node.timeline_label.startswith("[8B] [")
    assert node.timeline_label.endswith(f"_first from {WORKER % 0} to {WORKER % 1}")
    assert 1.5e15 < node.all_start_micros and 0 <= node.all_end_rel_micros < 1e7


def check_metadata(metadata):
    told = ran(metadata)
    assert set(told) == {WORKER % 0, WORKER % 1}
    assert "first" in told[WORKER % 0] and "second" in told[WORKER % 1]
    nodes = {node.name: node for graph in metadata.partition_graphs for node in graph.node}
    assert len(metadata.partition_graphs) == 2
    assert (nodes["first"].device, nodes["second"].device) == (WORKER % 0, WORKER % 1)
    assert {node.op for node in nodes.values()} >= {"_Send", "_Recv"}


def test_a_step_tells_what_each_task_did(target, product):
    x, y = product
    metadata = tf.RunMetadata()
    with tf.Session(target) as sess:
        sess.run(y, {x: [1, 2]}, FULL, metadata)
        check_metadata(metadata)
        sess.run(y, {x: [1, 2]}, run_metadata=metadata)
        assert not metadata.step_stats.dev_stats and not metadata.partition_graphs


def test_callables_tell_too(target, product):
    x, y = product
    metadata = tf.RunMetadata()
    with tf.Session(target) as sess:
        run = sess.make_callable(y, [x], accept_options=True)
        run([1, 2], options=FULL, run_metadata=metadata)
        check_metadata(metadata)


def test_a_step_tells_only_what_is_asked_for(target, product):
    x, y = product
    metadata = tf.RunMetadata()
    with tf.Session(target) as sess:
        sess.run(y, {x: [1, 2]}, tf.RunOptions(output_partition_graphs=True), metadata)
        assert len(metadata.partition_graphs) == 2 and not metadata.step_stats.dev_stats
        sess.run(y, {x: [1, 2]}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
        assert not metadata.partition_graphs and len(ran(metadata)) == 2


def test_a_master_logs_where_operations_are(target, product, capfd):
    x, y = product
    with tf.Session(target, config=tf.ConfigProto(log_device_placement=True)) as sess:
        sess.run(y, {x: [1, 2]})
        sess.run(y + 1, {x: [1, 2]})
    lines = capfd.readouterr().err.splitlines()
    assert f"first: (Sin): {WORKER % 0}" in lines and f"second: (Cos): {WORKER % 1}" in lines
    assert len(lines) == len(set(lines))


def test_a_server_has_defaults_for_its_sessions():
    with tf.device("/job:local/gpu:9"):
        y = tf.constant(1.0)
    soft = tf.train.Server.create_local_server(tf.ConfigProto(allow_soft_placement=True))
    with tf.Session(soft.target) as sess:
        assert sess.run(y) == 1
    with tf.Session(soft.target, config=tf.ConfigProto(log_device_placement=True)) as sess:
        assert sess.run(y) == 1
    plain = tf.train.Server.create_local_server()
    with tf.Session(plain.target) as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(y)


def test_what_is_fetched_twice_comes_twice(target, product):
    x, y = product
    z = y * 1
    with tf.Session(target) as sess:
        first, second, third, fed, again = sess.run([y, z, y, x, x], {x: [1, 2]})
        assert first.tolist() == second.tolist() == third.tolist()
        assert fed.tolist() == again.tolist() == [1, 2]
        assert sess.make_callable([y, y], [x])([1, 2])[1].tolist() == first.tolist()


# ---- Errors


def fails(target, fetch, **feeds):
    with tf.Session(target) as sess, pytest.raises(tf.errors.OpError) as caught:
        sess.run(fetch, feeds)
    return caught.value


def test_errors_name_the_line_of_the_program(target):
    with tf.device("/job:worker/task:1"):
        y = tf.check_numerics(tf.log(tf.constant(-1.0)), "here", name="check")
    error = fails(target, y)
    assert error.message.startswith("From /job:worker/replica:0/task:1:\nhere")
    assert re.search(rf"\[\[node check \(defined at {re.escape(__file__)}:\d+\)\]\]", error.message)
    assert error.op is y.op and isinstance(error, tf.errors.InvalidArgumentError)


def test_errors_of_placement_do_too(target):
    with tf.device("/job:worker/task:7"):
        y = tf.constant(1.0, name="far")
    error = fails(target, y)
    assert "explicitly assigned to /job:worker/task:7 but available devices are [ " in error.message
    assert WORKER % 1 in error.message and f"[[node far (defined at {__file__}:" in error.message
