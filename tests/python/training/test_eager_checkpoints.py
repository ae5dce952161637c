"""tf.train.Checkpoint and its manager where operations run at once."""

import json
import os
import subprocess

import numpy as np
import pytest
import rheos.v2
from rheos.framework import defaults, eager, errors
from tensorflow_process import INTERPRETER, is_tensorflow_1

tf = rheos.v2
OBJECTS = os.path.join(os.path.dirname(__file__), "../../golden/checkpoints/objects")


@pytest.fixture(autouse=True)
def run_at_once():
    """Operations run at once during the test."""
    before = defaults._eager_graph
    eager.enable_eager_execution()
    yield
    defaults.set_eager_graph(before)


def model(scale):
    made = tf.Module()
    made.w = tf.Variable(np.full([2, 2], scale, np.float32))
    made.parts = [tf.Variable(scale), {"a": tf.Variable([int(scale)] * 3)}]
    return made


def test_values_come_back(tmp_path):
    saved = tf.train.Checkpoint(model=model(2.0), step=tf.Variable(7, dtype=tf.int64))
    path = saved.save(tmp_path / "ck")
    assert path == tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "ck-1")
    key = "model/parts/1/a/.ATTRIBUTES/VARIABLE_VALUE"
    assert dict(tf.train.list_variables(path))[key] == [3]
    assert tf.train.load_variable(path, key).tolist() == [2, 2, 2]
    again = tf.train.Checkpoint(model=model(0.0), step=tf.Variable(0, dtype=tf.int64))
    again.restore(path).assert_consumed().assert_existing_objects_matched()
    assert (again.model.w.numpy() == 2.0).all()
    assert (again.step.numpy(), again.save_counter.numpy()) == (7, 1)


def test_tensorflow_s_are_restored_now_and_later():
    root = tf.train.Checkpoint(model=tf.Module())
    status = root.read(OBJECTS)
    with pytest.raises(AssertionError, match="Unresolved object"):
        status.assert_consumed()
    root.model.w = tf.Variable(tf.zeros([2, 3]))
    assert root.model.w.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    root.model.b = tf.Variable(tf.zeros([3]))
    root.step = tf.Variable(0, dtype=tf.int64)
    assert root.step.numpy() == 7
    status.assert_consumed()


def test_what_does_not_fit_says_so():
    root = tf.train.Checkpoint(step=tf.Variable([0, 0], dtype=tf.int64))
    with pytest.raises(ValueError, match="not compatible"):
        root.restore(OBJECTS)
    with pytest.raises(errors.NotFoundError):
        root.restore(OBJECTS + "-none")


def test_functions_see_what_was_restored(tmp_path):
    v = tf.Variable(1.0)
    doubled = tf.function(lambda: v * 2.0)
    path = tf.train.Checkpoint(v=v).write(tmp_path / "one")
    v.assign(5.0)
    assert doubled().numpy() == 10.0
    tf.train.Checkpoint(v=v).read(path)
    assert doubled().numpy() == 2.0


def test_a_manager_keeps_the_newest(tmp_path):
    root = tf.train.Checkpoint(v=tf.Variable(0.0))
    manager = tf.train.CheckpointManager(root, str(tmp_path), max_to_keep=2)
    assert manager.restore_or_initialize() is None
    for n in range(4):
        root.v.assign(float(n))
        manager.save()
    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-3", "ckpt-4"]
    root.v.assign(9.0)
    assert manager.restore_or_initialize() == manager.latest_checkpoint
    assert root.v.numpy() == 3.0
    again = tf.train.CheckpointManager(root, str(tmp_path), max_to_keep=2)
    assert again.checkpoints == manager.checkpoints


@pytest.mark.skipif(
    INTERPRETER is None or is_tensorflow_1(), reason="there is no TensorFlow 2 to compare with"
)
def test_tensorflow_restores_what_is_saved_here(tmp_path):
    path = tf.train.Checkpoint(model=model(2.0)).save(tmp_path / "ck")
    script = f"""
import json
import tensorflow as tf
m = tf.Module()
m.w = tf.Variable(tf.zeros([2, 2])); m.parts = [tf.Variable(0.), {{"a": tf.Variable([0, 0, 0])}}]
root = tf.train.Checkpoint(model=m)
root.restore({path!r}).assert_consumed()
print(json.dumps([v.numpy().tolist() for v in (m.w, m.parts[0], m.parts[1]["a"])]))
"""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([INTERPRETER, "-c", script], env=environment, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [[[2.0, 2.0]] * 2, 2.0, [2, 2, 2]]


def table(*entries):
    made = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, -1.0])
    for key, value in entries:
        made.insert([key], [[value, value]])
    return made


def test_tables_come_back(tmp_path):
    saved = tf.train.Checkpoint(t=table(("a", 1.0), ("b", 2.0)), parts=[table()])
    path = saved.save(tmp_path / "ck")
    shapes = dict(tf.train.list_variables(path))
    assert shapes["t/.ATTRIBUTES/table-keys"] == [2]
    assert shapes["t/.ATTRIBUTES/table-values"] == [2, 2]
    assert shapes["parts/0/.ATTRIBUTES/table-values"] == [0, 2]

    other = tf.train.Checkpoint(t=table(("b", 9.0), ("c", 9.0)), parts=[table(("c", 9.0))])
    other.restore(path).assert_consumed()
    assert other.t.lookup(tf.constant(["b", "a", "c"])).numpy().tolist() == [
        [2, 2], [1, 1], [0, -1]
    ]  # fmt: skip
    assert other.parts[0].size().numpy() == 0

    late = tf.train.Checkpoint()
    late.restore(path)
    late.t = table()
    assert late.t.size().numpy() == 2


def test_tables_that_were_not_restored_are_told_of(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "ck")
    status = tf.train.Checkpoint(t=table()).restore(path)
    with pytest.raises(AssertionError, match="for the table MutableHashTable at t"):
        status.assert_existing_objects_matched()


def test_dense_tables_are_saved_and_restored(tmp_path):
    def table():
        return tf.lookup.experimental.DenseHashTable(tf.int64, tf.string, "?", 0, -1)

    full = table()
    full.insert(tf.constant([3, 4], tf.int64), ["c", "d"])
    path = tf.train.Checkpoint(table=full).save(str(tmp_path / "c"))
    empty = table()
    tf.train.Checkpoint(table=empty).restore(path).assert_consumed()
    assert empty.lookup(tf.constant([4, 5], tf.int64)).numpy().tolist() == [b"d", b"?"]
