"""MetaGraphDef messages: graphs with their collections and savers, out and in."""

import os

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework import messages
from rheos.training import meta_graph

X = np.arange(12, dtype=np.float32).reshape(4, 3) / 10


def model(use_resource=False):
    with tf.variable_scope("", use_resource=use_resource):
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        h = tf.layers.batch_normalization(tf.layers.dense(x, 4), training=True)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1)), name="loss")
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step, name="train")
    tf.add_to_collection("train_op", train)
    tf.add_to_collection("texts", "hello")
    tf.add_to_collection("numbers", 3)
    tf.add_to_collection("parts", 0.5)
    tf.add_to_collection("loss", loss)


def losses(sess, count):
    train = tf.get_collection("train_op")[0]
    return [sess.run(["loss:0", train], {"x:0": X})[0] for _ in range(count)]


@pytest.mark.parametrize("use_resource", [False, True])
def test_training_goes_on_from_the_files_alone(tmp_path, use_resource):
    model(use_resource)
    saver = tf.train.Saver(max_to_keep=2)
    names = [v.name for v in tf.global_variables()]
    trainable = [v.name for v in tf.trainable_variables()]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses(sess, 3)
        prefix = saver.save(sess, str(tmp_path / "model"), global_step=tf.train.get_global_step())
        expected = losses(sess, 3)
    assert os.path.basename(prefix) == "model-3" and os.path.exists(prefix + ".meta")
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph(prefix + ".meta")
        assert [v.name for v in tf.global_variables()] == names
        assert [v.name for v in tf.trainable_variables()] == trainable
        assert tf.trainable_variables()[0] is tf.global_variables()[0]
        assert tf.train.get_global_step() is tf.get_collection("global_step")[0]
        assert tf.get_collection("texts") == [b"hello"]
        assert tf.get_collection("numbers") == [3] and tf.get_collection("parts") == [0.5]
        assert tf.get_collection("loss")[0].name == "loss:0"
        assert [v.op.type for v in tf.global_variables()][0] == (
            "VarHandleOp" if use_resource else "VariableV2"
        )
        saver.restore(sess, prefix)
        assert losses(sess, 3) == expected


def test_a_scope_goes_before_all_names(tmp_path):
    model()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(sess, str(tmp_path / "model"))
        value = sess.run("loss:0", {"x:0": X})
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.import_meta_graph(prefix + ".meta", import_scope="in")
        assert tf.global_variables()[0].name == "in/dense/kernel:0"
        assert tf.get_collection("loss")[0].name == "in/loss:0"
        saver.restore(sess, prefix)
        assert sess.run("in/loss:0", {"in/x:0": X}) == value


def test_old_meta_files_go_with_their_checkpoints(tmp_path):
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(3):
            saver.save(sess, str(tmp_path / "m"), global_step=step)
        saver.save(sess, str(tmp_path / "other"), write_meta_graph=False, write_state=False)
    assert sorted(p.name for p in tmp_path.glob("*.meta")) == ["m-2.meta"]


def test_what_is_exported_can_be_chosen(tmp_path):
    with tf.device("/cpu:0"):
        tf.Variable(1.0, name="v")
    tf.add_to_collection("a", 1)
    tf.add_to_collection("b", 2)
    path = str(tmp_path / "deep" / "graph.pbtxt")
    made = tf.train.export_meta_graph(
        path, collection_list=["a"], as_text=True, clear_devices=True, strip_default_attrs=True
    )
    assert list(made.collection_def) == ["a"]
    assert not any(node.device for node in made.graph_def.node)
    [variable] = [n for n in made.graph_def.node if n.op == "VariableV2"]
    assert "container" not in variable.attr and "shape" in variable.attr
    assert made.meta_info_def.tensorflow_version == "1.15.5"
    with tf.Graph().as_default() as graph:
        assert tf.train.import_meta_graph(path) is None
        assert tf.get_collection("a") == [1] and graph.get_operation_by_name("v")


def test_without_a_saver_there_is_one_for_the_variables():
    tf.Variable(1.0, name="v")
    made = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        assert isinstance(tf.train.import_meta_graph(made), tf.train.Saver)


def test_what_cannot_be_written_is_left_out():
    tf.add_to_collection("objects", object())
    tf.add_to_collection("fine", 1)
    assert list(tf.train.export_meta_graph().collection_def) == ["fine"]


def test_variables_go_through_their_messages():
    for use_resource in (False, True):
        with tf.Graph().as_default() as graph:
            v = tf.get_variable("v", [2], use_resource=use_resource, trainable=False)
            message = v.to_proto()
            assert message.variable_name == "v:0" and message.is_resource == use_resource
            assert tf.Variable.from_proto(message) is v
            assert tf.Variable(variable_def=message) is v
            assert type(v)(variable_def=message) is v
            with pytest.raises(ValueError, match="mutually exclusive"):
                tf.Variable(1.0, variable_def=message)
            definition = graph.as_graph_def()
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.import_graph_def(definition, name="i")
            w = tf.Variable.from_proto(message, import_scope="i")
            assert w.name == "i/v:0" and not w.trainable and w.shape.as_list() == [2]
            sess.run(w.initializer)
            sess.run(w.assign([1.0, 2.0]))
            assert sess.run(w + 1).tolist() == [2, 3]


