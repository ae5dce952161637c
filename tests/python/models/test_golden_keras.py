"""Models of tf.keras predict, train and describe themselves as TensorFlow 1.15's do."""

import json
import os
import sys

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden")
sys.path.insert(0, GOLDEN)
import keras_models  # noqa: E402

with open(os.path.join(GOLDEN, "keras.json")) as _file:
    RECORDED = json.load(_file)


def plain(value):
    """A value of a configuration as JSON has it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return getattr(value, "name", None) or getattr(value, "__name__", str(value))


def assert_arrays(found, expected, tolerance):
    assert [shape for shape, _ in found] == [shape for shape, _ in expected]
    for (_, numbers), (_, wanted) in zip(found, expected):
        np.testing.assert_allclose(numbers, wanted, rtol=1e-5, atol=tolerance)


def test_every_model_is_recorded():
    assert sorted(keras_models.CASES) == sorted(RECORDED)


@pytest.mark.parametrize("name", keras_models.CASES)
def test_a_model(name):
    expected = RECORDED[name]
    tf.keras.backend.clear_session()
    found = keras_models.run(tf.keras, keras_models.CASES[name])
    tf.keras.backend.clear_session()
    found = json.loads(json.dumps(found, default=plain))
    for key in ("names", "metrics_names", "table", "config"):
        if key in expected:
            assert found[key] == expected[key], key
    assert_arrays(found["outputs"], expected["outputs"], 1e-5)
    np.testing.assert_allclose(found["evaluated"], expected["evaluated"], rtol=1e-4, atol=1e-5)
    assert sorted(found["history"]) == sorted(expected["history"])
    for key, values in expected["history"].items():
        np.testing.assert_allclose(found["history"][key], values, rtol=1e-4, atol=1e-5)
    assert_arrays(found["after"], expected["after"], 1e-4)
