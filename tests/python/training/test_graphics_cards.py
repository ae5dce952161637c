"""Programs on graphics cards: each is run in a process of its own, on the processor that PoCL makes
a card of. Without a driver of OpenCL they are skipped."""

import os
import subprocess
import sys

import pytest

START = """
import numpy as np
import rheos.v1 as tf

if not tf.test.is_gpu_available():
    raise SystemExit(77)
"""

# A bias and an activation behind a Reshape, which a CPU takes into the product.
BEHIND_RESHAPES = """
def outputs(device):
    with tf.Graph().as_default(), tf.device(device):
        x = tf.constant(np.random.RandomState(1).rand(4, 8, 16), tf.float32)
        w = tf.constant(np.random.RandomState(2).rand(16, 6), tf.float32)
        bias = tf.placeholder(tf.float32, [6])
        product = tf.reshape(tf.matmul(tf.reshape(x, [-1, 16]), w), [4, 8, 6])
        biased = tf.nn.bias_add(product, bias)
        with tf.Session() as session:
            feed = {bias: np.arange(6)}
            fetches = biased, tf.nn.relu(product - 4), tf.tanh(biased)
            return [session.run(fetch, feed) for fetch in fetches]


for on_cpu, on_card in zip(outputs("/cpu:0"), outputs("/gpu:0")):
    np.testing.assert_allclose(on_card, on_cpu, rtol=1e-6)
"""

PLACES = """
names = [device.name for device in tf.Session().list_devices()]
assert names[-1].endswith("/device:GPU:0"), names
none = tf.Session(config=tf.ConfigProto(device_count={"GPU": 0}))
assert not any("GPU" in device.name for device in none.list_devices())
assert tf.test.gpu_device_name() == "/device:GPU:0"

with tf.device("/gpu:0"):
    text = tf.strings.join([tf.constant("a"), tf.constant("b")])
    number = tf.add(tf.placeholder(tf.float32, [], name="x"), 2.0)
for soft, fetch, answer in (True, text, b"ab"), (False, number, 3.0):
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=soft)) as session:
        assert session.run(fetch, {"x:0": 1.0}) == answer
with tf.Session() as session:
    try:
        session.run(text)
    except tf.errors.InvalidArgumentError as error:
        assert "no supported kernel for GPU devices" in str(error), error
    else:
        raise AssertionError("strings are not the card's")
# What TensorFlow's cards compute and these do not is the CPU's, also where placement is not soft.
with tf.Graph().as_default(), tf.device("/gpu:0"):
    steps = tf.range(3) * 2
    found = tf.where(tf.constant([False, True]))
    root = tf.cholesky(tf.constant([[4.0, 2.0], [2.0, 5.0]]))
    turned = tf.ifft(tf.fft(tf.constant([1, 2j, 3], tf.complex64)) * 2)
    halves = tf.dynamic_partition(tf.constant([1.0, 2.0, 3.0]), [0, 1, 0], 2)
    with tf.Session() as session:
        assert session.run(steps).tolist() == [0, 2, 4]
        assert session.run(found).tolist() == [[1]]
        assert session.run(root).tolist() == [[2, 0], [1, 2]]
        np.testing.assert_allclose(session.run(turned), [2, 4j, 6], atol=1e-6)
        assert [half.tolist() for half in session.run(halves)] == [[1, 3], [2]]
# Labels are compared where the guesses are, and an update is where its variable is.
with tf.Graph().as_default():
    logits, labels = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.int64, [3])
    right = tf.equal(tf.argmax(logits, 1), labels, name="right")
    with tf.device("/gpu:0"):
        w = tf.get_variable("w", initializer=np.ones(3, "f"), use_resource=True)
    with tf.device("/cpu:0"):
        update = tf.raw_ops.AssignAddVariableOp(
            resource=w.handle, value=tf.cast(right, tf.float32), name="update"
        )
    trace, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    with tf.Session() as session:
        session.run(w.initializer)
        feed = {logits: [[0, 1], [1, 0], [0, 1]], labels: [1, 0, 0]}
        session.run(update, feed, trace, metadata)
        assert session.run(w).tolist() == [2, 2, 1]
    on_card = set()
    for device in metadata.step_stats.dev_stats:
        if device.device.endswith("GPU:0"):
            on_card |= {node.node_name for node in device.node_stats}
    assert {"right", "update"} <= on_card, on_card
with none:
    try:
        none.run(number, {"x:0": 1.0})
    except tf.errors.InvalidArgumentError as error:
        assert "/device:GPU:0" in str(error), error
    else:
        raise AssertionError("there is no card")
"""


