"""Records what TensorFlow 1.15's tf.keras makes of the models of keras_models.py, into keras.json.

python3.7 make_keras.py [case ...], with TensorFlow 1.15 installed: all, or those that are named.
"""

import json
import os
import sys

import keras_models
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))


def plain(value):
    """A value of a configuration as JSON has it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return getattr(value, "name", None) or getattr(value, "__name__", str(value))


def main():
    path, results = os.path.join(HERE, "keras.json"), {}
    if sys.argv[1:]:
        with open(path) as file:
            results = json.load(file)
    for name in sys.argv[1:] or keras_models.CASES:
        function = keras_models.CASES[name]
        tf.keras.backend.clear_session()
        found = keras_models.run(tf.keras, function)
        if "lambda" in name:
            del found["config"]  # it has the code of this Python
        results[name] = found
    with open(path, "w") as file:
        file.write("{\n")
        lines = [json.dumps(k) + ": " + json.dumps(results[k], default=plain, sort_keys=True)
                 for k in keras_models.CASES]  # fmt: skip
        file.write(",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
