"""What tests of `rheos view` share: running it, graphs and logs to look at."""

import contextlib
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
GOLDEN = SOURCE / "tests" / "golden"
TRAINING = GOLDEN / "meta_graphs" / "training.meta"

def view(*arguments, **options):
    return subprocess.run(
        [BUILD / "bin" / "rheos", "view", *arguments], capture_output=True, timeout=120, **options
    )


def json_of(path):
    done = view("--json", path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_graph(path, *nodes):
    """A text GraphDef of (name, op, inputs...)."""
    with open(path, "w") as file:
        for name, op, *inputs in nodes:
            quoted = "".join(f" input: {json.dumps(i)}" for i in inputs)
            file.write(f"node {{ name: {json.dumps(name)} op: {json.dumps(op)}{quoted} }}\n")
    return path


@contextlib.contextmanager
def served(path, *options):
    """The port that `rheos view --serve` answers at."""
    command = [BUILD / "bin" / "rheos", "view", "--serve", path, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line and "libmicrohttpd" in process.stderr.read():
            pytest.skip("this build or system has no libmicrohttpd")
        ready = re.fullmatch(r"ready http://127\.0\.0\.1:(\d+)/\n", line)
        assert ready, line
        yield int(ready[1])
        process.terminate()
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """What a training of two runs leaves, with a traced step."""
    folder = tmp_path_factory.mktemp("logs")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.variable_scope("layer"):
            w = tf.get_variable("w", [4, 3])
            y = tf.nn.relu(tf.matmul(x, w))
        loss = tf.reduce_mean(y, name="loss")
        tf.summary.scalar("loss", loss)
        tf.summary.histogram("weights", w)
        tf.summary.image("picture", tf.reshape(w, [1, 4, 3, 1]))
        merged = tf.summary.merge_all()
        session.run(tf.global_variables_initializer())
        train = tf.summary.FileWriter(str(folder / "train"), graph)
        test = tf.summary.FileWriter(str(folder / "test"))
        for step in range(5):
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            feed = {x: np.full([8, 4], step + 1, np.float32)}
            train.add_summary(session.run(merged, feed, options, metadata), step)
        train.add_run_metadata(metadata, "last step", 4)
        bad = tf.Summary(value=[tf.Summary.Value(tag="loss_1", simple_value=float("nan"))])
        test.add_summary(bad, 3)
        train.close()
        test.close()
    return folder
