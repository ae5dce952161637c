"""Layers against what TensorFlow 1.15 built and computed: tests/golden/make_layers.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
from make_layers import FUNCTIONS, PROGRAMS, run, values  # noqa: E402

RECORDED = json.loads((GOLDEN / "layers.json").read_text())


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_layer__builds_and_computes_the_same(name):
    made, recorded = run(tf, name), RECORDED[name]
    assert made["nodes"] == recorded["nodes"]
    assert made["collections"] == recorded["collections"]
    assert len(made["values"]) == len(recorded["values"])
    for value, wanted in zip(made["values"], recorded["values"]):
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_function__computes_the_same(name):
    made, recorded = values(tf, name), RECORDED[name]
    assert [shape for shape, _ in made] == [shape for shape, _ in recorded]
    for (_, value), (_, wanted) in zip(made, recorded):
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=3e-5)
