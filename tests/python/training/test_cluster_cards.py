"""Clusters whose tasks have graphics cards: parts of steps run there, what lies there is sent to
other tasks, and their configuration says how many there are."""

from pathlib import Path

import pytest
import rheos
from card_process import check_program

pytestmark = pytest.mark.usefixtures("grpc")
COMMAND = Path(rheos.__file__).resolve().parents[2] / "bin" / "rheos"

FRAME = """
import numpy as np
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)

SOFT = tf.ConfigProto(allow_soft_placement=True)


def cards(target):
    with tf.Session(target) as session:
        return [d.name for d in session.list_devices() if d.device_type == "GPU"]


def places(trace):
    return {(n.node_name, d.device.partition("/task:")[2])
            for d in trace.step_stats.dev_stats for n in d.node_stats}
"""


def test_workers_train_on_their_cards():
    check_program(
        FRAME
        + """
workers, (ps,) = tf.test.create_local_cluster(2, 1)
rng = np.random.RandomState(0)
images, labels = rng.rand(16, 8, 8, 1), rng.randint(0, 4, 16)


def init(shape, dtype, partition_info=None):
    return tf.constant(np.sin(np.arange(np.prod(shape))).reshape(shape) / 10, dtype)


def train(worker_device, optimizer, use_resource):
    with tf.Graph().as_default():
        setter = tf.train.replica_device_setter(1, ps_device="/job:ps/cpu:0",
                                                worker_device=worker_device)
        with tf.device(setter):
            x, y = tf.placeholder(tf.float32, [16, 8, 8, 1]), tf.placeholder(tf.int64, [16])
            with tf.variable_scope("net", initializer=init, use_resource=use_resource):
                h = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu)
                logits = tf.layers.dense(tf.layers.flatten(h), 4)
            loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
            step = tf.train.get_or_create_global_step()
            train = optimizer(0.01).minimize(loss, step)
        trace = tf.RunMetadata()
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with tf.Session(workers[0].target, config=SOFT) as session:
            session.run(tf.global_variables_initializer())
            feed = {x: images, y: labels}
            losses = [session.run([loss, train], feed, full, trace)[0] for _ in range(6)]
            assert session.run(step) == 6
            return losses, places(trace)


for use_resource in False, True:
    for optimizer in tf.train.AdamOptimizer, tf.train.GradientDescentOptimizer:
        on_cpu, _ = train("/job:worker/task:1/cpu:0", optimizer, use_resource)
        on_card, where = train("/job:worker/task:1/gpu:0", optimizer, use_resource)
        np.testing.assert_allclose(on_card, on_cpu, rtol=1e-4)
        assert on_cpu[-1] < on_cpu[0]
        assert ("net/conv2d/Conv2D", "1/device:GPU:0") in where, where
"""
    )


def test_cards_of_several_tasks_take_part_in_a_step():
    check_program(
        FRAME
        + """
workers, _ = tf.test.create_local_cluster(2, 0)
assert cards(workers[1].target) == [f"/job:worker/replica:0/task:{t}/device:GPU:0" for t in (1, 0)]
x = tf.placeholder(tf.float32, [None, 3])
with tf.device("/job:worker/task:0/gpu:0"):
    a = tf.matmul(x, tf.constant(np.ones((3, 4)), tf.float32))
with tf.device("/job:worker/task:1/gpu:0"):
    b = tf.tanh(a)  # one operation by itself
with tf.device("/job:worker/task:1/cpu:0"):
    number = tf.argmax(b, 1)
with tf.device("/job:worker/task:0/gpu:0"):
    c = tf.reduce_sum(b * a) + tf.cast(tf.reduce_sum(number), tf.float32)
    text = tf.strings.as_string(c)
values = np.arange(6).reshape(2, 3) / 10
expected = values @ np.ones((3, 4))
with tf.Session(workers[0].target, config=SOFT) as session:
    trace = tf.RunMetadata()
    full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    total, t = session.run([c, text], {x: values}, full, trace)
    np.testing.assert_allclose(total, np.sum(np.tanh(expected) * expected), rtol=1e-5)
    assert abs(float(t) - total) < 1e-4
    assert ("Tanh", "1/device:GPU:0") in places(trace), places(trace)

    # Feeds and fetches of what is on a card, and steps in parts.
    np.testing.assert_allclose(session.run(b, {a: expected}), np.tanh(expected), rtol=1e-5)
    np.testing.assert_allclose(session.run(c, {b: expected, a: expected}),
                               np.sum(expected**2), rtol=1e-5)
    call = session.make_callable(c, [x])
    for _ in range(3):
        np.testing.assert_allclose(call(values), total, rtol=1e-6)
    setup = session.partial_run_setup([a, c], [x])
    np.testing.assert_allclose(session.partial_run(setup, a, {x: values}), expected, rtol=1e-6)
    np.testing.assert_allclose(session.partial_run(setup, c), total, rtol=1e-6)
try:
    tf.Session(workers[0].target).run(text, {x: values})
except tf.errors.InvalidArgumentError as error:
    assert "GPU:0" in str(error) and "AsString" in str(error), error
else:
    raise AssertionError("strings are not the card's")
"""
    )


