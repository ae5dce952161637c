"""tf.experimental.numpy gives what TensorFlow's does: dtypes, shapes and values of many calls."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden"
RECORDED = json.loads((GOLDEN / "numpy_programs.json").read_text())
# The behaviour that the programs turn on is the process's, so they have one of their own.
RUN = """
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import numpy_programs
import rheos.v2 as tf
made = {}
for name, source in numpy_programs.programs().items():
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(source, {"tf": tf, "np": np})
    made[name] = text.getvalue()
print(json.dumps(made))
"""


@pytest.fixture(scope="module")
def printed():
    """What the programs print, by name."""
    arguments = [sys.executable, "-c", RUN, str(GOLDEN)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", RECORDED)
def test_calls_give_what_tensorflow_gives(printed, name):
    assert printed[name].splitlines() == RECORDED[name].splitlines()


def test_promotion_by_weak_types_is_refused():
    import rheos.v2 as tf

    for mode in ("all", "safe"):
        with pytest.raises(NotImplementedError, match=mode):
            tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    with pytest.raises(ValueError, match="other"):
        tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="other")