def test_files_that_are_none_are_named(tmp_path):
    with pytest.raises(OSError, match="does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "no.meta"))
    (tmp_path / "bad.meta").write_bytes(b"\xff\xfe")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.train.import_meta_graph(str(tmp_path / "bad.meta"))


# ---- Parts of graphs


def scoped_model():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.name_scope("before"):
        a = tf.identity(x, name="a")
    with tf.variable_scope("net"), tf.device("/cpu:0"):
        w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
        y = tf.matmul(a, w, name="y")
        with tf.colocate_with(w.op):
            tf.identity(y, name="z")
    tf.add_to_collection("outputs", y)
    tf.add_to_collection("outputs", x)
    tf.add_to_collection("names", "net/y")
    return w


def test_a_scope_is_exported_without_its_name():
    scoped_model()
    made, variables = meta_graph.export_scoped_meta_graph(export_scope="net")
    nodes = {node.name: node for node in made.graph_def.node}
    assert {"w", "y", "z", "w/read", "w/Assign"} <= nodes.keys()
    assert not any(name.startswith("net") or name == "x" for name in nodes)
    assert list(nodes["y"].input) == ["$unbound_inputs_before/a", "w/read"]
    assert list(nodes["z"].attr["_class"].list.s) == [b"loc:@w"]
    assert list(made.collection_def["outputs"].node_list.value) == ["y:0"]
    assert list(made.collection_def["unbound_inputs"].bytes_list.value) == [
        b"$unbound_inputs_before/a"
    ]
    assert list(variables) == ["w:0"]
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_before/a"):
            meta_graph.import_scoped_meta_graph(made)
        x = tf.constant([[1.0, 2.0, 3.0]])
        variables = meta_graph.import_scoped_meta_graph(
            made, import_scope="new", input_map={"$unbound_inputs_before/a": x}
        )
        assert variables["w:0"].name == "new/w:0"
        assert "unbound_inputs" not in graph.get_all_collection_keys()
        assert graph.get_collection("outputs") == [graph.get_tensor_by_name("new/y:0")]
        session.run(variables["w:0"].initializer)
        assert session.run("new/z:0").tolist() == [[6, 6]]


def test_an_input_from_outside_may_be_used_twice_and_a_scope_be_taken():
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.name_scope("net"):
        v = tf.Variable(2.0, name="v")
        tf.add(x, tf.multiply(x, v), name="y")
    with tf.name_scope("network"):
        tf.identity(v, name="z")
    made, _ = meta_graph.export_scoped_meta_graph(export_scope="net")
    assert "network/z" in [node.name for node in made.graph_def.node]  # as in TensorFlow
    with tf.Graph().as_default() as graph, tf.Session() as session:
        three = tf.constant(3.0)
        with tf.name_scope("outer"):
            tf.constant(1.0, name="in")
            variables = meta_graph.import_scoped_meta_graph(
                made, import_scope="in", input_map={"$unbound_inputs_x": three}
            )
        assert variables["v:0"].name == "outer/in_1/v:0"
        session.run(variables["v:0"].initializer)
        assert session.run(graph.get_tensor_by_name("outer/in_1/y:0")) == 9


def test_a_scope_is_copied_within_a_graph():
    with tf.name_scope("one"):
        tf.Variable(2.0, name="v")
    copies = meta_graph.copy_scoped_meta_graph("one", "two")
    assert copies["v:0"].name == "two/v:0"
    with pytest.raises(ValueError, match="need to be different"):
        meta_graph.copy_scoped_meta_graph("one", "one")


def test_savers_that_are_not_asked_for_are_left_out():
    w = scoped_model()
    first, second = tf.train.Saver(name="first"), tf.train.Saver([w], name="second")
    tf.add_to_collection(tf.GraphKeys.SAVERS, first)
    tf.add_to_collection(tf.GraphKeys.SAVERS, second)
    made = second.export_meta_graph(clear_extraneous_savers=True)
    names = [node.name for node in made.graph_def.node]
    assert "second/restore_all" in names and not any(n.startswith("first/") for n in names)
    assert len(made.collection_def[tf.GraphKeys.SAVERS].bytes_list.value) == 1
    assert len(second.export_meta_graph().collection_def[tf.GraphKeys.SAVERS].bytes_list.value) == 2


def test_ops_are_listed_and_defaults_are_found_by_their_definitions():
    tf.nn.max_pool(tf.placeholder(tf.float32, [1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    made = tf.train.export_meta_graph(strip_default_attrs=True)
    [pool] = [node for node in made.graph_def.node if node.op == "MaxPool"]
    assert {"ksize", "strides", "padding"} <= pool.attr.keys()
    assert not {"T", "data_format"} & pool.attr.keys()
    assert made.meta_info_def.stripped_default_attrs
    ops = {op.name: op for op in made.meta_info_def.stripped_op_list.op}
    assert list(ops) == ["MaxPool", "Placeholder"]
    [padding] = [attr for attr in ops["MaxPool"].attr if attr.name == "padding"]
    assert b"SAME" in padding.allowed_values.list.s


def make_loop():
    x = tf.placeholder(tf.float32, [], name="x")

    def body(i, s):
        return i + 1, tf.cond(i > 1, lambda: s + x, lambda: s)

    return tf.while_loop(lambda i, s: i < 3, body, [0, x])


def contexts_in(meta_graph_def):
    found = {}
    for key in ("cond_context", "while_context"):
        values = meta_graph_def.collection_def[key].bytes_list.value
        kind = messages.CondContextDef if key == "cond_context" else messages.WhileContextDef
        found[key] = [kind.FromString(value) for value in values]
    return found


def test_contexts_come_with_a_meta_graph():
    make_loop()
    made = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(made)
        add = graph.get_operation_by_name("while/cond/add")
        context = add._get_control_flow_context()
        assert context.IsCondContext() and context.branch == 1
        assert context.outer_context.IsWhileContext()
        assert context.outer_context is tf.get_collection("while_context")[0]
        assert contexts_in(tf.train.export_meta_graph()) == contexts_in(made)


def test_names_in_loops_get_the_import_scope():
    make_loop()
    made = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(made, import_scope="in")
        [found] = tf.get_collection("while_context")
        assert found.name == "in/while/while_context"
        assert found.pivot.name == "in/while/LoopCond:0"
        enter = graph.get_operation_by_name("in/while/Enter")
        assert enter.get_attr("frame_name") == b"in/while/while_context"
        scoped = tf.train.export_meta_graph(export_scope="in")
        assert contexts_in(scoped) == contexts_in(made)


def test_variables_of_old_files_are_trainable_by_their_collection():
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", trainable=False)
    made = tf.train.export_meta_graph()
    made.meta_info_def.tensorflow_version = "0.12.head"
    for key in ("variables", "trainable_variables"):
        values = made.collection_def[key].bytes_list.value
        for i, value in enumerate(values):
            message = messages.VariableDef.FromString(value)
            message.ClearField("trainable")
            values[i] = message.SerializeToString()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(made)
        assert [v.trainable for v in tf.global_variables()] == [True, False]


# ---- Shapes that a program told


def test_shapes_told_to_a_graph_come_with_its_file():
    x = tf.placeholder(tf.float32, [None, None], name="x")
    y = tf.identity(x, name="y")
    y.set_shape([None, 5])
    tf.constant([1.0, 2.0], name="c")
    graph_def = tf.get_default_graph().as_graph_def(add_shapes=True)
    [wrong] = [node for node in graph_def.node if node.name == "c"]
    wrong.attr["_output_shapes"].list.shape[0].dim[0].size = 7
    unknown = graph_def.node.add(name="u", op="NoSuchOp", input=["x"])
    for sizes in ([2, 3], [4]):
        shape = unknown.attr["_output_shapes"].list.shape.add()
        for size in sizes:
            shape.dim.add().size = size
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        assert graph.get_tensor_by_name("y:0").shape.as_list() == [None, 5]
        assert graph.get_tensor_by_name("c:0").shape.as_list() == [2]
        assert graph.get_tensor_by_name("u:1").shape.as_list() == [4]
        nodes = {node.name: node for node in graph.as_graph_def(add_shapes=True).node}
        assert nodes["u"].attr["_output_shapes"] == unknown.attr["_output_shapes"]
        assert not any("_output_shapes" in node.attr for node in graph.as_graph_def().node)
    with tf.Graph().as_default() as graph:
        z = tf.placeholder(tf.float32, [6, 6])
        tf.import_graph_def(graph_def, input_map={"x:0": z}, name="")
        assert graph.get_tensor_by_name("y:0").shape.as_list() == [6, 6]


def test_outputs_of_ops_that_are_not_known_can_be_listed():
    graph_def = tf.GraphDef()
    graph_def.node.add(name="u", op="NoSuchOp")
    y = graph_def.node.add(name="y", op="Identity", input=["u"])
    y.attr["T"].type = tf.float32.as_datatype_enum
    graph_def.node.add(name="z", op="NoSuchOp", input=["u:1"])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        [known, unknown] = graph.get_operation_by_name("u").values()
        assert known.dtype == tf.float32
        assert str(unknown) == 'Tensor("u:1", dtype=<unknown>)'
        assert repr(unknown) == "<tf.Tensor 'u:1' shape=<unknown> dtype=<unknown>>"
        with pytest.raises(TypeError, match="the dtype of 'u:1' is not known: its op type is not"):
            unknown.dtype


def test_graphs_are_imported_below_the_scope_that_is_entered():
    tf.Variable(1.0, name="v")
    meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.name_scope("outer"):
        tf.train.import_meta_graph(meta_graph)
        (variable,) = tf.global_variables()
        assert variable.name == "outer/v:0"
        assert graph.get_operation_by_name("outer/v/Assign").type == "Assign"
