#!/usr/bin/env python3
"""Writes the models in tests/golden/models/, with what TensorFlow answers to them.

    python make_models.py [folder]

TensorFlow 1.15 writes those of the first generation, TensorFlow 2 those of the second: run it with
both. What a model is called with and what it gives is in NAME.txt, a tensor a line:

    feed|fetch|loss NAME DTYPE SHAPE VALUES...

`loss` holds the loss of step after step of `train`, on what is fed.
"""

import os
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf

STEPS = 20
random = np.random.RandomState(5)


def tensor_line(kind, name, value):
    value = np.asarray(value)
    texts = ["%.9g" % v if value.dtype.kind == "f" else str(v) for v in value.ravel()]
    shape = "[" + ",".join(map(str, value.shape)) + "]"
    return " ".join([kind, name, value.dtype.name, shape] + texts) + "\n"


def write_answers(path, feeds, fetches, losses=None):
    with open(path + ".txt", "w") as file:
        for name in sorted(feeds):
            file.write(tensor_line("feed", name, feeds[name]))
        for name in sorted(fetches):
            file.write(tensor_line("fetch", name, fetches[name]))
        if losses is not None:
            file.write(tensor_line("loss", "loss:0", np.array(losses, np.float32)))


# ---- Models


def variable(name, shape, scale=0.5):
    """Starts with numbers of its own, so that no generator of random numbers is part of a test."""
    value = (random.uniform(-scale, scale, shape)).astype(np.float32)
    return tf.get_variable(name, initializer=value)


def dense(x, units, name):
    with tf.variable_scope(name):
        kernel = variable("kernel", [x.shape[-1].value, units])
        return tf.nn.bias_add(tf.matmul(x, kernel), variable("bias", [units], 0.1))


def mlp(is_training):
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    hidden = tf.nn.relu(dense(x, 8, "hidden"))
    return tf.nn.softmax(dense(hidden, 3, "logits"), name="y")


def cnn(is_training):
    x = tf.placeholder(tf.float32, [None, 8, 8, 2], name="x")
    h = x
    for i in range(2):
        h = tf.layers.conv2d(h, 4, 3, strides=1 + i, padding="same", use_bias=False,
                             kernel_initializer=filters(3, 3, h.shape[-1].value, 4))
        h = tf.nn.relu(tf.layers.batch_normalization(h, training=is_training, momentum=0.8))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    h = tf.reshape(h, [-1, 2 * 2 * 4])
    return tf.nn.softmax(dense(h, 3, "logits"), name="y")


def filters(*shape):
    return tf.constant_initializer(random.uniform(-0.5, 0.5, shape).astype(np.float32))


def add_training(y, optimizer):
    labels = tf.placeholder(tf.int32, [None], name="labels")
    picked = tf.reduce_sum(y * tf.one_hot(labels, 3), axis=1)
    loss = tf.negative(tf.reduce_mean(tf.log(picked)), name="loss")
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        optimizer.minimize(loss, global_step=step, name="train")


# ---- Writing


