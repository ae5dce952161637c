"""Writes keras_files/ with TensorFlow 2: models in Keras 3's files, and what they predict.

python make_keras_files.py. `network` has layers of layers, masks and operations between layers and
was trained; `subclass` is of a class of the program's own (see keras_classes()).
"""

import json
import os

import numpy as np
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keras_files")
WORDS = np.arange(12).reshape(2, 6) % 9
X = np.random.RandomState(0).uniform(-1, 1, (4, 6)).astype("float32")


def network(tf):
    """A model of words: embeddings, recurrent layers, attention, what is between layers."""
    L = tf.keras.layers
    words = tf.keras.Input((6,), name="words")
    x = L.Embedding(9, 4, mask_zero=True)(words)
    x = L.Bidirectional(L.LSTM(3, return_sequences=True))(x)
    x = L.MultiHeadAttention(2, 3)(x, x)
    x = L.Dropout(0.2)(L.LayerNormalization()(x))
    x = L.GlobalAveragePooling1D()(x)
    x = L.Add()([L.Dense(2, activation="relu", kernel_regularizer="l2")(x), L.Dense(2)(x)])
    x = L.BatchNormalization()(1 - x * 2.0)
    model = tf.keras.Model(words, x)
    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
    model.compile(tf.keras.optimizers.Adam(rate), "mse", metrics=["mae"])
    return model


def keras_classes(tf):
    """A class of models and one of layers, registered by their names."""
    register = tf.keras.utils.register_keras_serializable

    @register("tests")
    class Scaled(tf.keras.layers.Layer):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = units

        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1], self.units), name="scale")
            self.shift = self.add_weight(shape=(self.units,), trainable=False, name="shift")

        def call(self, inputs):
            return tf.matmul(inputs, self.scale) + self.shift

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    @register("tests")
    class Stack(tf.keras.Model):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.first = tf.keras.layers.Dense(units, activation="relu")
            self.blocks = [tf.keras.layers.Dense(3), Scaled(2)]
            self.zeroth = tf.keras.layers.Dense(1)

        def call(self, inputs):
            x = self.first(inputs)
            for block in self.blocks:
                x = block(x)
            return self.zeroth(x)

        def get_config(self):
            return {"units": self.units}

    return Stack


def main():
    os.makedirs(FOLDER, exist_ok=True)
    tf.keras.utils.set_random_seed(1)
    first, second = network(tf), keras_classes(tf)(4)
    first.fit(WORDS, np.ones((2, 2)), epochs=2, verbose=0)
    second.compile("sgd", "mse")
    second.fit(X, X[:, :1], verbose=0)
    answers = {}
    for name, model, x in (("network", first, WORDS), ("subclass", second, X)):
        model.save(os.path.join(FOLDER, f"{name}.keras"))
        answers[name] = np.asarray(model.predict(x, verbose=0), "float64").tolist()
    second.save_weights(os.path.join(FOLDER, "subclass.weights.h5"))
    with open(os.path.join(FOLDER, "answers.json"), "w") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main()
