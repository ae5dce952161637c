"""The real TensorFlow in a process of its own, for the tests that compare with it.

It is looked for in the interpreter named by RHEOS_TENSORFLOW_PYTHON, else in this one.
"""

import functools
import importlib.util
import json
import os
import subprocess
import sys

INTERPRETER = os.environ.get("RHEOS_TENSORFLOW_PYTHON") or (
    sys.executable if importlib.util.find_spec("tensorflow") else None)  # fmt: skip

PREAMBLE = """
import glob, json, sys
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
folder = sys.argv[1]
def answer(value):
    print("answer: " + json.dumps(value))
"""


def tensorflow(script, folder):
    """Runs a script with TensorFlow; what it gives to answer() comes back."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([INTERPRETER, "-c", PREAMBLE + script, str(folder)], env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("answer: ")]
    assert lines, done.stderr
    return json.loads(lines[-1].removeprefix("answer: "))


@functools.cache
def is_tensorflow_1():
    script = "import tensorflow as tf; print(tf.__version__)"
    done = subprocess.run([INTERPRETER, "-c", script], capture_output=True, text=True, check=False)
    return done.stdout.startswith("1.")
