"""tf.saved_model.load of models that TensorFlow 1 saved: graphs without objects."""

import os

import numpy as np
import pytest
import rheos.v2

tf = rheos.v2
v1 = tf.compat.v1


@pytest.fixture(params=[False, True], ids=["references", "resources"])
def model(request, tmp_path):
    """A folder with a saved graph: y = w x + the sum of p, and words looked up in a file."""
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")
    folder = str(tmp_path / "model")
    options = {"use_resource": request.param}
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        t = v1.placeholder(tf.string, [None], name="t")
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(3.0), **options)
        parts = v1.fixed_size_partitioner(2)
        p = v1.get_variable(
            "p", [4], partitioner=parts, initializer=v1.constant_initializer(2.0), **options
        )
        y = tf.add(x * w, tf.reduce_sum(p), name="y")
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(words), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )  # fmt: skip
        ids = table.lookup(t)
        v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        session.run(w.assign(5.0))
        builder = v1.saved_model.Builder(folder)
        signature = v1.saved_model.predict_signature_def
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "serving_default": signature({"x": x}, {"y": y}),
                "two": signature({"x": x, "t": t}, {"y": y, "ids": ids}),
            },
            main_op=v1.tables_initializer(),
            assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
        )
        builder.save()
    os.remove(words)
    return folder


def test_signatures_are_functions(model):
    loaded = tf.saved_model.load(model)
    assert sorted(loaded.signatures) == ["serving_default", "two"]
    serve = loaded.signatures["serving_default"]
    np.testing.assert_array_equal(serve(tf.constant([2.0]))["y"], [18.0])
    np.testing.assert_array_equal(serve(x=tf.constant([2.0]))["y"], [18.0])
    found = loaded.signatures["two"](x=tf.constant([1.0]), t=tf.constant(["b", "z"]))
    assert found["ids"].numpy().tolist() == [1, -1]
    with pytest.raises(TypeError):
        loaded.signatures["two"](tf.constant([1.0]))


def test_variables_are_there_and_trained(model):
    loaded = tf.saved_model.load(model, tags=["serve"])
    serve = loaded.signatures["serving_default"]
    w = next(v for v in loaded.variables if v.name == "w:0")
    assert w.numpy() == 5.0 and w.trainable
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(serve(tf.constant([2.0]))["y"])
    assert float(tape.gradient(y, w)) == 2.0
    w.assign(10.0)
    np.testing.assert_array_equal(serve(tf.constant([2.0]))["y"], [28.0])


def test_parts_of_the_graph_are_functions(model):
    loaded = tf.saved_model.load(model)
    part = loaded.prune("x:0", "y:0")
    np.testing.assert_array_equal(part(tf.constant([1.0])), [13.0])
    assert loaded.graph.get_operation_by_name("y").type in ("Add", "AddV2")
    with pytest.raises(KeyError):
        loaded.prune("x:0", "nothing:0")
