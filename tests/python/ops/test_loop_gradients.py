"""Gradients of loops against TensorFlow 1.15: tests/golden/make_loop_gradients.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
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


def condition(i, x):
    return tf.cond(tf.equal(i % 2, 0), lambda: x * x, lambda: tf.sin(x))


def array_of_products(x):
    read = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    write = tf.TensorArray(tf.float32, 3)

    def body(i, write):
        return i + 1, write.write(i, read.read(i) * read.read(2 - i))

    return tf.while_loop(lambda i, write: i < 3, body, [0, write])[1].stack()


def of_any_length(x):
    def body(i, y):
        y = tf.concat([y, x], 0)[:3]
        return i + 1, tf.cond(i > 0, lambda: y * x, lambda: x)

    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    return tf.while_loop(lambda i, y: i < 3, body, [0, x], shape_invariants=shapes)[1]


IMPORTED = {
    "power": lambda x: repeat(3, lambda i, y: y * x, x),
    "invariant": lambda x: repeat(3, lambda i, y: y + tf.sin(x * 2.0), tf.ones([3])),
    "unused variable": lambda x: tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, b * x, a + x), [0, x, x * 2.0]
    )[1],
    "nested": lambda x: repeat(3, lambda i, y: repeat(i + 1, lambda j, z: z * x + y, y), x),
    "conditional inside": lambda x: repeat(4, condition, x),
    "side that changes nothing": lambda x: repeat(
        4, lambda i, y: tf.cond(i < 2, lambda: y, lambda: y * x), x
    ),
    "conditionals in one another": lambda x: repeat(
        5, lambda i, y: tf.cond(i > 2, lambda: condition(i, y) * x, lambda: y - x), x
    ),
    "loop in a conditional": lambda x: tf.cond(
        x[0] > 0.0, lambda: repeat(2, lambda i, y: y * x, x), lambda: x * 5.0
    ),
    "loop in a conditional in a loop": lambda x: repeat(
        3,
        lambda i, y: tf.cond(
            i < 1, lambda: repeat(2, lambda j, z: z * tf.sin(x), y), lambda: y * x
        ),
        x,
    ),
    "two conditionals of one predicate": lambda x: tf.cond(
        x[1] > 0.0, lambda: tf.cond(x[1] > 0.0, lambda: x * x, lambda: x), lambda: x
    ),
    "map": lambda x: tf.map_fn(lambda v: tf.cond(v > 1.5, lambda: v * v, lambda: v * x[0]), x),
    "map in a map": lambda x: tf.map_fn(
        lambda v: tf.reduce_sum(tf.map_fn(lambda u: u * u * v, x)), x
    ),
    "scan": lambda x: tf.scan(lambda a, v: a * v + tf.sin(a), x),
    "arrays": array_of_products,
    "rows": lambda x: repeat(3, lambda i, y: y + tf.gather(x, [i, 0, i]) * y, x),
    "any length": of_any_length,
}


def imported_plainly(made, x):
    return tf.import_graph_def(made, {"x:0": x}, ["y:0"], name="")[0]


def imported_twice(made, x):
    once = imported_plainly(made, x)
    return (once + tf.import_graph_def(made, {"x:0": x}, ["y:0"], name="twice")[0]) / 2.0


def imported_in_a_branch(made, x):
    return tf.cond(x[0] > -9.0, lambda: imported_plainly(made, x), lambda: x)


def imported_in_a_loop(made, x):
    return repeat(1, lambda i, y: y + tf.reshape(imported_plainly(made, x), [3]), x) - x


@pytest.mark.parametrize(
    "take", [imported_plainly, imported_twice, imported_in_a_branch, imported_in_a_loop]
)
@pytest.mark.parametrize("name", list(IMPORTED))
def test_graph_of_a_file__has_the_gradients_of_the_program(name, take):
    at = np.array([1.0, 2.0, 0.5], np.float32)
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.identity(IMPORTED[name](x), name="y")
    made = tf.get_default_graph().as_graph_def()
    wanted = run(tf.gradients(y, x)[0], {x: at})
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3])
        own = IMPORTED[name](x)
        y = take(made, x)
        np.testing.assert_allclose(run(tf.gradients(y + own, x)[0], {x: at}), 2 * wanted, 1e-5)


def test_frozen_network_of_a_loop__has_gradients_also_beside_its_own():
    at = np.full((2, 3, 4), 0.3, np.float32)
    x = tf.placeholder(tf.float32, [None, 3, 4], name="x")
    cell = tf.nn.rnn_cell.LSTMCell(5, initializer=tf.ones_initializer())
    lengths = tf.constant([3, 2])
    y = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=lengths)[0]
    y = tf.identity(tf.map_fn(lambda v: condition(tf.size(v), v), y), name="y")
    slope = tf.gradients(y, x)[0]  # its loops come with the file too
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(slope, {x: at})
        made = tf.get_default_graph().as_graph_def()
        made = tf.graph_util.convert_variables_to_constants(session, made, ["y", slope.op.name])
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(made, return_elements=["x:0", "y:0"], name="")
        np.testing.assert_allclose(run(tf.gradients(y, x)[0], {x: at}), wanted, 1e-5)


def test_second_gradient_of_a_graph_of_a_file__is_refused():
    x = tf.placeholder_with_default(2.0, [], name="x")
    slope = tf.gradients(repeat(3, lambda i, y: y * x, 1.0), x)[0]
    made = tf.train.export_meta_graph()
    for take in (lambda: tf.import_graph_def(made.graph_def, name=""),
                 lambda: tf.train.import_meta_graph(made)):  # fmt: skip
        with tf.Graph().as_default() as graph:
            take()
            y, x = (graph.get_tensor_by_name(t.name) for t in (slope, x))
            with pytest.raises(TypeError, match=r"enable_control_flow_v2\(\)"):
                tf.gradients(y, x)


def test_loop_of_a_form_that_no_program_gives__is_refused():
    y = repeat(3, lambda i, x: x * x, tf.constant(2.0, name="x"))
    made, name = tf.get_default_graph().as_graph_def(), y.name
    (merge,) = (node for node in made.node if node.name == "while/Merge_1")
    merge.input.reverse()
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError):
            tf.import_graph_def(made, name="")
    merge.input.reverse()
    (condition,) = (node for node in made.node if node.op == "LoopCond")
    condition.op = "Identity"
    condition.attr["T"].type = tf.bool.as_datatype_enum
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
