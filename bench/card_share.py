#!/usr/bin/env python3
"""Which part of a training step a graphics card computes, by placement: a table of six models.

    card_share.py [BUILD]

Nothing runs, and no card is needed: `rheos show --placement --gpus 1` places the operations that
the step needs. Constants and inputs are not counted. What is about whole numbers is mostly shapes,
which plans know before a step runs; a loop's control flow becomes a loop of the plan, which has no
place.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import models
import numpy as np

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
os.environ["RHEOS_OPENCL"] = "off"
sys.path.insert(0, str(BUILD / "python"))

import rheos.v1 as tf  # noqa: E402

NOT_COUNTED = {"Const", "Placeholder", "NoOp"}
ABOUT_SHAPES = {"Shape", "ShapeN", "Size", "Rank"}
OF_LOOPS = {"Enter", "Exit", "Switch", "Merge", "NextIteration", "LoopCond", "ControlTrigger"}
OF_LOOPS |= {"StackV2", "StackPushV2", "StackPopV2"}
WHOLE = {tf.int32, tf.int64, tf.bool}


def train(loss):
    return models.Model([loss, tf.train.AdamOptimizer().minimize(loss)])


def lstm(tf, small):
    x = tf.placeholder(tf.float32, [None, 20, 16])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(64), x, dtype=tf.float32)
    return train(tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 3))))


def variational_autoencoder(tf, small):
    x = tf.placeholder(tf.float32, [None, 784])
    hidden = tf.layers.dense(x, 200, tf.nn.relu)
    mean, spread = tf.layers.dense(hidden, 20), tf.layers.dense(hidden, 20)
    code = mean + tf.exp(spread / 2) * tf.random_normal(tf.shape(mean))
    logits = tf.layers.dense(tf.layers.dense(code, 200, tf.nn.relu), 784)
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
    gain = 1 + spread - tf.square(mean) - tf.exp(spread)
    return train(tf.reduce_mean(tf.reduce_sum(loss, 1) - 0.5 * tf.reduce_sum(gain, 1)))


def word_vectors(tf, small):
    words, near = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None, 1])
    vectors = tf.get_variable("vectors", [5000, 64])
    weights = tf.get_variable("weights", [5000, 64])
    inputs = tf.nn.embedding_lookup(vectors, words)
    zeros = tf.get_variable("biases", initializer=np.zeros(5000, np.float32))
    return train(tf.reduce_mean(tf.nn.nce_loss(weights, zeros, near, inputs, 16, 5000)))


ROWS = [
    ("LeNet", models.lenet_sgd),
    ("ResNet-50", models.resnet_50_sgd),
    ("BERT layer", models.bert_sgd(8)),
    ("LSTM by dynamic_rnn", lstm),
    ("variational autoencoder", variational_autoencoder),
    ("word vectors with sampled losses", word_vectors),
]


def placed(build):
    """(operation, where it is placed and why) for what a step of the model needs."""
    with tf.Graph().as_default() as graph, tempfile.NamedTemporaryFile(suffix=".pb") as file:
        fetches = [getattr(fetch, "op", fetch).name for fetch in build(tf, False).fetches]
        needed = tf.graph_util.extract_sub_graph(graph.as_graph_def(), fetches)
        file.write(needed.SerializeToString())
        file.flush()
        command = [BUILD / "bin/rheos", "show", "--placement", "--gpus=1", "--soft-placement"]
        done = subprocess.run([*command, "--json", file.name], capture_output=True, check=True)
        return [
            (graph.get_operation_by_name(row["node"]), row)
            for row in json.loads(done.stdout)["placement"]
        ]


def kind_of(op, row):
    if "/device:GPU:" in row["given"]:
        return "card"
    if op.type in OF_LOOPS:
        return "loops"
    values = [*op.outputs, *op.inputs]
    if op.type in ABOUT_SHAPES or all(value.dtype.base_dtype in WHOLE for value in values):
        return "whole"
    return "rest"


def main():
    print("| training step | operations | on the card | whole numbers, shapes | a loop's | rest |")
    print("|---|---|---|---|---|---|")
    for name, build in ROWS:
        kinds, rest = collections.Counter(), collections.Counter()
        for op, row in placed(build):
            if op.type in NOT_COUNTED:
                continue
            kind = kind_of(op, row)
            kinds[kind] += 1
            if kind == "rest":
                rest[op.type] += 1
        cells = [name, kinds.total(), *(kinds[kind] for kind in ("card", "whole", "loops"))]
        left = ", ".join(f"{count} {op}" for op, count in rest.most_common())
        print("|", " | ".join(map(str, cells)), "|", left or "none", "|")


if __name__ == "__main__":
    main()