def test_loops_and_functions_on_cards_of_workers():
    check_program(
        FRAME
        + """
workers, _ = tf.test.create_local_cluster(2, 0)
from rheos.v1 import compat


@tf.function
def cube(x):
    return x * x * x


def build(device):
    x = tf.placeholder(tf.float32, [3])
    with tf.device(device):
        looped = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, tf.tanh(v) * 2), [0, x])[1]
        chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: -x)
        called = cube(x)
        gradient, = tf.gradients(tf.reduce_sum(looped * chosen * called), x)
    return x, [looped, chosen, called, gradient]


def run(device, v2):
    with tf.Graph().as_default():
        (tf.enable_control_flow_v2 if v2 else tf.disable_control_flow_v2)()
        x, fetches = build(device)
        with tf.Session(workers[0].target, config=SOFT) as session:
            return session.run(fetches, {x: [0.1, -0.2, 0.7]})


for v2 in False, True:
    for task in 0, 1:
        on_cpu = run(f"/job:worker/task:{task}/cpu:0", v2)
        for a, b in zip(on_cpu, run(f"/job:worker/task:{task}/gpu:0", v2)):
            np.testing.assert_allclose(b, a, rtol=1e-5)
"""
    )


def test_the_configuration_of_a_server_says_which_cards():
    check_program(
        FRAME
        + """
def server(**options):
    return tf.train.Server.create_local_server(config=tf.ConfigProto(**options))


Options = tf.GPUOptions
name = "/job:local/replica:0/task:0/device:GPU:%d"
assert cards(server().target) == [name % 0]
assert cards(server(device_count={"GPU": 0}).target) == []
Parts = Options.Experimental
parts = Parts(virtual_devices=[Parts.VirtualDevices(memory_limit_mb=[64, 32])])
split = server(gpu_options=Options(experimental=parts))
assert cards(split.target) == [name % 0, name % 1]
with tf.Session(split.target) as session:
    limits = [d.memory_limit_bytes for d in session.list_devices() if d.device_type == "GPU"]
    assert limits == [64 << 20, 32 << 20], limits
    with tf.device("/gpu:1"):
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_max(tf.tile(x, [1 << 20]))
    assert session.run(y, {x: [1.0]}) == 1
    try:
        session.run(y, {x: [1.0] * 64})
    except tf.errors.ResourceExhaustedError as error:
        assert "out of memory" in str(error), error
    else:
        raise AssertionError("it has 32 MB")
    assert session.run(y, {x: [3.0]}) == 3
try:
    server(gpu_options=Options(visible_device_list="9"))
except tf.errors.InvalidArgumentError as error:
    assert "invalid Device id '9'" in str(error), error
else:
    raise AssertionError("there is no such card")
"""
    )


@pytest.mark.skipif(not COMMAND.exists(), reason="the command was not built")
def test_the_command_takes_as_many_cards_as_it_is_told():
    check_program(
        FRAME
        + f"""
import subprocess, tempfile

with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    file.write('{{"worker": ["localhost:0"]}}')
    file.flush()
    for options, count in ([], 2), (["--gpus", "1"], 1), (["--gpus", "0"], 0):
        command = [{str(COMMAND)!r}, "serve", "--cluster", file.name, "--job", "worker", *options]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        target = server.stdout.readline().split()[1]
        assert len(cards(target)) == count, options
        server.terminate()
        assert server.wait(30) == 0
""",
        cards=2,
    )


def test_a_checkpoint_of_variables_on_cards_of_tasks():
    check_program(
        FRAME
        + """
import tempfile

workers, (ps,) = tf.test.create_local_cluster(1, 1)
with tf.device("/job:ps/gpu:0"):
    v = tf.get_variable("v", [4], initializer=tf.ones_initializer())
    w = tf.get_variable("w", [2], use_resource=True, initializer=tf.zeros_initializer())
step = tf.group(tf.assign_add(v, [1.0, 2, 3, 4]), tf.assign_sub(w, [1.0, 2]))
saver = tf.train.Saver(sharded=True)
with tempfile.TemporaryDirectory() as folder, tf.Session(workers[0].target, config=SOFT) as session:
    session.run(tf.global_variables_initializer())
    session.run(step)
    path = saver.save(session, folder + "/model")
    session.run(step)
    saver.restore(session, path)
    assert session.run([v, w])[0].tolist() == [2, 3, 4, 5]
    assert session.run(w).tolist() == [-1, -2]
"""
    )