# What runs on either side of a card, and the copies between.
EXPLAINED = """
x = tf.placeholder(tf.float32, [None, 3], name="x")
count = tf.get_variable("count", [], tf.int64, tf.zeros_initializer(), use_resource=True)
with tf.device("/gpu:0"):
    y = tf.nn.relu(tf.matmul(x, tf.ones([3, 2])), name="y")
with tf.device("/cpu:0"):
    text = tf.strings.as_string(y)
with tf.Session() as session:
    told = session.explain([text, count.assign_add(1)], {x: (5, 3)})
ops = [instruction.op for instruction in told.instructions]
assert ops.index("MatMul") < ops.index("AsString") and "AssignAddVariableOp" in ops, ops
assert told.instructions[ops.index("AsString")].shape == (5, 2)
places = [i.device[-5:] for i in told.instructions if i.device and i.op == "Identity"]
assert places == ["GPU:0", "CPU:0"], places
assert "AsString" not in str(told).partition("not run")[2]
"""


def run(program, environment):
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("no device of OpenCL")
    return done


@pytest.mark.parametrize("program", [BEHIND_RESHAPES, PLACES, EXPLAINED])
def test_card(program):
    done = run(START + program, {"RHEOS_OPENCL": "cpu"})
    assert done.returncode == 0, done.stderr


def test_off():
    program = START.replace("raise SystemExit(77)", "raise SystemExit(5)")
    assert run(program, {"RHEOS_OPENCL": "off"}).returncode == 5


def test_forked_process_says_so():
    program = """
import os
with tf.device("/gpu:0"):
    y = tf.tanh(tf.placeholder(tf.float32, [3], name="x"))
session = tf.Session()
session.run(y, {"x:0": [1, 2, 3]})
child = os.fork()
if child == 0:
    try:
        session.run(y, {"x:0": [1, 2, 3]})
    except tf.errors.UnavailableError as error:
        os._exit(3 if "forked" in str(error) else 4)
    os._exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
session.run(y, {"x:0": [1, 2, 3]})
"""
    done = run(START + program, {"RHEOS_OPENCL": "cpu"})
    assert done.returncode == 0, done.stderr


def test_second_version():
    program = """
import numpy as np
import rheos.v2 as tf

cards = tf.config.list_physical_devices("GPU")
if not cards:
    raise SystemExit(77)
assert cards[0].name == "/physical_device:GPU:0"
tf.config.experimental.set_memory_growth(cards[0], True)
assert tf.config.experimental.get_memory_growth(cards[0])
assert tf.config.experimental.get_device_details(cards[0])["device_name"]
assert [d.name for d in tf.config.list_logical_devices()] == ["/device:CPU:0", "/device:GPU:0"]


def train(device):
    with tf.device(device):
        w = tf.Variable(tf.ones([3, 2]))
    optimizer = tf.keras.optimizers.Adam(0.1)

    @tf.function
    def step(x, y):
        with tf.device(device):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.tanh(x @ w) - y) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    rng = np.random.RandomState(0)
    x, y = rng.rand(8, 3).astype("f"), rng.rand(8, 2).astype("f")
    with tf.device(device):
        once = tf.linalg.matmul(x, y, transpose_a=True) + 1
    return [float(step(x, y)) for _ in range(10)] + list(once.numpy().ravel())


np.testing.assert_allclose(train("/GPU:0"), train("/CPU:0"), rtol=1e-5)
"""
    done = run(program, {"RHEOS_OPENCL": "cpu"})
    assert done.returncode == 0, done.stderr