def train_and_save(path, feeds, saver):
    """Two steps, a checkpoint with its meta graph, and the losses from there on."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def run():
            return session.run(["loss:0", "train"], feeds)[0]

        for _ in range(2):
            run()
        saver.save(session, path, write_state=False)
        write_answers(path, feeds, {}, [run() for _ in range(STEPS)])


def frozen(session, path, outputs, feeds):
    graph_def = tf.graph_util.convert_variables_to_constants(
        session, tf.get_default_graph().as_graph_def(), [name[:-2] for name in outputs])
    with open(path + ".pb", "wb") as file:
        file.write(graph_def.SerializeToString(deterministic=True))
    write_answers(path, feeds, dict(zip(outputs, session.run(outputs, feeds))))


def write_model(folder, model, feed_shape, optimizer, use_resource):
    name = model.__name__ + ("_resource" if use_resource else "_ref")
    path = os.path.join(folder, name)
    feeds = {"x:0": random.uniform(-1, 1, feed_shape).astype(np.float32)}
    labels = {"labels:0": random.randint(0, 3, feed_shape[:1]).astype(np.int32)}
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
        add_training(model(True), optimizer())
        train_and_save(path + "_train", dict(feeds, **labels), tf.train.Saver())
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource):
        y = model(False)
        with tf.Session() as session:
            tf.train.Saver().restore(session, path + "_train")
            frozen(session, path + "_frozen", ["y:0"], feeds)
            shutil.rmtree(path + "_saved", ignore_errors=True)
            x = tf.get_default_graph().get_tensor_by_name("x:0")
            tf.saved_model.simple_save(session, path + "_saved", {"in": x}, {"out": y})


def attention(x, heads):
    batch, length, width = [d.value for d in x.shape]

    def split(t):
        return tf.transpose(tf.reshape(t, [-1, length, heads, width // heads]), [0, 2, 1, 3])

    flat = tf.reshape(x, [-1, width])
    q, k, v = [split(dense(flat, width, name)) for name in "qkv"]
    scores = tf.matmul(q, k, transpose_b=True) / np.sqrt(width // heads).astype(np.float32)
    mask = tf.linalg.band_part(tf.ones([length, length]), -1, 0)
    weights = tf.nn.softmax(scores - 1e9 * (1 - mask))
    mixed = tf.reshape(tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3]), [-1, width])
    return tf.reshape(dense(mixed, width, "o"), [-1, length, width])


def layer_norm(x, name):
    with tf.variable_scope(name):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        gain, bias = variable("gain", [x.shape[-1].value]), variable("bias", [x.shape[-1].value])
        return (x - mean) * tf.rsqrt(variance + 1e-6) * (1 + gain) + bias


def gelu(x):
    return 0.5 * x * (1 + tf.erf(x / np.sqrt(2).astype(np.float32)))


def write_transformer(folder):
    """One block: embeddings with positions, causal attention, two normalizations, a gelu."""
    ids = random.randint(0, 11, [3, 5]).astype(np.int32)
    with tf.Graph().as_default():
        placeholder = tf.placeholder(tf.int32, [None, 5], name="ids")
        table = variable("embedding", [11, 8])
        x = tf.nn.embedding_lookup(table, placeholder) + variable("positions", [5, 8])
        with tf.variable_scope("attention"):
            x = x + attention(layer_norm(x, "norm"), heads=2)
        with tf.variable_scope("mlp"):
            h = tf.reshape(layer_norm(x, "norm"), [-1, 8])
            x = x + tf.reshape(dense(gelu(dense(h, 32, "up")), 8, "down"), [-1, 5, 8])
        logits = tf.einsum("ble,ve->blv", layer_norm(x, "norm"), table)
        tf.nn.log_softmax(logits, name="y")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            frozen(session, os.path.join(folder, "transformer_frozen"), ["y:0"], {"ids:0": ids})


def write_recurrent(folder):
    """Loops of the first generation with their gradients, and a condition, in collections too."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4, 3], name="x")
        lengths = tf.placeholder(tf.int32, [None], name="lengths")
        cell = tf.nn.rnn_cell.BasicLSTMCell(5)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
        last = tf.cond(tf.reduce_any(lengths > 2), lambda: outputs[:, -1], lambda: outputs[:, 0])
        loss = tf.reduce_mean(tf.square(last), name="loss")
        tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        tf.train.Saver().export_meta_graph(os.path.join(folder, "dynamic_rnn.meta"))


def write_functions(folder):
    """A saved model of TensorFlow 2: functions that call functions, loops and conditions."""

    class Model(tf2.Module):
        def __init__(self):
            super().__init__()
            self.w = tf2.Variable(tf2.constant([[0.5, -1.0], [2.0, 0.25]]), name="w")
            self.count = tf2.Variable(0, name="count")

        @tf2.function(input_signature=[tf2.TensorSpec([None, 2], tf2.float32, name="x")])
        def inner(self, x):
            return tf2.nn.relu(x @ self.w) + 1.0

        @tf2.function(input_signature=[tf2.TensorSpec([None, 2], tf2.float32, name="x")])
        def __call__(self, x):
            _, powers = tf2.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, x])
            halved = tf2.cond(tf2.reduce_sum(powers) > 1.0, lambda: powers / 2.0, lambda: x)
            self.count.assign_add(1)
            return {"out": self.inner(halved), "steps": self.count + 1}

    path = os.path.join(folder, "functions_saved")
    shutil.rmtree(path, ignore_errors=True)
    model = Model()
    tf2.saved_model.save(model, path, signatures=model.__call__)
    graph_def = model.__call__.get_concrete_function().graph.as_graph_def()
    with open(os.path.join(folder, "functions.pb"), "wb") as file:
        file.write(graph_def.SerializeToString(deterministic=True))
    for name in ("assets", "fingerprint.pb"):
        lost = os.path.join(path, name)
        shutil.rmtree(lost) if os.path.isdir(lost) else os.remove(lost)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    if tf.__version__.startswith("2."):
        write_functions(folder)
        return
    tf.disable_eager_execution()
    for use_resource in (False, True):
        write_model(folder, mlp, [7, 6], lambda: tf.train.AdamOptimizer(0.05), use_resource)
        write_model(folder, cnn, [5, 8, 8, 2], lambda: tf.train.MomentumOptimizer(0.05, 0.9),
                    use_resource)
    write_transformer(folder)
    write_recurrent(folder)


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "models"))
