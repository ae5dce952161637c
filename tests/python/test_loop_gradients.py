"""Gradients of loops against TensorFlow 1.15: tests/golden/make_loop_gradients.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from make_loop_gradients import PROGRAMS, TRIPS, build, compute  # noqa: E402

RECORDED = json.loads((GOLDEN / "loop_gradients.json").read_text())["programs"]

OTHER_NODES = {"reductions"}  # less is known of shapes


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in OTHER_NODES])
def test_gradient__is_made_of_the_same_nodes(name):
    made, _, _ = build(tf, name)
    recorded = RECORDED[name]
    assert [node[0] for node in made["nodes"]] == [node[0] for node in recorded["nodes"]]
    assert made["nodes"] == recorded["nodes"]
    assert made["contexts"] == recorded["contexts"]


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_gradient__has_the_same_values(name):
    _, slopes, n = build(tf, name)
    made, recorded = compute(tf, slopes, n), RECORDED[name]["values"]
    assert made[0] == recorded[0]
    for trips, values, wanted in zip(TRIPS, made[1:], recorded[1:], strict=True):
        if wanted is None:  # TensorFlow fails
            continue
        for value, one in zip(values, wanted, strict=True):
            np.testing.assert_allclose(value, one, rtol=2e-5, atol=1e-6, err_msg=str(trips))


def repeat(trips, body, x):
    return tf.while_loop(lambda i, x: i < trips, lambda i, x: (i + 1, body(i, x)), [0, x])[1]


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def test_many_trips__have_gradients():
    x, w = tf.constant(1.0, tf.float64), tf.constant(1.0 + 1e-5, tf.float64)
    slopes = tf.gradients(repeat(100_000, lambda i, x: x * w, x), [x, w])
    at = 1.0 + 1e-5
    np.testing.assert_allclose(run(slopes), [at**100_000, 1e5 * at**99_999], rtol=1e-9)


def test_resource_variable_of_one_branch__has_gradients_in_and_out_of_loops():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    p = tf.placeholder(tf.bool, [])
    slope = tf.gradients(tf.cond(p, lambda: tf.reduce_sum(v * v), lambda: tf.constant(1.0)), v)[0]
    one = tf.ones([2])
    y = repeat(3, lambda i, x: tf.cond(i < 1, lambda: x * v, lambda: x + 1.0), one)
    in_loop = tf.gradients(tf.reduce_sum(tf.square(y - 2.0)), v)[0]
    for value, wanted in ((True, [2.0, 4.0]), (False, [0.0, 0.0])):
        made = run([slope, in_loop], {p: value})
        np.testing.assert_allclose(made, [wanted, [2.0, 4.0]])


def test_optimizer__minimizes_through_a_loop():
    v = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(tf.square(repeat(3, lambda i, x: x * v, tf.ones([2])) - 2.0))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(300):
            session.run(step)
        np.testing.assert_allclose(session.run(v), [2 ** (1 / 3)] * 2, rtol=1e-5)


def test_gradients_of_the_program__are_asked_in_the_loop():
    @tf.custom_gradient
    def tenfold(x):
        return tf.sin(x), lambda slope: slope * tf.cos(x) * 10.0

    x = tf.constant([0.5, 0.25], tf.float64)
    made = run(tf.gradients(repeat(2, lambda i, x: tenfold(x), x), x)[0])
    at = np.array([0.5, 0.25])
    np.testing.assert_allclose(made, np.cos(at) * np.cos(np.sin(at)) * 100.0)


def test_loop_of_a_meta_graph__has_the_same_gradients():
    x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
    w = tf.constant([0.5, 1.5], name="w")
    y = repeat(3, lambda i, x: tf.cond(i < 1, lambda: x * w, lambda: tf.sin(x)), x)
    wanted = run(tf.gradients(tf.identity(y, name="y"), [x, w]))
    made = tf.train.export_meta_graph()
    for scope in ("", "in/"):
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph(made, import_scope=scope[:-1] or None)
            y, x, w = (graph.get_tensor_by_name(f"{scope}{name}:0") for name in "yxw")
            np.testing.assert_allclose(run(tf.gradients(y, [x, w])), wanted)


def test_exported_gradients__compute_the_same():
    x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
    slope = tf.identity(tf.gradients(repeat(3, lambda i, x: x * x, x), x)[0], name="slope")
    wanted, made = run(slope), tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(made)
        np.testing.assert_array_equal(run(graph.get_tensor_by_name("slope:0")), wanted)


def test_loop_without_contexts__is_refused():
    y = repeat(3, lambda i, x: x * x, tf.constant(2.0, name="x"))
    made, name = tf.get_default_graph().as_graph_def(), y.name
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(made, name="")
        with pytest.raises(tf.errors.UnimplementedError, match="has no context"):
            tf.gradients(graph.get_tensor_by_name(name), graph.get_tensor_by_name("x:0"))


def test_gradient_through_the_initial_value__is_refused_inside():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="through the initial value"):
        repeat(2, lambda i, z: tf.gradients(z * z, x)[0], x)


def test_gradients_of_gradients_of_loops_are_refused_as_by_tensorflow():
    x = tf.placeholder_with_default(2.0, [])
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [0, x])[1]
    (slope,) = tf.gradients(y, x)
    with pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
        tf.gradients(slope, x)
    assert tf.gradients(tf.stop_gradient(slope), x) == [None]
