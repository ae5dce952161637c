"""Programs with variables against what TensorFlow 1.15 built and computed: make_variables.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_variables import COMPUTED, PROGRAMS, record  # noqa: E402

RECORDED = json.loads((GOLDEN / "variables.json").read_text())


def check(made, recorded):
    if isinstance(recorded, list):
        assert len(made) == len(recorded)
        for one, other in zip(made, recorded, strict=True):
            check(one, other)
    elif isinstance(recorded, float):
        np.testing.assert_allclose(made, recorded, rtol=1e-5, atol=1e-6)
    else:
        assert made == recorded


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program__builds_and_computes_the_same(name):
    made = record(tf, name)
    if name not in COMPUTED:
        nodes = {node[0]: node[1:] for node in made["nodes"]}
        assert nodes == {node[0]: node[1:] for node in RECORDED[name]["nodes"]}
    check(made["values"], RECORDED[name]["values"])


def test_partitioned_variable__is_saved_as_one_tensor(tmp_path):
    with tf.Graph().as_default():
        parts = tf.get_variable(
            "v",
            initializer=tf.reshape(tf.range(10.0), [5, 2]),
            partitioner=tf.fixed_size_partitioner(2),
        )
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(parts.as_tensor()))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            whole = session.run(parts.as_tensor())
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default():
        v = tf.get_variable("v", [5, 2])
        slot = tf.get_variable("v/Adagrad", [5, 2])
        thirds = tf.get_variable(
            "w", [5, 2], use_resource=True, partitioner=tf.fixed_size_partitioner(3)
        )
        with tf.Session() as session:
            tf.train.Saver({"v": v, "v/Adagrad": slot}).restore(session, path)
            tf.train.Saver({"v": thirds}).restore(session, path)
            np.testing.assert_array_equal(session.run(v), whole)
            np.testing.assert_allclose(session.run(slot), 1.1)
            np.testing.assert_array_equal(session.run(thirds.as_tensor()), whole)


@pytest.mark.parametrize(
    "partitioner, message",
    [
        (lambda shape, dtype: [2, 2], "does not match the Variable's rank"),
        (lambda shape, dtype: 3, "must return a sequence, but saw: 3"),
        (lambda shape, dtype: [0], "zero partitions"),
        (3, "Partitioner must be callable, but received: 3"),
    ],
)
def test_get_variable__refuses_bad_partitioners(partitioner, message):
    with pytest.raises(ValueError, match=message):
        tf.get_variable("v", [4], partitioner=partitioner)


def test_get_variable__tells_parts_and_wholes_apart():
    halves = tf.fixed_size_partitioner(2)
    tf.get_variable("parts", [4], partitioner=halves)
    tf.get_variable("whole", [4])
    for reuse in (True, tf.AUTO_REUSE):
        with tf.variable_scope("", reuse=reuse):
            assert len(tf.get_variable("parts", [4], partitioner=halves)) == 2
            with pytest.raises(ValueError, match=r"specified partitions \[4\] and found part"):
                tf.get_variable("parts", [4], partitioner=tf.fixed_size_partitioner(4))
            with pytest.raises(ValueError, match="specified shape"):
                tf.get_variable("parts", [5], partitioner=halves)
            with pytest.raises(ValueError, match="unpartitioned version of the variable"):
                tf.get_variable("whole", [4], partitioner=halves)
    with pytest.raises(ValueError, match="Partitioned variable with name parts already exists"):
        tf.get_variable("parts", [4], partitioner=halves)
    with pytest.raises(ValueError, match="No partitioner was provided, but a partitioned version"):
        tf.get_variable("parts", [4])


def test_variable_creator_scope__is_asked_for_each_variable():
    seen = []

    def creator(next_creator, **arguments):
        seen.append(arguments["name"])
        return next_creator(**{**arguments, "use_resource": True, "trainable": False})

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="v")
        w = tf.get_variable("w", [2])
    assert seen == ["v", "w"]
    assert v.handle.dtype == w.handle.dtype == tf.resource
    assert tf.trainable_variables() == []
    assert not hasattr(tf.Variable(1.0), "handle")


def test_init_scope__waits_for_nothing():
    first = tf.no_op("first")
    with tf.name_scope("n"), tf.control_dependencies([first]):
        with tf.init_scope():
            inside = tf.no_op("inside")
        outside = tf.no_op("outside")
    assert inside.name == "n/inside" and inside.control_inputs == []
    assert outside.control_inputs == [first]


def test_resource_variables__can_be_the_default():
    assert not tf.resource_variables_enabled()
    tf.enable_resource_variables()
    try:
        assert tf.resource_variables_enabled()
        assert tf.Variable(1.0).handle.dtype == tf.resource
        with tf.variable_scope("s", use_resource=False):
            assert not hasattr(tf.get_variable("v", []), "handle")
    finally:
        tf.disable_resource_variables()


def test_resource_variable__refuses_what_does_not_fit(sess):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(1,\) are incompatible"):
        v.assign([1.0])
    with pytest.raises(ValueError, match="requested dtype float32 for Tensor with dtype int32"):
        v.assign(tf.constant([1, 2]))
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
        v.scatter_add(3)
    with pytest.raises(ValueError, match="'int32' for variable of type 'float32'"):
        tf.convert_to_tensor(v, tf.int32)
    with pytest.raises(ValueError, match="not compatible with the explicitly supplied `shape`"):
        tf.Variable([1.0, 2.0], use_resource=True, shape=[3])
    with pytest.raises(NotImplementedError, match="set_shape"):
        v.set_shape([2])
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: 7"):
        tf.Variable(1.0, aggregation=7)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        sess.run(v)
