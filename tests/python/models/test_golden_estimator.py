"""Programs with estimators: what TensorFlow 1.15's give, and the nodes of their graphs."""

import importlib.util
import json
from pathlib import Path

import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((GOLDEN / "estimator.json").read_text())

_spec = importlib.util.spec_from_file_location("make_estimator", GOLDEN / "make_estimator.py")
make_estimator = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_estimator)


def test_every_program_is_recorded():
    assert set(RECORDED) == set(make_estimator.PROGRAMS)


def is_close(made, recorded):
    """Whether both are the same but for the last digits of numbers."""
    if isinstance(recorded, dict):
        return set(made) == set(recorded) and all(is_close(made[k], recorded[k]) for k in made)
    if isinstance(recorded, list):
        return len(made) == len(recorded) and all(map(is_close, made, recorded))
    if isinstance(recorded, float):
        return made == pytest.approx(recorded, rel=1e-3, abs=1e-7)
    return made == recorded


@pytest.mark.parametrize("name", RECORDED)
def test_program_is_tensorflows(name):
    made = json.loads(json.dumps(make_estimator.answer(tf, name)))
    assert is_close(made, RECORDED[name]), f"{made} is not {RECORDED[name]}"
