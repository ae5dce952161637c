#!/usr/bin/env python3
# ruff: noqa: E501
"""Records what metrics of tf.contrib.metrics give after two steps, and their variables.

Usage: python make_contrib_metrics.py      (a Python that has TensorFlow 1.15.5)

Writes contrib_metrics.json. test_contrib_metrics.py runs `outcomes()` on Rheos.
"""

import json
import os

import numpy as np

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contrib_metrics.json")

# By name: a function of tf, tf.contrib.metrics, predictions, labels and weights.
CASES = {
    "f1_score": lambda tf, m, P, L, W: m.f1_score(L, P, W, num_thresholds=5),
    "recall_at_precision": lambda tf, m, P, L, W: m.recall_at_precision(L, P, 0.6, W, 5),
    "recall_at_precision strictly": lambda tf, m, P, L, W: m.recall_at_precision(L, P, 0.6, W, 5, strict_mode=True),
    "precision_at_recall": lambda tf, m, P, L, W: m.precision_at_recall(L, P, 0.5, W, 5),
    "curve ROC": lambda tf, m, P, L, W: m.streaming_curve_points(L, P, W, 4),
    "curve PR": lambda tf, m, P, L, W: m.streaming_curve_points(L, P, W, 4, curve="PR"),
    "equal thresholds": lambda tf, m, P, L, W: m.precision_recall_at_equal_thresholds(tf.cast(L, tf.bool), P, W, 3),
    "concat": lambda tf, m, P, L, W: m.streaming_concat(P, max_size=11),
    "concat all": lambda tf, m, P, L, W: m.streaming_concat(P),
    "dynamic ROC": lambda tf, m, P, L, W: m.streaming_dynamic_auc(L, P, weights=W),
    "dynamic PR": lambda tf, m, P, L, W: m.streaming_dynamic_auc(L, P, "PR"),
    "kappa": lambda tf, m, P, L, W: m.cohen_kappa(L, tf.cast(P > 0.5, tf.int64), 2, W),
    "kappa whole": lambda tf, m, P, L, W: m.cohen_kappa(L, tf.cast(P > 0.5, tf.int64), 2),
    "fpr": lambda tf, m, P, L, W: m.streaming_false_positive_rate(P > 0.5, L, W),
    "fnr": lambda tf, m, P, L, W: m.streaming_false_negative_rate(P > 0.5, L, W),
    "fpr at": lambda tf, m, P, L, W: m.streaming_false_positive_rate_at_thresholds(P, L, [0.3, 0.6], W),
    "fnr at": lambda tf, m, P, L, W: m.streaming_false_negative_rate_at_thresholds(P, L, [0.3, 0.6], W),
    "tn at": lambda tf, m, P, L, W: m.streaming_true_negatives_at_thresholds(P, L, [0.3, 0.6], W),
    "sensitivity": lambda tf, m, P, L, W: m.streaming_sensitivity_at_specificity(P, L, specificity=0.5, num_thresholds=5),
    "recall at k": lambda tf, m, P, L, W: m.streaming_recall_at_k(tf.stack([P, 1 - P], 1), L, 1, W),
    "sparse recall at k": lambda tf, m, P, L, W: m.streaming_sparse_recall_at_k(tf.stack([P, 1 - P], 1), L[:, None], 1, 1),
    "sparse recall at top k": lambda tf, m, P, L, W: m.sparse_recall_at_top_k(L[:, None], L[:, None], 0),
    "average precision": lambda tf, m, P, L, W: m.streaming_sparse_average_precision_at_top_k(tf.constant([[1, 0]] * 8, tf.int64), L[:, None]),
}


def _rounded(value):
    parts = value if isinstance(value, tuple) else (value,)
    return [np.round(np.asarray(part, np.float64), 5).tolist() for part in parts]


def outcomes(tf):
    """{case: [values after two steps, names of variables]}."""
    draw = np.random.RandomState(3)
    steps = [
        (draw.rand(8).round(2), draw.randint(0, 2, 8), draw.rand(8).round(2)) for _ in range(2)
    ]
    found = {}
    for name, make in CASES.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            dtypes = (tf.float32, tf.int64, tf.float32)
            places = [tf.placeholder(dtype, [None]) for dtype in dtypes]
            value, update = make(tf, tf.contrib.metrics, *places)
            sess.run(tf.local_variables_initializer())
            for step in steps:
                sess.run(update, dict(zip(places, step)))
            value = sess.run(value, dict(zip(places, steps[0])))
            names = sorted(variable.op.name for variable in tf.local_variables())
        found[name] = [_rounded(value), names]
    return found


if __name__ == "__main__":
    import tensorflow

    with open(PATH, "w") as file:
        json.dump(outcomes(tensorflow), file, indent=1)
        file.write("\n")
