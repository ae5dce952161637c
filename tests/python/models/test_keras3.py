"""Programs of the real Keras 3, with KERAS_BACKEND=tensorflow, run as `rheos run` runs them.

Where this Python has no Keras 3 they are skipped: the package `keras` of the registry, unchanged.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos

GOLDEN = Path(__file__).parents[2] / "golden"
LAUNCHER = os.path.join(os.path.dirname(rheos.__file__), "_launch.py")


def has_keras_3():
    try:
        return int(importlib.metadata.version("keras").split(".")[0]) >= 3
    except importlib.metadata.PackageNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not has_keras_3(), reason="Keras 3 is not installed here")


@pytest.fixture(scope="module")
def found():
    """What the programs give, by name."""
    done = subprocess.run(
        [sys.executable, LAUNCHER, "auto", str(GOLDEN / "keras3_programs.py")],
        env=dict(os.environ, KERAS_BACKEND="tensorflow"),
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    line = [s for s in done.stdout.splitlines() if s.startswith("answer: ")][-1]
    return json.loads(line.removeprefix("answer: "))


RECORDED = json.loads((GOLDEN / "keras3.json").read_text())


def compare(one, other, path):
    if isinstance(other, list):
        assert isinstance(one, list) and len(one) == len(other), path
        for i, (a, b) in enumerate(zip(one, other)):
            compare(a, b, f"{path}[{i}]")
    else:
        np.testing.assert_allclose(one, other, atol=1e-4, rtol=1e-4, err_msg=path)


@pytest.mark.parametrize("name", RECORDED)
def test_a_program_of_keras_3_gives_tensorflows_numbers(found, name):
    compare(found[name], RECORDED[name], name)


CHOSEN = """
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.keras.layers import Dense
import tensorflow.keras.backend as K
print(tf.keras.__name__.split(".")[0], hasattr(tf.keras, "ops"), Dense is tf.keras.layers.Dense,
      tf.optimizers.Adam is tf.keras.optimizers.Adam)
model = tf.keras.Sequential([tf.keras.Input([2]), layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(tf.ones([4, 2]), tf.ones([4, 1]), verbose=0)
"""


@pytest.mark.parametrize(
    "chosen, expected",
    [
        ({"RHEOS_KERAS": "3"}, "keras True True True"),
        ({}, "rheos False True True"),
        ({"RHEOS_KERAS": "2"}, "rheos False True True"),
        ({"RHEOS_KERAS": "3", "TF_USE_LEGACY_KERAS": "1"}, "rheos False True True"),
    ],
)
def test_tf_keras_is_the_package_where_that_is_asked_for(chosen, expected):
    held = {k: v for k, v in os.environ.items() if k not in ("RHEOS_KERAS", "TF_USE_LEGACY_KERAS")}
    done = subprocess.run(
        [sys.executable, LAUNCHER, "tf2", "-c", CHOSEN], env={**held, **chosen},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = done.stdout.split()
    assert [found[0], *found[1:]] == expected.split()
