"""Writes autograph.json: what TensorFlow 2 gives for the calls of autograph_programs.py.

    python tests/golden/make_autograph.py

A call's answer is a list of [dtype, value] for the flattened result, or the name of the exception.
"""

import json
import os
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import autograph_programs as programs
import numpy as np
import tensorflow as tf

programs.tf = tf


def leaf(value):
    """A result in JSON."""
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        return ["string", [x.decode() if isinstance(x, bytes) else x for x in [array.item()]]]
    return [array.dtype.name, array.tolist()]


def answer(function, args):
    """What a call gives, or the name of the class of what it raises."""
    tensors = [tf.constant(a) if isinstance(a, np.ndarray) else a for a in args]
    try:
        result = tf.function(function)(*tensors)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return [leaf(value) for value in tf.nest.flatten(result) if value is not None]


def main():
    found = {}
    for function, calls in programs.CASES:
        found[function.__name__] = [answer(function, call) for call in calls]
    path = Path(__file__).with_name("autograph.json")
    lines = [f"{json.dumps(name)}: {json.dumps(answers)}" for name, answers in found.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(found), "functions,", sum(map(len, found.values())), "calls", file=sys.stderr)


if __name__ == "__main__":
    main()
