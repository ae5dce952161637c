#!/usr/bin/env python3
"""Writes keras_saved_models/: models of Keras 2 and 3 as TensorFlow saves them, and their answers.

    python make_keras_saved_models.py [2]      (TensorFlow 2.21; 2: with tf_keras 2.21)

A folder for each model; cases.json has, by its name, the inputs by the names of the arguments of
the signature `serving_default` or `serve`, and the outputs. test_keras_saved_models.py
loads them again.
"""

import json
import os
import pathlib
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
if sys.argv[1:] == ["2"]:
    os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "keras_saved_models"
L = tf.keras.layers
MODELS = {}


def model(build):
    """A function that gives a model and an array to feed."""
    MODELS[build.__name__] = build
    return build


def numbers(shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)


@model
def lstm():
    x = L.Input([6, 5])
    y = L.Bidirectional(L.LSTM(4, return_sequences=True))(x)
    y = L.GRU(3)(y)
    return tf.keras.Model(x, L.Dense(2, activation="softmax")(y)), numbers([3, 6, 5])


@model
def cnn():
    x = L.Input([12, 12, 3])
    y = L.Conv2D(4, 3, padding="same", use_bias=False)(x)
    y = L.Activation("relu")(L.BatchNormalization()(y))
    y = L.MaxPooling2D(2)(y)
    y = L.SeparableConv2D(6, 3, activation="relu")(y)
    y = L.Dropout(0.5)(L.GlobalAveragePooling2D()(y))
    return tf.keras.Model(x, L.Dense(5)(y)), numbers([2, 12, 12, 3])


@model
def transformer():
    x = L.Input([7], dtype="int32")
    y = L.Embedding(20, 8, mask_zero=True)(x)
    attended = L.MultiHeadAttention(2, 4)(y, y, use_causal_mask=True)
    y = L.LayerNormalization()(y + attended)
    y = L.LayerNormalization()(y + L.Dense(8)(L.Dense(16, activation="gelu")(y)))
    tokens = np.random.RandomState(1).randint(0, 20, [2, 7]).astype(np.int32)
    tokens[0, 4:] = 0
    return tf.keras.Model(x, L.Dense(3)(L.GlobalAveragePooling1D()(y))), tokens


@model
def text():
    words = L.TextVectorization(max_tokens=12, output_sequence_length=5)
    words.adapt(["the cat sat on the mat", "a dog sat on a cat", "the dog ate"])
    x = L.Input([1], dtype="string")
    y = L.Embedding(12, 4)(words(x))
    y = L.Dense(2)(L.Flatten()(y))
    return tf.keras.Model(x, y), np.array([["The cat, sat!"], ["on a bird"], [""]])


def vary(made):
    """Weights as after training: no zeros and ones."""
    for i, variable in enumerate(made.weights):
        if not hasattr(variable, "numpy") or variable.dtype not in (tf.float32, "float32"):
            continue  # a vocabulary, a counter
        value = variable.numpy()
        noise = np.random.RandomState(i).uniform(0.1, 0.5, value.shape).astype(np.float32)
        variable.assign(value * 0.5 + noise)


def save(generation, name, made, value, how):
    """Saves the model and gives its case, as TensorFlow answers when it has loaded it again."""
    folder = FOLDER / f"keras{generation}_{name}"
    shutil.rmtree(folder, ignore_errors=True)
    how(made, str(folder))
    for extra in ("keras_metadata.pb", "fingerprint.pb"):
        (folder / extra).unlink(missing_ok=True)
    loaded = tf.saved_model.load(str(folder))
    signature = loaded.signatures.get("serving_default") or loaded.signatures["serve"]
    given = dict(zip(signature.structured_input_signature[1], [tf.constant(value)]))
    outputs = {key: one.numpy().tolist() for key, one in signature(**given).items()}
    return {
        # What Keras 3 keeps as variables under a name is not what tf.saved_model.save() restores
        # by it: TensorFlow's own loader into sessions finds them without a value.
        "in_sessions": f"keras{generation}_{name}" != "keras3_saved",
        "signature": "serving_default" if "serving_default" in loaded.signatures else "serve",
        "inputs": {
            key: np.asarray(one).astype(str).tolist()
            if one.dtype == tf.string
            else one.numpy().tolist()
            for key, one in given.items()
        },
        "dtypes": {key: one.dtype.name for key, one in given.items()},
        "outputs": outputs,
    }


def main():
    generation = sys.argv[1] if len(sys.argv) > 1 else "3"
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "cases.json"
    cases = json.loads(path.read_text()) if path.exists() else {}
    tf.keras.utils.set_random_seed(1)
    for name, build in MODELS.items():
        made, value = build()
        vary(made)
        cases[f"keras{generation}_{name}"] = save(
            generation,
            name,
            made,
            value,
            lambda made, folder: (
                made.export(folder, verbose=False) if generation == "3" else made.export(folder)
            ),
        )
    made, value = cnn()
    vary(made)
    stripped = tf.saved_model.SaveOptions(experimental_debug_stripper=True)
    cases[f"keras{generation}_saved"] = save(
        generation,
        "saved",
        made,
        value,
        lambda made, folder: tf.saved_model.save(made, folder, options=stripped),
    )
    lines = [f"{json.dumps(name)}: {json.dumps(cases[name])}" for name in sorted(cases)]
    path.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
