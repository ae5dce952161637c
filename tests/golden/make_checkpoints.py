#!/usr/bin/env python3
"""Writes the checkpoints in tests/golden/checkpoints/ with TensorFlow 1.15.

    python make_checkpoints.py [folder]

The C tests read them, check the values against the formulas below, and write them again byte for
byte.
"""

import os
import sys

import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()

NUMBERS = (
    "float32 float64 int32 uint8 int16 int8 int64 uint16 uint32 uint64 float16 bfloat16 complex64 "
    "complex128 bool qint8 quint8 qint32 qint16 quint16"
).split()


def save(prefix, tensors):
    """Saves a list of (name, tensor) in that order, in one SaveV2 node."""
    names = [name for name, _ in tensors]
    node = tf.raw_ops.SaveV2(
        prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names),
        tensors=[tensor for _, tensor in tensors])
    with tf.compat.v1.Session() as session:
        session.run(node)


def numbers(dtype):
    """0..5 as a 2 by 3 matrix; bools are i % 2, complex numbers i + 1j * i."""
    values = np.arange(6).reshape(2, 3)
    if dtype == "bool":
        return tf.constant(values % 2 == 1)
    if dtype.startswith("complex"):
        return tf.constant(values + 1j * values, dtype)
    if dtype.startswith(("q", "u")):
        return tf.bitcast(tf.constant(values, "int32"), "qint32") if dtype == "qint32" else (
            tf.constant(values, dtype) if dtype.startswith("u") else
            tf.bitcast(tf.constant(values, dtype.lstrip("q")), dtype))
    return tf.cast(tf.constant(values, "int32"), dtype)


def write_all(folder):
    def path(name):
        return os.path.join(folder, name)

    # Names out of order, so that the order in the data file is not that in the index.
    save(path("dtypes"), [("dtype/" + name, numbers(name)) for name in NUMBERS])
    save(path("shapes"), [
        ("scalar", tf.constant(7.0)),
        ("empty", tf.zeros([0])),
        ("no_rows", tf.zeros([0, 3], tf.int64)),
        ("rank8", tf.ones([1, 1, 1, 2, 1, 1, 1, 2])),
        ("a", tf.constant([1.5, -2.5])),
    ])
    save(path("strings"), [
        ("words", tf.constant([b"", b"one", b"with \0 in it",
                               "\u03c1\u03ad\u03bf\u03c2".encode()])),
        ("scalar", tf.constant(b"x" * 300)),
        ("none", tf.constant([], tf.string)),
        ("number", tf.constant(3)),
    ])
    # More names than a restart interval, with long common prefixes.
    save(path("many"), [("layer_%d/weights/Adam" % i, tf.constant([i], tf.int32))
                        for i in range(100)])
    for shard in range(2):
        save(path("part%d" % shard), [("v%d" % shard, tf.constant([float(shard)] * 3))])
    with tf.compat.v1.Session() as session:
        session.run(tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=[path("part0"), path("part1")],
            destination_prefix=path("sharded"), delete_old_dirs=False))


# What V1 files can hold.
V1_NUMBERS = [n for n in NUMBERS
              if n not in ("uint32", "uint64", "bfloat16", "qint16", "quint16")]


def quarters():
    """0..11 as a 4 by 3 matrix, in two parts of two rows: the text of each slice, and its rows."""
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    return [("4 3 0,2:-", tf.constant(values[:2])), ("4 3 2,2:-", tf.constant(values[2:]))]


def write_sliced(folder):
    """Tensors in parts, in both kinds of checkpoints, and all else of the first kind."""
    def path(name):
        return os.path.join(folder, name)

    (first, top), (second, bottom) = quarters()
    raw = tf.raw_ops
    nodes = [
        raw.SaveV2(prefix=path("sliced"), tensor_names=["t", "u", "t"],
                   shape_and_slices=[first, "", second], tensors=[top, tf.constant(7), bottom]),
        raw.SaveSlices(filename=path("v1_sliced"), tensor_names=["t", "u", "t"],
                       shapes_and_slices=[first, "", second],
                       data=[top, tf.constant(7), bottom]),
        raw.Save(filename=path("v1_dtypes"), tensor_names=["dtype/" + n for n in V1_NUMBERS],
                 data=[numbers(n) for n in V1_NUMBERS]),
        raw.Save(filename=path("v1_shapes"), tensor_names=["words", "scalar", "empty"],
                 data=[tf.constant([["", "one"]]), tf.constant(7.0), tf.zeros([0, 3])]),
        # Starts and lengths of 1, 2 and 3 bytes in the keys.
        raw.SaveSlices(filename=path("v1_far"), tensor_names=["far"] * 3,
                       shapes_and_slices=["2000000 63,1", "2000000 8191,64",
                                          "2000000 1048576,2"],
                       data=[tf.zeros([1], tf.bool), tf.zeros([64], tf.bool),
                             tf.zeros([2], tf.bool)]),
    ]
    for shard, (text, rows) in enumerate(quarters()):
        nodes.append(raw.SaveV2(prefix=path("rows%d" % shard), tensor_names=["t"],
                                shape_and_slices=[text], tensors=[rows]))
        nodes.append(raw.SaveSlices(filename=path("v1_shard-%05d-of-00002" % shard),
                                    tensor_names=["t"], shapes_and_slices=[text], data=[rows]))
    with tf.compat.v1.Session() as session:
        session.run(nodes)
        session.run(raw.MergeV2Checkpoints(
            checkpoint_prefixes=[path("rows0"), path("rows1")],
            destination_prefix=path("sliced_shards"), delete_old_dirs=False))


def write_table(folder):
    """A table beside a variable, by a Saver."""
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="tab")
    variable = tf.compat.v1.Variable(1.0, name="v")
    saver = tf.compat.v1.train.Saver()
    with tf.compat.v1.Session() as session:
        session.run(variable.initializer)
        session.run(table.insert(tf.constant(["a", "b"]), tf.constant([5, 6], tf.int64)))
        saver.save(session, os.path.join(folder, "table"), write_meta_graph=False,
                   write_state=False)


if __name__ == "__main__":
    here = os.path.dirname(__file__)
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "checkpoints")
    os.makedirs(out, exist_ok=True)
    tf.compat.v1.reset_default_graph()
    write_all(out)
    write_sliced(out)
    tf.compat.v1.reset_default_graph()
    write_table(out)
