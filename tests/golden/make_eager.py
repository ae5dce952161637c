#!/usr/bin/env python3
"""make_eager.py: records in eager_programs.json what TensorFlow 2 prints for the eager programs.

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
from eager_programs import programs  # noqa: E402

recorded = {}
for name, source in programs().items():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, name, "exec"), {"tf": tf, "np": np})
        except Exception as error:
            raise SystemExit(f"{name}: {error}") from error
    recorded[name] = printed.getvalue()
path = Path(__file__).parent / "eager_programs.json"
path.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
