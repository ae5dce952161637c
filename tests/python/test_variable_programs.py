"""Programs with variables against what TensorFlow 1.15 built and computed: make_variables.py."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import rheos.v1 as tf

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from make_variables import COMPUTED, PROGRAMS, record  # noqa: E402

RECORDED = json.loads((GOLDEN / "variables.json").read_text())


def check(made, recorded):
    if isinstance(recorded, list):
        assert len(made) == len(recorded)
        for one, other in zip(made, recorded, strict=True):
            check(one, other)
    elif isinstance(recorded, float):
        np.testing.assert_allclose(made, recorded, rtol=1e-5, atol=1e-6)
    else:
        assert made == recorded


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program__builds_and_computes_the_same(name):
    made = record(tf, name)
    if name not in COMPUTED:
        nodes = {node[0]: node[1:] for node in made["nodes"]}
        assert nodes == {node[0]: node[1:] for node in RECORDED[name]["nodes"]}
    check(made["values"], RECORDED[name]["values"])
