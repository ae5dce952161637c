"""Programs of tf.keras give what they give in TensorFlow 2: the recorded numbers and texts."""

import json
import os
import sys

import numpy as np
import pytest
import rheos as tf

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden")
sys.path.insert(0, GOLDEN)
import keras_everyday  # noqa: E402, F401
import keras_guides  # noqa: E402, F401
import keras_names  # noqa: E402, F401
import keras_programs  # noqa: E402
import keras_training  # noqa: E402, F401

with open(os.path.join(GOLDEN, "keras_programs.json")) as _file:
    RECORDED = json.load(_file)


def assert_same(found, expected, at):
    if isinstance(expected, dict) and set(expected) == {"dtype", "shape", "numbers"}:
        assert (found["dtype"], found["shape"]) == (expected["dtype"], expected["shape"]), at
        largest = max([abs(x) for x in expected["numbers"] if np.isfinite(x)], default=0.0)
        np.testing.assert_allclose(
            found["numbers"], expected["numbers"], rtol=1e-4, atol=1e-5 * max(largest, 1.0),
            err_msg=at,
        )  # fmt: skip
    elif isinstance(expected, dict):
        assert list(found) == list(expected), at
        for key, value in expected.items():
            assert_same(found[key], value, f"{at}[{key!r}]")
    elif isinstance(expected, list):
        assert len(found) == len(expected), at
        for i, value in enumerate(expected):
            assert_same(found[i], value, f"{at}[{i}]")
    else:
        assert found == expected, at


def test_every_program_is_recorded():
    assert sorted(keras_programs.PROGRAMS) == sorted(RECORDED)


@pytest.mark.parametrize("name", keras_programs.PROGRAMS)
def test_a_program(name):
    found = json.loads(json.dumps(keras_programs.recorded(tf, name)))
    assert_same(found, RECORDED[name], name)
