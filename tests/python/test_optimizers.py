"""Optimizers against what TensorFlow 1.15 built and computed: tests/golden/make_optimizers.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from make_optimizers import OPTIMIZERS, run  # noqa: E402

RECORDED = json.loads((GOLDEN / "optimizers.json").read_text())


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_optimizer__builds_the_same_nodes(name):
    made = {node[0]: node[1:] for node in run(tf, name)["nodes"]}
    assert made == {node[0]: node[1:] for node in RECORDED[name]["nodes"]}


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_optimizer__takes_the_same_five_steps(name):
    values = run(tf, name)["values"]
    assert sorted(values) == sorted(RECORDED[name]["values"])
    for variable, recorded in RECORDED[name]["values"].items():
        np.testing.assert_allclose(values[variable], recorded, rtol=1e-5, atol=1e-6,
                                   err_msg=variable)


def test_ftrl__refuses_negative_strengths():
    with pytest.raises(ValueError, match="l1_regularization_strength"):
        tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0)
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
        tf.train.ProximalAdagradOptimizer(0.1, initial_accumulator_value=0.0)
