"""`rheos show --placement --gpus`: where nodes go on machines with graphics cards, by the rules of
TensorFlow 2.21's placer. Where those are not followed, the row says what TensorFlow does and why
not. No card is needed for it."""

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
    numbers = tf.placeholder(tf.int32, [2], name="numbers")
    doubles = tf.placeholder(tf.float64, [2], name="doubles")
    tf.add(floats, floats, name="add")
    tf.add(doubles, doubles, name="add_doubles")
    tf.add(numbers, numbers, name="add_numbers")
    tf.cast(numbers, tf.float32, name="cast")
    tf.complex(floats, floats, name="complex")
    tf.shape(floats, name="shape")
    tf.strings.join([tf.constant("a"), tf.constant("b")], name="text")
    tf.data.Dataset.range(3)
    tf.FIFOQueue(3, [tf.float32], name="queue").dequeue(name="taken")
    tf.cond(tf.constant(True), lambda: floats * 2, lambda: floats, name="cond")
    with tf.device("/cpu:0"):
        tf.tanh(floats, name="asks_for_cpu")
        on_cpu = tf.get_variable("on_cpu", [2, 2])
    with tf.device("/gpu:1"):
        tf.tanh(floats, name="asks_for_second")
        on_second = tf.get_variable("on_second", [2, 2])
    with tf.device("/gpu:0"):
        tf.strings.upper("a", name="no_kernel")
        tf.add(numbers, numbers, name="asks_with_numbers")
    with tf.device("/gpu:7"):
        tf.tanh(floats, name="no_such_card")
    free = tf.get_variable("free", [2, 2])
    tf.assign_add(on_cpu, floats, name="add_on_cpu")
    tf.assign_add(on_second, floats, name="add_on_second")
    tf.assign_add(free, floats, name="add_to_free")
    with tf.colocate_with(on_second.op):
        tf.sigmoid(floats, name="colocated")
    step = tf.get_variable("step", [], tf.int64, initializer=tf.zeros_initializer())
    tf.assign_add(step, 1, name="add_to_step")


# The node, where it is, and the rule.
ROWS = [
    ("add", GPU, "kernels of both kinds: the kind of higher priority, the first card"),
    ("add_doubles", GPU, "likewise"),
    ("cast", GPU, "one of its dtypes is of floats"),
    ("cond/mul", GPU, "branches are placed as anything else"),
    # TensorFlow puts these two on the card with their values in the host's memory; here they are
    # where their values are.
    ("add_numbers", CPU, "what is not of floats stays on the CPU"),
    ("shape", CPU, "it gives whole numbers"),
    ("text", CPU, "strings are the host's"),
    ("complex", CPU, "no kernel"),
    ("taken", CPU, "a queue is the host's"),
    ("asks_for_cpu", CPU, "asked for"),
    ("asks_for_second", SECOND, "asked for"),
    ("asks_with_numbers", GPU, "asked for, and there is a kernel"),
    ("no_kernel", CPU, "soft placement"),
    ("no_such_card", GPU, "soft placement asks for nothing: as add"),
    ("on_cpu", CPU, "asked for"),
    ("on_second", SECOND, "asked for"),
    ("free", GPU, "a variable of floats has kernels on a card"),
    ("add_on_cpu", CPU, "who takes a reference is with who gives it"),
    ("add_on_second", SECOND, "likewise"),
    ("add_to_free", GPU, "likewise"),
    ("colocated", SECOND, "colocated"),
    # TensorFlow has kernels for variables of int64 on cards.
    ("add_to_step", CPU, "beside its variable, which is not of floats"),
]
WHY = {
    "add": "the fastest device with a kernel",
    "add_numbers": "what is not of floats stays on the CPU",
    "complex": "no kernel for Complex of float on GPU",
    "text": "its values are in the host's memory only",
    "asks_for_second": "asked for",
    "add_to_free": "beside free, whose reference or handle it takes",
    "no_kernel": "soft placement: no kernel where it asks to be",
    "no_such_card": "soft placement: what it asks for is not there",
}


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
    given = {name: rows[name]["given"] for name, _, _ in ROWS}
    assert given == {name: device for name, device, _ in ROWS}
    assert {name: rows[name]["why"] for name in WHY} == WHY


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
