"""Writes tracing.json: what TensorFlow 2 gives for the programs of tracing_programs.py.

python tests/golden/make_tracing.py
"""

import json
import os
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
import tracing_programs as programs

programs.tf = tf
programs.value = lambda tensor: tensor.numpy()


def main():
    tf.get_logger().setLevel("ERROR")
    found = {one.__name__: one() for one in programs.PROGRAMS}
    lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in found.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("tracing.json").write_text(text)
    print(len(found), "programs")


if __name__ == "__main__":
    main()
