"""What small programs of tf.data print: as TensorFlow 2 does (tests/golden/make_data.py)."""

import contextlib
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from rheos.framework import eager, tensor_shape

GOLDEN = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
from data_programs import PROGRAMS, show  # noqa: E402

RECORDED = json.loads((GOLDEN / "data_programs.json").read_text())


@pytest.fixture
def tf():
    """TensorFlow 2's face, for one test."""
    import rheos.v2

    eager.enable_eager_execution()
    tensor_shape.enable_v2_tensorshape()
    yield rheos.v2
    eager.disable_eager_execution()


def test_all_programs_are_recorded():
    assert set(PROGRAMS) == set(RECORDED) and len(PROGRAMS) >= 50


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_prints_what_tensorflow_prints(tf, name, tmp_path):
    path = tmp_path / f"{name}.py"  # converted functions need the text of their files
    path.write_text(PROGRAMS[name])
    scope = {"tf": tf, "np": np, "D": tf.data.Dataset, "show": show}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(PROGRAMS[name], str(path), "exec"), scope)
    assert printed.getvalue() == RECORDED[name]
