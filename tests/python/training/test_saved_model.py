"""Saved models: written, and loaded from the folder alone."""

import numpy as np
import pytest
import rheos.v1 as tf

SERVE = [tf.saved_model.tag_constants.SERVING]
KEY = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def model():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
    return x, tf.matmul(x, w, name="y")


def write(folder, **arguments):
    as_text = arguments.pop("as_text", False)
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = model()
        arguments = {k: v() if callable(v) else v for k, v in arguments.items()}
        sess.run(tf.global_variables_initializer())
        builder = tf.saved_model.builder.SavedModelBuilder(str(folder))
        signature = tf.saved_model.signature_def_utils.predict_signature_def({"in": x}, {"out": y})
        builder.add_meta_graph_and_variables(sess, SERVE, {KEY: signature}, **arguments)
        return builder.save(as_text)


@pytest.mark.parametrize("as_text", [False, True])
def test_a_signature_is_called(tmp_path, as_text):
    path = write(tmp_path / "m", as_text=as_text)
    assert path.decode().endswith(".pbtxt" if as_text else ".pb")
    assert tf.saved_model.loader.maybe_saved_model_directory(str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.loader.load(sess, SERVE, str(tmp_path / "m"))
        signature = loaded.signature_def[KEY]
        assert signature.method_name == "tensorflow/serving/predict"
        assert signature.inputs["in"].dtype == tf.float32
        x = tf.saved_model.utils.get_tensor_from_tensor_info(signature.inputs["in"])
        assert x.shape.as_list() == [None, 3]
        y = sess.run(signature.outputs["out"].name, {x: [[1, 1, 1]]})
        assert y.tolist() == [[6, 9]]


def test_simple_save_and_an_import_scope(tmp_path):
    with tf.Session() as sess:
        x, y = model()
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"a": x}, {"b": y})
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.loader.load(sess, SERVE, str(tmp_path / "m"), import_scope="in")
        assert sess.run("in/y:0", {"in/x:0": [[1, 0, 0]]}).tolist() == [[0, 1]]


def test_assets_are_copied_and_fed_while_the_init_op_runs(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("b\na\n")

    def assets():
        name = tf.constant(str(words), name="asset")
        table = tf.contrib.lookup.index_table_from_file(name)
        table.lookup(tf.placeholder(tf.string, [None], name="words"), name="ids")
        return [name]

    write(tmp_path / "m", assets_list=assets, init_op=lambda: tf.tables_initializer())
    words.unlink()
    assert (tmp_path / "m" / "assets" / "words.txt").exists()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.saved_model.loader.load(sess, SERVE, str(tmp_path / "m"))
        [ids] = [op for op in graph.get_operations() if op.type.startswith("LookupTableFind")]
        assert sess.run(ids.outputs[0], {"words:0": [b"a", b"b"]}).tolist() == [1, 0]


def test_several_graphs_share_the_variables(tmp_path):
    with tf.Session() as sess:
        model()
        sess.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["other"])
        builder.add_meta_graph_and_variables(sess, SERVE)
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(sess, SERVE)
    with tf.Graph().as_default():
        _, y = model()
        tf.negative(y, name="z")
        builder.add_meta_graph(["other", "gpu"])
        builder.save()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.saved_model.loader.load(sess, ["gpu", "other"], str(tmp_path / "m"))
        assert sess.run("z:0", {"x:0": [[1, 0, 0]]}).tolist() == [[0, -1]]


def test_wrong_folders_and_tags_are_named(tmp_path):
    write(tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(RuntimeError, match="tags 'train' could not be found.*serve"):
            tf.saved_model.loader.load(sess, ["train"], str(tmp_path / "m"))
        with pytest.raises(OSError, match="SavedModel file does not exist"):
            tf.saved_model.loader.load(sess, SERVE, str(tmp_path))
    with pytest.raises(AssertionError, match="Export directory already exists"):
        tf.saved_model.Builder(str(tmp_path / "m"))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "saved_model.pb").write_bytes(b"\xff")
    with tf.Graph().as_default(), tf.Session() as sess:
        with pytest.raises(OSError, match="Cannot parse file"):
            tf.saved_model.loader.load(sess, SERVE, str(tmp_path / "bad"))


def test_signatures_that_servers_take():
    with tf.Graph().as_default():
        text, number = tf.placeholder(tf.string), tf.placeholder(tf.float32)
        utils = tf.saved_model
        good = [
            utils.predict_signature_def({"a": number}, {"b": number}),
            utils.regression_signature_def(text, number),
            utils.classification_signature_def(text, text, number),
        ]
        for signature in good:
            assert tf.saved_model.is_valid_signature(signature)
        good[0].method_name = "other"
        del good[1].outputs["outputs"]
        good[2].inputs["inputs"].dtype = tf.float32.as_datatype_enum
        for signature in good:
            assert not tf.saved_model.is_valid_signature(signature)


def test_a_signature_has_defaults():
    utils = tf.saved_model.signature_def_utils
    x = tf.placeholder(tf.float32, [2], name="x")
    inputs = {key: tf.saved_model.build_tensor_info(x) for key in "abc"}
    made = utils.build_signature_def(
        inputs,
        {},
        "m",
        defaults={
            "a": [1.0, 2.0],
            "b": tf.constant([3.0, 4.0]),
            "c": tf.make_tensor_proto([5.0, 6.0]),
        },
    )
    values = [tf.make_ndarray(made.defaults[key]).tolist() for key in "abc"]
    assert values == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(ValueError, match="to TensorProto"):
        utils.build_signature_def(inputs, {}, "m", defaults={"a": x})
    with pytest.raises(ValueError, match="'z', which is no input"):
        utils.build_signature_def(inputs, {}, "m", defaults={"z": [1.0]})


def test_a_graph_with_a_main_op_takes_no_other(tmp_path):
    tf.Variable(1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.add_to_collection("legacy_init_op", tf.no_op())
        builder = tf.saved_model.Builder(str(tmp_path / "m"))
        with pytest.raises(ValueError, match="already contains one or more main ops"):
            builder.add_meta_graph_and_variables(sess, ["a"], main_op=tf.no_op())


def test_build_tensor_info__of_a_variable_says_that_it_is_one():
    v = tf.get_variable("v", [2])
    info = tf.saved_model.utils.build_tensor_info(v)
    assert (info.name, info.dtype) == ("v:0", tf.float32.as_datatype_enum + 100)
    assert tf.saved_model.utils.get_tensor_from_tensor_info(info).dtype == v.dtype


def test_a_restore_in_a_scope_takes_none_of_the_model_beside_it_along(tmp_path, sess):
    x, y = model()
    signature = {"inputs": {"x": x}, "outputs": {"y": y}}
    sess.run(tf.global_variables_initializer())
    first, inner, outer = (str(tmp_path / name) for name in ("first", "inner", "outer"))
    tf.train.Saver().save(sess, first)
    tf.train.init_from_checkpoint(first, {"w": tf.global_variables()[0]})
    tf.saved_model.simple_save(sess, inner, **signature)
    tf.saved_model.loader.load(sess, SERVE, inner, import_scope="scope")
    tf.saved_model.simple_save(sess, outer, **signature)
    called = tf.contrib.predictor.from_saved_model(outer)({"x": [[1, 0, 0]]})
    assert called["y"].tolist() == [[0, 1]]
