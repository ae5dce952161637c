#!/usr/bin/env python3
"""Writes models/objects with TensorFlow 2: a saved model of objects, functions and variables.

python make_object_models.py [folder]
"""

import os
import sys

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2


class Inner(tf.Module):
    def __init__(self):
        super().__init__()
        self.bias = tf.Variable([1.0, 2.0], name="bias")
        self.calls = tf.Variable(0, trainable=False)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.inner = Inner()
        self.parts = [tf.Variable(5.0), {"a": tf.Variable(6.0)}]
        self.factor = tf.constant(3.0)
        words = tf.lookup.KeyValueTensorInitializer(["one", "two"], tf.constant([1, 2], tf.int64))
        self.table = tf.lookup.StaticHashTable(words, -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        self.inner.calls.assign_add(1)
        return tf.matmul(x, self.w) + self.inner.bias * self.factor

    @tf.function
    def loop(self, x, n=2, training=False):
        for _ in tf.range(n):
            x = x * self.parts[0] if training else x + self.parts[1]["a"]
        return {"y": x, "more": (n, x * 2.0)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look_up(self, words):
        return self.table.lookup(words)


if __name__ == "__main__":
    here = os.path.dirname(__file__)
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "models", "objects")
    model = Model()
    model.loop(tf.constant(1.0))
    model.loop(tf.constant(1.0), 3, training=True)
    model.loop(tf.constant([1.0, 2.0]), tf.constant(2))
    tf.saved_model.save(model, out, signatures=model.__call__)
    path = os.path.join(out, "saved_model.pb")
    with open(path, "rb") as file:
        saved = saved_model_pb2.SavedModel.FromString(file.read())
    for graph in saved.meta_graphs:  # half of the file, and no program needs it
        graph.meta_info_def.ClearField("stripped_op_list")
    with open(path, "wb") as file:
        file.write(saved.SerializeToString(deterministic=True))
    os.remove(os.path.join(out, "fingerprint.pb"))
