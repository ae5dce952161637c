"""Feature columns and canned estimators: what TensorFlow 1.15 makes of the same programs."""

import importlib.util
import json
import os
from pathlib import Path

import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((GOLDEN / "feature_columns.json").read_text())

_spec = importlib.util.spec_from_file_location("programs", GOLDEN / "make_feature_columns.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)


def nearly(made, recorded):
    """Whether both are the same but for the last digits of numbers."""
    if isinstance(recorded, dict):
        return set(made) == set(recorded) and all(nearly(made[k], recorded[k]) for k in made)
    if isinstance(recorded, list):
        return len(made) == len(recorded) and all(map(nearly, made, recorded))
    if isinstance(recorded, float):
        return made == pytest.approx(recorded, rel=1e-4, abs=1e-5)
    return made == recorded


def test_every_program_is_recorded():
    assert set(RECORDED) == set(programs.PROGRAMS)


@pytest.mark.parametrize("name", RECORDED)
def test_program_gives_what_tensorflow_gave(name):
    os.chdir(GOLDEN.parents[1])  # the programs name files from there
    made = json.loads(json.dumps(programs.answer(tf, name)))
    assert nearly(made, RECORDED[name]), f"{made} is not {RECORDED[name]}"
