"""What small eager programs print: as TensorFlow 2 does (tests/golden/make_eager.py)."""

import contextlib
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from rheos.framework import eager

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from eager_programs import programs  # noqa: E402

PROGRAMS = programs()
RECORDED = json.loads((GOLDEN / "eager_programs.json").read_text())


@pytest.fixture
def tf():
    """TensorFlow 2's face, for one test."""
    import rheos.v2

    eager.enable_eager_execution()
    yield rheos.v2
    eager.disable_eager_execution()


def test_all_programs_are_recorded():
    assert set(PROGRAMS) == set(RECORDED) and len(PROGRAMS) >= 120


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_prints_what_tensorflow_prints(tf, name):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(PROGRAMS[name], name, "exec"), {"tf": tf, "np": np})
    assert printed.getvalue() == RECORDED[name]
