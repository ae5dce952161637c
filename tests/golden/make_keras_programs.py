"""Records what TensorFlow 2 gives for the programs of keras_programs.py: keras_programs.json.

python make_keras_programs.py [program ...], with TensorFlow 2 installed: all, or those named.
"""

import json
import os
import sys

import keras_everyday  # noqa: F401
import keras_guides  # noqa: F401
import keras_names  # noqa: F401
import keras_programs
import keras_training  # noqa: F401
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    path, results = os.path.join(HERE, "keras_programs.json"), {}
    if sys.argv[1:]:
        with open(path) as file:
            results = json.load(file)
    for name in sys.argv[1:] or keras_programs.PROGRAMS:
        results[name] = keras_programs.recorded(tf, name)
    kept = [name for name in keras_programs.PROGRAMS if name in results]
    with open(path, "w") as file:
        lines = [json.dumps(name) + ": " + json.dumps(results[name]) for name in kept]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
