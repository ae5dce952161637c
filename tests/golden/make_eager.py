#!/usr/bin/env python3
"""make_eager.py: records what TensorFlow 2 prints for the programs of the face.

Writes a file of JSON beside each of its modules, or those that are named. Run with a Python that
has TensorFlow 2.21.
"""

import contextlib
import io
import json
import linecache
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import eager_programs  # noqa: E402
import face_programs  # noqa: E402
import name_programs  # noqa: E402
import numpy as np  # noqa: E402
import numpy_programs  # noqa: E402
import tensorflow as tf  # noqa: E402


def printed(name, source):
    text = io.StringIO()
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    with contextlib.redirect_stdout(text):
        try:
            exec(compile(source, name, "exec"), {"tf": tf, "np": np})
        except Exception as error:
            raise SystemExit(f"{name}: {error}") from error
    return text.getvalue()


for module in (eager_programs, face_programs, name_programs, numpy_programs):
    if sys.argv[1:] and module.__name__ not in sys.argv[1:]:
        continue
    recorded = {name: printed(name, source) for name, source in module.programs().items()}
    path = Path(__file__).parent / f"{module.__name__}.json"
    path.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
