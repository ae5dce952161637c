#!/usr/bin/env python3
"""Records what TensorFlow 1.15's optimizers build and where five steps take the variables.

Usage: python make_optimizers.py      (a Python that has TensorFlow 1.15.5)

Writes optimizers.json; test_optimizers.py runs the same programs, which are here; and
optimizer_steps.txt for tests/train/test_optimizers.c: a line a variable, its optimizer, name,
values.
"""

import json
import os
import sys

import numpy as np

OPTIMIZERS = {
    "descent": lambda tf, step: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf, step: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda tf, step: tf.train.AdagradOptimizer(0.1),
    "adam": lambda tf, step: tf.train.AdamOptimizer(0.1),
    "rmsprop": lambda tf, step: tf.train.RMSPropOptimizer(0.1, momentum=0.5, epsilon=1e-3),
    "centered": lambda tf, step: tf.train.RMSPropOptimizer(0.1, epsilon=1e-3, centered=True),
    "adadelta": lambda tf, step: tf.train.AdadeltaOptimizer(0.5, epsilon=1e-3),
    "ftrl": lambda tf, step: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "shrunk_ftrl": lambda tf, step: tf.train.FtrlOptimizer(
        0.1, -0.4, l2_regularization_strength=0.1, l2_shrinkage_regularization_strength=0.1
    ),
    "proximal_descent": lambda tf, step: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.05
    ),
    "proximal_adagrad": lambda tf, step: tf.train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.05, l2_regularization_strength=0.1
    ),
    "adagrad_da": lambda tf, step: tf.train.AdagradDAOptimizer(
        0.1, step, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
}


def run(tf, name, use_resource=False):
    """{"nodes": [[name, op, inputs, controls]], "values": {variable: list}} of one optimizer."""
    with tf.Graph().as_default() as graph, tf.variable_scope("", use_resource=use_resource):
        table = tf.get_variable("table", initializer=[[1.0, -2.0], [0.5, 3.0], [-1.0, 0.25]])
        bias = tf.get_variable("bias", [2], initializer=tf.zeros_initializer())
        step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False)
        ids = tf.constant([2, 0, 2], name="ids")
        rows = tf.gather(table, ids, name="rows")
        loss = tf.reduce_sum(tf.square(rows + bias), axis=[0, 1], name="loss")
        first = len(graph.get_operations())
        train = OPTIMIZERS[name](tf, step).minimize(loss, global_step=step)
        nodes = [
            [
                op.name,
                op.type,
                [i.name for i in op.inputs],
                sorted(c.name for c in op.control_inputs),
            ]
            for op in graph.get_operations()[first:]
        ]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(5):
                session.run(train)
            variables = tf.global_variables()
            values = {v.op.name: session.run(v).tolist() for v in variables}
    return {"nodes": sorted(nodes), "values": values}


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "optimizers.json")
    recorded = {name: run(tf, name) for name in OPTIMIZERS}
    for name in OPTIMIZERS:
        recorded["resource_" + name] = run(tf, name, use_resource=True)
    with open(path, "w") as file:
        json.dump(recorded, file, indent=0, sort_keys=True)
        file.write("\n")
    with open(os.path.join(os.path.dirname(path), "optimizer_steps.txt"), "w") as file:
        for name in sorted(OPTIMIZERS):
            for variable, values in sorted(recorded[name]["values"].items()):
                numbers = np.asarray(values).ravel()
                file.write(" ".join([name, variable, *("%.9g" % v for v in numbers)]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
