"""`rheos show --placement --gpus`: where nodes go on machines with graphics cards, and why. No card
is needed for it."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import rheos.v1 as tf

BUILD = Path(os.environ.get("RHEOS_BUILD", Path(__file__).resolve().parent.parent / "build"))
CPU, GPU, SECOND = (
    f"/job:localhost/replica:0/task:0/device:{name}" for name in ("CPU:0", "GPU:0", "GPU:1")
)


def build():
    floats = tf.placeholder(tf.float32, [2, 2], name="floats")
    numbers = tf.placeholder(tf.int64, [2], name="numbers")
    tf.add(floats, floats, name="add")
    tf.add(numbers, numbers, name="add_numbers")
    tf.strings.join([tf.constant("a"), tf.constant("b")], name="text")
    tf.linalg.sqrtm(floats, name="only_on_cpus")
    right = tf.equal(tf.argmax(floats, 1), numbers, name="right")
    tf.reduce_all(right, name="all_right")
    tf.add(tf.shape(floats), 1, name="after_shape")
    free = tf.get_variable("free", [2, 2])
    with tf.device("/gpu:1"):
        there = tf.tanh(floats, name="asks_for_second")
        on_second = tf.get_variable("on_second", [2, 2], use_resource=True)
        guess = tf.argmax(there, 1)
    tf.equal(guess, numbers, name="right_on_second")
    with tf.device("/gpu:0"):
        tf.strings.upper("a", name="no_kernel")
        tf.add(numbers, numbers, name="asks_with_numbers")
        tf.raw_ops.AssignAddVariableOp(
            resource=on_second.handle, value=floats, name="asks_to_add_elsewhere"
        )
    with tf.device("/gpu:7"):
        tf.tanh(floats, name="no_such_card")
    tf.assign_add(free, floats, name="add_to_free")
    with tf.colocate_with(on_second.op):
        tf.sigmoid(floats, name="colocated")
    with tf.colocate_with(tf.constant(1.0, name="one").op):
        tf.sigmoid(floats, name="beside_a_constant")
    step = tf.get_variable("step", [], tf.int64, initializer=tf.zeros_initializer())
    tf.assign_add(step, 1, name="add_to_step")


# The node, where it is, and why.
ROWS = [
    ("add", GPU, "the fastest device with a kernel"),
    ("add_numbers", CPU, "what is not of floats stays on the CPU"),
    ("text", CPU, "its values are in the host's memory only"),
    ("only_on_cpus", CPU, "no kernel for MatrixSquareRoot of float on GPU"),
    ("right", GPU, "the device that computes what it takes"),
    ("all_right", GPU, "the device that computes what it takes"),
    ("right_on_second", SECOND, "the device that computes what it takes"),
    ("after_shape", CPU, "what is not of floats stays on the CPU"),
    ("asks_for_second", SECOND, "asked for"),
    ("asks_with_numbers", GPU, "asked for"),
    ("no_kernel", CPU, "soft placement: no kernel where it asks to be"),
    ("no_such_card", GPU, "soft placement: what it asks for is not there"),
    ("add_to_free", GPU, "beside free, whose reference or handle it takes"),
    ("asks_to_add_elsewhere", SECOND, "beside on_second, whose reference or handle it takes"),
    ("add_to_step", CPU, "beside step, whose reference or handle it takes"),
    ("colocated", SECOND, "asked for"),
    ("beside_a_constant", GPU, "the fastest device with a kernel"),
]


def show(path, *options):
    command = [BUILD / "bin/rheos", "show", "--placement", "--json", *options, path]
    return subprocess.run(command, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    with tf.Graph().as_default() as made:
        build()
    path = tmp_path_factory.mktemp("placed") / "graph.pb"
    path.write_bytes(made.as_graph_def().SerializeToString())
    return path


def test_table(graph):
    done = show(graph, "--gpus=2", "--soft-placement")
    assert done.returncode == 0, done.stderr
    rows = {row["node"]: row for row in json.loads(done.stdout)["placement"]}
    assert [(name, rows[name]["given"], rows[name]["why"]) for name, _, _ in ROWS] == ROWS


def test_errors_list_what_is_there(graph):
    done = show(graph, "--gpus=2")
    assert done.returncode == 1
    assert "no supported kernel for GPU devices is available" in done.stderr.decode()
    with tf.Graph().as_default() as made:
        with tf.device("/gpu:7"):
            tf.tanh(tf.placeholder(tf.float32, []), name="y")
    graph.with_name("missing.pb").write_bytes(made.as_graph_def().SerializeToString())
    error = show(graph.with_name("missing.pb"), "--gpus=2").stderr.decode()
    assert "/device:GPU:7" in error and all(name in error for name in (CPU, GPU, SECOND))
