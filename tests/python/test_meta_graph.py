"""MetaGraphDef messages: graphs with their collections and savers, out and in."""

import os

import numpy as np
import pytest
import rheos.v1 as tf

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
