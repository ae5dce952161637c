"""Losses and metrics of version 2's models: batches of any size, weights and masks.

The numbers are TensorFlow 2.21's.
"""

import numpy as np
import pytest
import rheos as tf

PREDICTIONS = (np.arange(33) * 37 % 100 / 100).astype("float32").reshape(11, 3)
LABELS = (np.arange(33) * 7 % 5 > 2).astype("float32").reshape(11, 3)
WEIGHTS = (np.arange(11) % 4 * 0.5).astype("float32")
SHAPES = (lambda x: x, lambda x: x[:, :1], lambda x: x[:, 0])  # [N, M], [N, 1], [N]


def result(metric, shape, is_weighted):
    """Of batches of 7, 3 and 1 rows."""
    for rows in (slice(0, 7), slice(7, 10), slice(10, 11)):
        weights = {"sample_weight": WEIGHTS[rows]} if is_weighted else {}
        metric.update_state(shape(LABELS[rows]), shape(PREDICTIONS[rows]), **weights)
    return np.asarray(metric.result())


@pytest.mark.parametrize(
    "name, settings, expected",
    [
        ("BinaryAccuracy", {}, [0.48485, 0.42222, 0.54545, 0.4, 0.54545, 0.4]),
        ("Accuracy", {}, [0.0303, 0.0, 0.09091, 0.0, 0.09091, 0.0]),
        ("MeanSquaredError", {}, [0.3223, 0.36293, 0.19805, 0.29521, 0.14516, None]),
        ("RootMeanSquaredError", {}, [0.56772, 0.60244, 0.44502, 0.54333, 0.44502, 0.54333]),
        ("BinaryCrossentropy", {}, [0.93829, 1.0599, 0.53499, 0.76836, 0.4124, None]),
        ("Recall", {"top_k": 2}, [0.69231, 0.625]),
        ("Precision", {"top_k": 2}, [0.40909, 0.33333]),
        ("TopKCategoricalAccuracy", {"k": 2}, [0.72727, 0.6, 1.0, 1.0]),
    ],
)
def test_a_metric_weighs_rows_not_batches(name, settings, expected):
    cases = [(shape, is_weighted) for shape in SHAPES for is_weighted in (False, True)]
    for (shape, is_weighted), wanted in zip(cases, expected):
        metric = getattr(tf.keras.metrics, name)(**settings)
        if wanted is None:
            with pytest.raises(tf.errors.InvalidArgumentError):
                result(metric, shape, is_weighted)
        else:
            np.testing.assert_allclose(result(metric, shape, is_weighted), wanted, atol=2e-5)


def test_metrics_hear_masks():
    predictions = tf.constant([[0.9, 0.2], [0.8, 0.7], [0.4, 0.1]])
    predictions._keras_mask = tf.constant([True, False, True])
    labels = [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    metric = tf.keras.metrics.BinaryAccuracy()
    metric.update_state(labels, predictions)
    assert float(metric.result()) == 1.0
    metric.update_state(labels, predictions, sample_weight=[0.0, 1.0, 2.0])
    assert float(metric.result()) == 1.0
    overlap = tf.keras.metrics.MeanIoU(2)  # weights of one number, as those of all others
    overlap.update_state([0, 1, 1], [0, 1, 0], sample_weight=2)
    np.testing.assert_allclose(float(overlap.result()), 0.5, atol=1e-6)


PROBABILITIES = [[0.3, 0.7, 0.1], [0.6, 0.1, 0.3], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]


@pytest.mark.parametrize(
    "reduction, expected",
    [
        ("sum_over_batch_size", [0.71356, 1.23187, 2.40795]),
        ("sum", [1.42712, 2.46373, 2.40795]),
        ("mean_with_sample_weight", [0.71356, 1.09499, 1.20397]),
        (None, [[0, 1.20397, 0, 0.22314], [0, 2.40795, 0, 0.05579], [0, 2.40795, 0, 0]]),
    ],
)
def test_the_mean_of_a_loss_is_of_what_is_not_ignored(reduction, expected):
    loss = tf.keras.losses.SparseCategoricalCrossentropy(ignore_class=0, reduction=reduction)
    masked = tf.constant(PROBABILITIES)
    masked._keras_mask = tf.constant([True, True, True, False])
    weights = [1, 2, 0.5, 0.25]
    labels = [0, 2, 0, 1]
    found = [
        loss(labels, tf.constant(PROBABILITIES)),
        loss(labels, tf.constant(PROBABILITIES), sample_weight=weights),
        loss(labels, masked, sample_weight=weights),
    ]
    for value, wanted in zip(found, expected):
        np.testing.assert_allclose(value, wanted, atol=2e-5)


def test_losses_of_vectors_have_one_value_that_weights_spread():
    loss = tf.keras.losses.MeanSquaredError(reduction="none")
    found = loss([1.0, 0.0], tf.constant([0.0, 0.0]), sample_weight=[1.0, 3.0])
    np.testing.assert_allclose(found, [0.5, 1.5])
    assert tf.keras.losses.Huber(dtype="float64")([1.0], [0.0]).dtype == "float64"
    with pytest.raises(ValueError, match="same shape"):
        tf.keras.losses.BinaryCrossentropy()([[1.0]], tf.constant([[0.2, 0.3]]))


def test_training_hears_the_mask_and_what_is_ignored():
    keras = tf.keras
    inputs = keras.Input([3, 1])
    outputs = keras.layers.Dense(2, kernel_initializer="ones")(keras.layers.Masking()(inputs))
    model = keras.Model(inputs, outputs)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)
    model.compile("sgd", loss)
    x = np.array([[[1.0], [2.0], [0.0]], [[1.0], [0.0], [0.0]]], "float32")
    y = np.array([[0, -1, 1], [1, 1, 1]])
    # The two that count have logits that are equal.
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0), np.log(2), atol=1e-5)
