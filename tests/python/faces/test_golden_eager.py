"""What small eager programs print: as TensorFlow 2 does (tests/golden/make_eager.py)."""

import contextlib
import io
import json
import linecache
import sys
from pathlib import Path

import numpy as np
import pytest
from rheos.framework import eager, tensor_shape

GOLDEN = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
import eager_programs  # noqa: E402
import face_programs  # noqa: E402
import name_programs  # noqa: E402

_MODULES = (eager_programs, face_programs, name_programs)
PROGRAMS = {name: text for one in _MODULES for name, text in one.programs().items()}
RECORDED = {
    name: printed
    for one in _MODULES
    for name, printed in json.loads((GOLDEN / f"{one.__name__}.json").read_text()).items()
}


@pytest.fixture
def tf():
    """TensorFlow 2's face, for one test."""
    import rheos.v2

    eager.enable_eager_execution()
    tensor_shape.enable_v2_tensorshape()
    eager.get_eager_graph()._variable_scope = None  # names begin anew
    yield rheos.v2
    eager.disable_eager_execution()


def test_all_programs_are_recorded():
    assert set(PROGRAMS) == set(RECORDED) and len(PROGRAMS) >= 120


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_prints_what_tensorflow_prints(tf, name):
    printed, source = io.StringIO(), PROGRAMS[name]
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    with contextlib.redirect_stdout(printed):
        exec(compile(source, name, "exec"), {"tf": tf, "np": np})
    assert printed.getvalue() == RECORDED[name]
