"""Graphs for use elsewhere: frozen, cut out, thinned."""

import numpy as np
import pytest
import rheos.v1 as tf

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def model(use_resource):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.variable_scope("", use_resource=use_resource):
        h = tf.layers.dense(x, 4, activation=tf.nn.relu)
        table = tf.get_variable("table", [5, 4])
        h += tf.gather(table, tf.constant([1, 3]), name="rows")
        y = tf.identity(tf.layers.dense(h, 2), name="y")
    loss = tf.reduce_mean(y)
    tf.train.AdamOptimizer().minimize(loss)


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_become_constants(use_resource):
    with tf.Session() as sess:
        model(use_resource)
        sess.run(tf.global_variables_initializer())
        expected = sess.run("y:0", {"x:0": X})
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, sess.graph.as_graph_def(), ["y"]
        )
        partly = tf.graph_util.convert_variables_to_constants(
            sess, sess.graph_def, ["y"], variable_names_blacklist=["dense/bias"]
        )
    ops = {node.op for node in frozen.node}
    assert not ops & {"VariableV2", "VarHandleOp", "ReadVariableOp", "ResourceGather", "Assign"}
    with tf.Graph().as_default(), tf.Session() as sess:
        [y] = tf.import_graph_def(frozen, return_elements=["y:0"], name="")
        np.testing.assert_array_equal(sess.run(y, {"x:0": X}), expected)
    kept = [n.name for n in partly.node if n.op in ("VariableV2", "VarHandleOp")]
    assert kept == ["dense/bias"]


def test_parts_are_cut_out():
    model(False)
    definition = tf.get_default_graph().as_graph_def()
    part = tf.graph_util.extract_sub_graph(definition, ["dense/BiasAdd"])
    names = {node.name for node in part.node}
    assert {"x", "dense/kernel", "dense/MatMul"} <= names and "y" not in names
    assert part.versions == definition.versions
    with pytest.raises(AssertionError, match="no is not in graph"):
        tf.graph_util.extract_sub_graph(definition, ["no"])
    with pytest.raises(TypeError):
        tf.graph_util.extract_sub_graph(definition, "y")


def test_identities_go_unless_something_waits():
    x = tf.placeholder(tf.float32, name="x")
    a = tf.identity(tf.identity(x, name="first"), name="second")
    b = tf.check_numerics(a, "no", name="check")
    waits = tf.identity(x, name="waits")
    with tf.control_dependencies([waits]):
        tf.negative(b, name="y")
    tf.identity(b, name="out")
    thin = tf.graph_util.remove_training_nodes(
        tf.get_default_graph().as_graph_def(), protected_nodes=["out"]
    )
    assert {n.name: list(n.input) for n in thin.node} == {
        "x": [],
        "waits": ["x"],
        "y": ["x", "^waits"],
        "out": ["x"],
    }


def test_checks_go_even_if_something_waits_for_them():
    x = tf.placeholder(tf.float32, name="x")
    check = tf.check_numerics(x, "no", name="check")
    with tf.control_dependencies([check]):
        kept = tf.identity(x, name="waits")
    tf.negative(kept, name="y")
    graph_def = tf.get_default_graph().as_graph_def()
    graph_def.ClearField("versions")
    thin = tf.graph_util.remove_training_nodes(graph_def)
    assert {n.name: list(n.input) for n in thin.node} == {"x": [], "y": ["x"]}
    assert not thin.HasField("library") and not thin.HasField("versions")


def test_where_nodes_run_and_shapes():
    tf.constant(b"text", name="text")
    x = tf.placeholder(tf.float32, [2], name="x")
    run = tf.graph_util.must_run_on_cpu
    assert run(tf.get_default_graph().get_operation_by_name("text")) and not run(x.op)
    assert run(tf.Variable(1.0).op, pin_variables_on_cpu=True)
    graph = tf.get_default_graph()
    assert tf.graph_util.tensor_shape_from_node_def_name(graph, "x").as_list() == [2]
