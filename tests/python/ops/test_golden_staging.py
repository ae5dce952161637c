"""Barriers, staging areas, accumulators and readers' states: TensorFlow 1.15's nodes and values."""

import importlib.util
import json
from pathlib import Path

import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((GOLDEN / "staging.json").read_text())

_spec = importlib.util.spec_from_file_location("make_staging", GOLDEN / "make_staging.py")
make_staging = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_staging)


def test_every_program_is_recorded():
    assert set(RECORDED) == set(make_staging.PROGRAMS)


@pytest.mark.parametrize("name", RECORDED)
def test_program_is_tensorflows(name):
    made = json.loads(json.dumps(make_staging.answer(tf, name)))
    recorded = RECORDED[name]
    assert made["nodes"] == recorded["nodes"]
    assert made["answers"] == recorded["answers"]
