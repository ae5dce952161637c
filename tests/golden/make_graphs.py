#!/usr/bin/env python3
"""Writes the graphs in tests/golden/graphs/ with TensorFlow 1.15, as GraphDef messages.

    python make_graphs.py [folder]

The C tests import them and export them again byte for byte.
"""

import os
import sys

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops

tf.disable_eager_execution()


def constants():
    """Every dtype as scalar, vector and empty, and shapes of placeholders."""
    for name in ("float32 float64 int32 uint8 int16 int8 int64 bool uint16 uint32 uint64 float16 "
                 "complex64 complex128").split():
        for shape in ((), (1,), (3,), (2, 0), (2, 3)):
            values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
            tf.constant(values.astype(name), name="%s_%d" % (name, len(shape)))
    bfloat16 = tf.bfloat16.as_numpy_dtype
    tf.constant(np.array([1, -2.5]).astype(bfloat16), tf.bfloat16)
    tf.constant(-1, name="negative")
    tf.constant(np.array([-1, 2], np.int8), name="negatives")
    tf.constant(float("nan"), name="nan")
    tf.constant(b"text")
    tf.constant([b"", b"a\0b", "\u03c1\u03ad\u03bf\u03c2".encode()], name="strings")
    tf.constant([], tf.string, name="no_strings")
    tf.placeholder(tf.float32, name="any")
    tf.placeholder(tf.int64, [], name="scalar")
    tf.placeholder(tf.string, [None, 2, None], name="partly")


def filled():
    """Constants of fewer values than elements, and of values that are all listed or all content."""
    for name in ("float32 int32 uint8 int64 bool float16 complex64 complex128").split():
        for value in ([0], [1, 2, 2]):
            tf.constant(np.array(value).astype(name), shape=[2, 3], name=name + "_fill")
    tf.constant("x", shape=[1])
    graph_def = tf.get_default_graph().as_graph_def()
    listed = graph_def.node.add(name="listed", op="Const")
    listed.attr["dtype"].type = tf.int32.as_datatype_enum
    listed.attr["value"].tensor.dtype = tf.int32.as_datatype_enum
    listed.attr["value"].tensor.tensor_shape.dim.add().size = 3
    content = graph_def.node.add()
    content.CopyFrom(listed)
    none = graph_def.node.add()
    none.CopyFrom(listed)
    none.name = "none_listed"
    listed.attr["value"].tensor.int_val.extend([1, 2, 3])
    content.name = "content"
    for attr in ("dtype", "value"):
        holder = content.attr[attr].tensor if attr == "value" else content.attr[attr]
        setattr(holder, "dtype" if attr == "value" else "type", tf.bool.as_datatype_enum)
    content.attr["value"].tensor.tensor_content = b"\0\1\1"
    return graph_def


def structure():
    """Names, devices, control inputs, colocation, outputs other than the first, lists."""
    with tf.device("/job:ps/task:1"):
        a = tf.placeholder(tf.float32, [2, 3], name="a")
    with tf.name_scope("outer"), tf.device("/cpu:0"):
        parts = tf.split(a, 3, axis=1, name="parts")
        joined = tf.concat([parts[2], parts[0]], axis=1)
        with tf.colocate_with(a.op):
            packed = tf.stack([joined, joined], name="packed")
    with tf.control_dependencies([joined, packed]):
        tf.no_op()
        tf.identity(parts[1], name="waits")
    tf.squeeze(parts[0], axis=[-1], name="list_of_int")
    tf.squeeze(parts[0], name="empty_list")
    tf.strided_slice(a, [0, 0], [2, 2], end_mask=1)


def training():
    """Linear regression with everything a program makes: variables, gradients, optimizer, saver."""
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    m = tf.Variable(0.5, name="m")
    b = tf.Variable(0.0, name="b")
    loss = tf.reduce_mean(tf.square(m * x + b - y), name="loss")
    tf.train.GradientDescentOptimizer(0.01).minimize(loss, name="train")
    tf.global_variables_initializer()
    tf.train.Saver()


def loops():
    """Control flow of the first generation: a loop with a condition inside, and its gradient."""
    x = tf.placeholder(tf.float32, [], name="x")

    def body(i, value):
        return i + 1, tf.cond(value > 1, lambda: value * 0.5, lambda: value + x)

    _, last = tf.while_loop(lambda i, value: i < 5, body, [0, x])
    tf.gradients(last, x)


def functions():
    """A library: functions called by name and by attribute, their gradient, functional loops."""
    @function.Defun(tf.float32, func_name="Twice")
    def twice(a):
        return a + a

    @function.Defun(tf.int32, tf.float32, func_name="IsSmall")
    def is_small(i, a):
        return i < 3

    @function.Defun(tf.int32, tf.float32, func_name="Step")
    def step(i, a):
        return i + 1, twice(a) * 2.0

    x = tf.placeholder(tf.float32, [None], name="x")
    y = twice(x, name="called")
    tf.gradients(y, x)
    functional_ops.While([tf.constant(0), y], is_small, step, name="loop")
    called = tf.function(lambda a: tf.nn.relu(a) + 1.0)
    called(x)


def write_all(folder):
    for build in (constants, filled, structure, training, loops, functions):
        with tf.Graph().as_default() as graph:
            graph_def = build() or graph.as_graph_def()
            with open(os.path.join(folder, build.__name__ + ".pb"), "wb") as file:
                file.write(graph_def.SerializeToString(deterministic=True))


if __name__ == "__main__":
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "graphs")
    os.makedirs(out, exist_ok=True)
    write_all(out)
