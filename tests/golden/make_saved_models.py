#!/usr/bin/env python3
"""Writes the folders in tests/golden/saved_models/ and the files in tests/golden/meta_graphs/.

    python make_saved_models.py

With TensorFlow 1.15 it writes all but saved_models/functions, with TensorFlow 2 that one. Beside a
folder or file NAME, NAME.txt holds what TensorFlow computes with it, a tensor a line: what it is,
the dtype, the dimensions with commas between, the values.
"""

import os
import shutil

import numpy as np
import tensorflow as tensorflow

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "saved_models")
META_GRAPHS = os.path.join(HERE, "meta_graphs")
tf = tensorflow.compat.v1


def line(name, value):
    """One line of NAME.txt."""
    value = np.asarray(value)
    dims = ",".join(map(str, value.shape)) or "-"
    kind = {"f": "float", "i": "int64", "S": "string", "O": "string"}[value.dtype.kind]
    values = [v.decode() if isinstance(v, bytes) else repr(v) for v in value.ravel().tolist()]
    return " ".join([name, kind, dims, *values])


def record(path, *lines):
    """Writes NAME.txt."""
    with open(path + ".txt", "w") as file:
        file.write("\n".join(lines) + "\n")


def fresh(name):
    """The path of a folder that is not there."""
    path = os.path.join(MODELS, name)
    shutil.rmtree(path, ignore_errors=True)
    return path


def weights(*shape, seed):
    """Numbers that two kinds of arithmetic treat nearly alike."""
    numbers = np.random.RandomState(seed).randint(-8, 9, size=shape)
    return (numbers / 8).astype(np.float32)


def mlp():
    """simple_save of a perceptron with reference variables."""
    path = fresh("mlp")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        hidden = tf.nn.relu(x @ tf.Variable(weights(3, 4, seed=1), name="w1") + 0.5)
        y = tf.identity(hidden @ tf.Variable(weights(4, 2, seed=2), name="w2"), name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, path, {"features": x}, {"scores": y})
        value = weights(5, 3, seed=3)
        record(path, line("features", value), line("scores", session.run(y, {x: value})))


def tables():
    """A Builder: resource variables, a table of an asset, a sparse input, two sets of tags."""
    path = fresh("tables")
    vocabulary = os.path.join(MODELS, "vocabulary.txt")
    with open(vocabulary, "wb") as file:
        file.write(b"alpha\nbeta\r\ngamma\n")
    info = tf.saved_model.build_tensor_info
    with tf.Graph().as_default() as graph, tf.Session() as session:
        words = tf.placeholder(tf.string, [None], name="words")
        table = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                tf.constant(vocabulary, name="path"),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            num_oov_buckets=1,
        )
        ids = table.lookup(words)
        rows = tf.get_variable(
            "rows", initializer=weights(4, 2, seed=4), use_resource=True
        )
        found = tf.gather(rows, ids, name="found")
        sparse = tf.sparse.placeholder(tf.float32, [None, 4], name="sparse")
        product = tf.sparse.sparse_dense_matmul(sparse, rows)
        look_up = tf.saved_model.build_signature_def(
            {"words": info(words)},
            {"ids": info(ids), "rows": info(found)},
            tf.saved_model.PREDICT_METHOD_NAME,
        )
        multiply = tf.saved_model.build_signature_def(
            {"matrix": info(sparse)}, {"product": info(product)}, "test/multiply"
        )
        asset = graph.get_tensor_by_name("path:0")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, asset)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        builder = tf.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {"serving_default": look_up, "multiply": multiply},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
            strip_default_attrs=True,
        )
        builder.add_meta_graph(["serve", "gpu"], {"multiply": multiply}, clear_devices=True)
        builder.save()
        value = [b"beta", b"other", b"alpha", b"gamma"]
        got = session.run([ids, found], {words: value})
        record(path, line("words", value), line("ids", got[0]), line("rows", got[1]))
    os.remove(vocabulary)


def functions():
    """tf.saved_model.save of a module: a call of a library's function, restoring in another one."""
    path = fresh("functions")

    class Model(tensorflow.Module):
        def __init__(self):
            super().__init__()
            self.w = tensorflow.Variable(weights(3, 2, seed=5), name="w")

        @tensorflow.function(
            input_signature=[tensorflow.TensorSpec([None, 3], tensorflow.float32, name="x")]
        )
        def __call__(self, x):
            return {"y": tensorflow.nn.relu(x @ self.w)}

    model = Model()
    tensorflow.saved_model.save(model, path, signatures={"serving_default": model.__call__})
    for name in ("fingerprint.pb",):
        if os.path.exists(os.path.join(path, name)):
            os.remove(os.path.join(path, name))
    value = weights(4, 3, seed=6)
    record(path, line("x", value), line("y", model(tensorflow.constant(value))["y"].numpy()))


def training():
    """A meta graph to go on training with: variables of both kinds, slots, a variable in parts."""
    os.makedirs(META_GRAPHS, exist_ok=True)
    prefix = os.path.join(META_GRAPHS, "training")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        y = tf.placeholder(tf.float32, [None, 1], name="y")
        parts = tf.get_variable(
            "parts",
            shape=[4, 3],
            initializer=tf.random_uniform_initializer(-1, 1, seed=7),
            partitioner=tf.fixed_size_partitioner(2),
        )
        w = tf.get_variable("w", initializer=weights(3, 1, seed=8), use_resource=True)
        b = tf.Variable(tf.zeros([1]), name="b")
        loss = tf.reduce_mean(tf.square(tf.tanh(x @ parts) @ w + b - y), name="loss")
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=step)
        tf.summary.scalar("loss", loss)
        tf.add_to_collection("numbers", 3)
        tf.add_to_collection("reals", 0.25)
        tf.add_to_collection("texts", "text")
        tf.add_to_collection("loss", loss)
        queue = tf.FIFOQueue(10, tf.float32, name="queue")
        enqueue = queue.enqueue(1.0)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue]))
        tf.cond(b[0] > 0, lambda: b + 1, lambda: b - 1)
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        saver = tf.train.Saver(max_to_keep=3)
        session.run(tf.global_variables_initializer())
        feed = {x: weights(6, 4, seed=9), y: weights(6, 1, seed=10)}
        for _ in range(3):
            session.run(train_op, feed)
        saver.save(session, prefix, write_state=False)
        losses = [session.run([loss, train_op], feed)[0] for _ in range(20)]
        record(prefix, line("x", feed[x]), line("y", feed[y]), line("losses", losses))


os.makedirs(MODELS, exist_ok=True)
if tensorflow.__version__.startswith("1."):
    mlp()
    tables()
    training()
else:
    functions()
