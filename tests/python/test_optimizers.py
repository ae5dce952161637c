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


def run_again(name):
    return run(tf, name.removeprefix("resource_"), name.startswith("resource_"))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_optimizer__builds_the_same_nodes(name):
    made = {node[0]: node[1:] for node in run_again(name)["nodes"]}
    assert made == {node[0]: node[1:] for node in RECORDED[name]["nodes"]}


def through_hooks(optimizer_class):
    """A subclass that defines a hook, so that every part of the step is called from Python."""

    class Hooked(optimizer_class):
        def _prepare(self):
            super()._prepare()

    return Hooked


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_optimizer__builds_the_same_nodes_by_its_hooks(name, monkeypatch):
    for kind in dir(tf.train):
        if kind.endswith("Optimizer") and kind != "Optimizer":
            monkeypatch.setattr(tf.train, kind, through_hooks(getattr(tf.train, kind)))
    made = {node[0]: node[1:] for node in run_again(name)["nodes"]}
    assert made == {node[0]: node[1:] for node in RECORDED[name]["nodes"]}


def test_records__hold_every_optimizer_with_both_kinds_of_variables():
    assert set(RECORDED) == {p + name for name in OPTIMIZERS for p in ("", "resource_")}


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_optimizer__takes_the_same_five_steps(name):
    values = run_again(name)["values"]
    assert sorted(values) == sorted(RECORDED[name]["values"])
    for variable, recorded in RECORDED[name]["values"].items():
        np.testing.assert_allclose(values[variable], recorded, rtol=1e-5, atol=1e-6,
                                   err_msg=variable)


def test_ftrl__refuses_negative_strengths():
    with pytest.raises(ValueError, match="l1_regularization_strength"):
        tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0)
    with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
        tf.train.ProximalAdagradOptimizer(0.1, initial_accumulator_value=0.0)
