"""Recurrent networks learn as in TensorFlow 1.15: tests/golden/make_recurrent_training.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_recurrent_training import MODELS, trained  # noqa: E402


@pytest.mark.parametrize("name", list(MODELS))
def test_model__learns_as_in_tensorflow(name):
    wanted = json.loads((GOLDEN / "recurrent_training.json").read_text())[name]
    made = trained(tf, name)
    np.testing.assert_allclose(made["losses"], wanted["losses"], rtol=0, atol=1e-4)
    assert made["losses"][-1] < 0.8 * made["losses"][0]
    assert made["results"] == wanted["results"]
