"""Metrics of tf.contrib.metrics beside what TensorFlow 1.15 gives, and what they refuse."""

import importlib.util
import json
import os

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden")
_spec = importlib.util.spec_from_file_location(
    "make_contrib_metrics", os.path.join(GOLDEN, "make_contrib_metrics.py")
)
recorded = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorded)
with open(recorded.PATH) as file:
    EXPECTED = json.load(file)


@pytest.fixture(scope="module")
def found():
    return recorded.outcomes(tf)


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_values_and_variables(found, case):
    values, names = EXPECTED[case]
    assert found[case][1] == names
    for mine, theirs in zip(found[case][0], values):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


def test_values_along_another_axis_and_no_more_than_fit():
    with tf.Graph().as_default(), tf.Session() as sess:
        part = tf.placeholder(tf.int32, [2, None])
        for most, kept in ((None, 6), (4, 4)):
            value, update = tf.contrib.metrics.streaming_concat(part, axis=1, max_size=most)
            sess.run(tf.local_variables_initializer())
            for number in range(2):
                sess.run(update, {part: np.full([2, 3], number)})
            assert sess.run(value).tolist() == [[0, 0, 0, 1, 1, 1][:kept]] * 2
        with pytest.raises(ValueError, match="statically known size"):
            tf.contrib.metrics.streaming_concat(part)
        with pytest.raises(ValueError, match="not in"):
            tf.contrib.metrics.streaming_concat(part, axis=2)


def test_what_is_refused():
    metrics = tf.contrib.metrics
    with tf.Graph().as_default():
        labels, predictions = tf.constant([1, 0]), tf.constant([0.5, 0.5])
        with pytest.raises(ValueError, match="ROC or PR"):
            metrics.streaming_curve_points(labels, predictions, curve="X")
        with pytest.raises(ValueError, match="range"):
            metrics.recall_at_precision(labels, predictions, 2)
        with pytest.raises(ValueError, match=">= 2"):
            metrics.cohen_kappa(labels, labels, 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="0 or 1"), tf.Session() as sess:
            _, update = metrics.streaming_dynamic_auc(labels * 2, predictions)
            sess.run(tf.local_variables_initializer())
            sess.run(update)
