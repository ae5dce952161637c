"""Gradients of loops against TensorFlow 1.15: tests/golden/make_loop_gradients.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from make_loop_gradients import PROGRAMS, TRIPS, build, compute  # noqa: E402

RECORDED = json.loads((GOLDEN / "loop_gradients.json").read_text())["programs"]

# Less is known of shapes in the first, and in the second more of a variable behind its handle.
OTHER_NODES = {"reductions", "rows_of_a_resource"}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in OTHER_NODES])
def test_gradient__is_made_of_the_same_nodes(name):
    made, _, _ = build(tf, name)
    recorded = RECORDED[name]
    assert [node[0] for node in made["nodes"]] == [node[0] for node in recorded["nodes"]]
    assert made["nodes"] == recorded["nodes"]
    assert made["contexts"] == recorded["contexts"]


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_gradient__has_the_same_values(name):
    _, slopes, n = build(tf, name)
    made, recorded = compute(tf, slopes, n), RECORDED[name]["values"]
    assert made[0] == recorded[0]
    for trips, values, wanted in zip(TRIPS, made[1:], recorded[1:], strict=True):
        if wanted is None:  # TensorFlow fails
            continue
        for value, one in zip(values, wanted, strict=True):
            np.testing.assert_allclose(value, one, rtol=2e-5, atol=1e-6, err_msg=str(trips))
