"""Files of Rheos opened by the real TensorFlow, and the other way round.

TensorFlow is looked for in the interpreter named by RHEOS_TENSORFLOW_PYTHON, else in this one, and
runs in a process of its own. Where there is none, these tests are skipped.
"""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

tf = pytest.importorskip("rheos.v1")

INTERPRETER = os.environ.get("RHEOS_TENSORFLOW_PYTHON") or (
    sys.executable if importlib.util.find_spec("tensorflow") else None)

pytestmark = pytest.mark.skipif(INTERPRETER is None, reason="TensorFlow is not installed here")

PREAMBLE = """
import glob, json, sys
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
folder = sys.argv[1]
def answer(value):
    print("answer: " + json.dumps(value))
"""


def tensorflow(script, folder):
    """Runs a script with TensorFlow; what it gives to answer() comes back."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([INTERPRETER, "-c", PREAMBLE + script, str(folder)], env=environment,
                          capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("answer: ")]
    assert lines, done.stderr
    return json.loads(lines[-1].removeprefix("answer: "))


def save_model(folder):
    """A trained step of a small model with a saver; returns the value of its weights."""
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0], name="w")
        loss = tf.reduce_sum(tf.square(w), name="loss")
        train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            saver.save(session, str(folder / "model"))
            writer = tf.summary.FileWriter(str(folder), graph)
            writer.close()
            return session.run(w).tolist()


def test_tensorflow_reads_the_checkpoint(tmp_path):
    weights = save_model(tmp_path)
    assert weights == [0.5, 1.0]
    assert tensorflow("""
reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
answer(reader.get_tensor("w").tolist())
""", tmp_path) == weights


def test_tensorflow_runs_the_graph_of_the_event_file(tmp_path):
    weights = save_model(tmp_path)
    answer = tensorflow("""
events = list(tf.train.summary_iterator(glob.glob(folder + "/events*")[0]))
graph = tf.GraphDef.FromString([e.graph_def for e in events if e.HasField("graph_def")][0])
tf.import_graph_def(graph, name="")
with tf.Session() as session:
    session.run("save/restore_all", {"save/Const:0": folder + "/model"})
    answer([events[0].file_version, session.run("w:0").tolist(), float(session.run("loss:0"))])
""", tmp_path)
    assert answer == ["brain.Event:2", weights, 1.25]


def test_the_checkpoint_of_tensorflow_is_read(tmp_path):
    tensorflow("""
tf.get_variable("a", initializer=[[1.0, 2.0], [3.0, 4.0]])
tf.get_variable("b", initializer=b"text")
saver = tf.train.Saver()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    answer(saver.save(session, folder + "/model", global_step=3))
""", tmp_path)
    with tf.Graph().as_default():
        a = tf.get_variable("a", shape=[2, 2])
        saver = tf.train.Saver()
        with tf.Session() as session:
            saver.restore(session, tf.train.latest_checkpoint(str(tmp_path)))
            np.testing.assert_array_equal(session.run(a), [[1, 2], [3, 4]])
