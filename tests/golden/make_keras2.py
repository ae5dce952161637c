"""Records what TensorFlow 2's tf.keras makes of the models of keras_models.py, into keras2.json.

python make_keras2.py [case ...], with TensorFlow 2 installed: all, or those that are named. Cases
that TensorFlow 2 refuses, or whose numbers are random, are left out.
"""

import json
import os
import sys

import keras_models
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
# TensorFlow 2 does not make the weights of a subclass where the cases set them: they are random.
LEFT_OUT = ("a_subclass",)


def main():
    path, results = os.path.join(HERE, "keras2.json"), {}
    if sys.argv[1:]:
        with open(path) as file:
            results = json.load(file)
    for name in sys.argv[1:] or keras_models.CASES:
        if name in LEFT_OUT:
            continue
        tf.keras.backend.clear_session()
        try:
            found = keras_models.run(tf.keras, keras_models.CASES[name])
        except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
            print(f"{name} is left out: {type(error).__name__} {str(error)[:90]!r}")
            continue
        results[name] = {k: found[k] for k in ("outputs", "evaluated", "history", "after")}
    with open(path, "w") as file:
        file.write("{\n")
        kept = [name for name in keras_models.CASES if name in results]
        lines = [json.dumps(k) + ": " + json.dumps(results[k], sort_keys=True) for k in kept]
        file.write(",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
