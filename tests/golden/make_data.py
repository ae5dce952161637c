#!/usr/bin/env python3
"""make_data.py: records in data_programs.json what TensorFlow 2 prints for the programs of tf.data.

Run with a Python that has TensorFlow 2.21.
"""

import contextlib
import io
import json
import os
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from data_programs import PROGRAMS, show  # noqa: E402

tf.get_logger().setLevel("ERROR")
FOLDER = Path("/tmp/data_programs")  # converted functions need the text of their files


def printed(name):
    """What a program prints."""
    path = FOLDER / f"{name}.py"
    path.write_text(PROGRAMS[name])
    out = io.StringIO()
    scope = {"tf": tf, "np": np, "D": tf.data.Dataset, "show": show}
    with contextlib.redirect_stdout(out):
        exec(compile(PROGRAMS[name], str(path), "exec"), scope)
    return out.getvalue()


FOLDER.mkdir(exist_ok=True)
recorded = {name: printed(name) for name in PROGRAMS}
path = Path(__file__).parent / "data_programs.json"
path.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
