"""Programs of Keras 3 that make_keras3.py records in TensorFlow, and tests run in Rheos.

    KERAS_BACKEND=tensorflow python keras3_programs.py

prints {program: numbers} as JSON. Each function below is a program; its numbers are nested lists.
"""

import json
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers


def data(rows, *shape, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, *shape)).astype("float32")


def losses(history):
    return [[float(x) for x in history.history[key]] for key in sorted(history.history)]


def near(x):
    return np.asarray(x, "float64").round(7).tolist()


def sequential():
    x = data(64, 8)
    y = (x.sum(1) > 0).astype("int32")
    model = keras.Sequential(
        [
            keras.Input((8,)),
            layers.Dense(16, activation="relu"),
            layers.Dropout(0.25, seed=3),
            layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    trained = model.fit(
        x, y, epochs=3, batch_size=16, verbose=0, validation_split=0.25, shuffle=False
    )
    return [losses(trained), model.evaluate(x, y, verbose=0), near(model.predict(x[:3], verbose=0))]


def functional():
    left, right = keras.Input((4,), name="left"), keras.Input((6,), name="right")
    both = layers.Concatenate()([layers.Dense(5, activation="tanh")(left), right])
    hidden = layers.LayerNormalization()(layers.Dense(8, activation="gelu")(both))
    outputs = {"a": layers.Dense(1, name="a")(hidden), "b": layers.Dense(3, name="b")(hidden)}
    model = keras.Model([left, right], outputs)
    cross = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), {"a": "mse", "b": cross})
    x = [data(40, 4), data(40, 6, seed=1)]
    y = {"a": data(40, 1, seed=2), "b": np.eye(3, dtype="float32")[np.arange(40) % 3]}
    trained = model.fit(x, y, epochs=3, batch_size=8, verbose=0, shuffle=False)
    return [losses(trained), [near(v[:2]) for v in model.predict(x, verbose=0).values()]]


class Residual(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = [layers.Dense(6, activation="relu", name=f"block_{i}") for i in range(2)]
        self.last = layers.Dense(1)

    def call(self, x, training=False):
        for block in self.blocks:
            x = x + block(x)
        return self.last(x)


def subclass():
    model = Residual()
    x = data(32, 6)
    model.compile(keras.optimizers.RMSprop(0.01), keras.losses.Huber(), metrics=["mae"])
    trained = model.fit(
        x, x[:, :1], sample_weight=np.linspace(0.5, 1.5, 32), epochs=3, batch_size=8, verbose=0,
        shuffle=False,
    )  # fmt: skip
    return [losses(trained), len(model.trainable_variables)]


def pictures():
    model = keras.Sequential(
        [
            keras.Input((8, 8, 2)),
            layers.Conv2D(4, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.DepthwiseConv2D(3),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.AdamW(0.01, weight_decay=0.1), loss, metrics=["accuracy"])
    dataset = tf.data.Dataset.from_tensor_slices((data(24, 8, 8, 2), np.arange(24) % 3)).batch(8)
    trained = model.fit(dataset, epochs=3, verbose=0)
    return [losses(trained), model.evaluate(dataset, verbose=0)]


def sequences():
    model = keras.Sequential(
        [
            keras.Input((5,), dtype="int32"),
            layers.Embedding(11, 4, mask_zero=True),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
            layers.GRU(4),
            layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(0.02, clipnorm=1.0), "mse")
    x = np.random.default_rng(0).integers(0, 11, (20, 5)).astype("int32")

    def batches():
        while True:
            for i in range(0, 20, 5):
                yield x[i : i + 5], x[i : i + 5].sum(1, keepdims=True) / 20.0

    trained = model.fit(batches(), steps_per_epoch=4, epochs=3, verbose=0)
    return [losses(trained), near(model.predict(x[:2], verbose=0))]


def attention():
    inputs = keras.Input((6, 8))
    x = layers.MultiHeadAttention(2, 4)(inputs, inputs)
    x = layers.LayerNormalization()(x + inputs)
    model = keras.Model(inputs, layers.Dense(2)(layers.Flatten()(x)))
    model.compile("nadam", "mae", jit_compile=False)
    x = data(16, 6, 8)
    return losses(model.fit(x, x[:, 0, :2], epochs=3, batch_size=4, verbose=0, shuffle=False))


def callbacks():
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = data(32, 3)
    rates = []
    trained = model.fit(
        x,
        x @ np.array([[1.0], [2.0], [-1.0]], "float32"),
        epochs=12,
        batch_size=16,
        verbose=0,
        shuffle=False,
        callbacks=[
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
            keras.callbacks.EarlyStopping("loss", min_delta=0.05, patience=1),
            keras.callbacks.LambdaCallback(
                on_epoch_end=lambda epoch, logs: rates.append(float(model.optimizer.learning_rate))
            ),
        ],
    )
    return [losses(trained), rates]


def by_hand():
    hidden = layers.Dense(3, activation="elu")
    model = keras.Sequential([keras.Input((4,)), hidden, layers.Dense(1)])
    optimizer = keras.optimizers.Adagrad(0.1)
    x = tf.constant(data(16, 4))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - x[:, :1]))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    return [float(step()) for _ in range(5)]


def files():
    hidden = layers.Dense(3, activation="relu")
    model = keras.Sequential([keras.Input((4,)), hidden, layers.Dense(2)])
    model.compile("adam", "mse")
    x = data(16, 4)
    model.fit(x, x[:, :2], epochs=2, verbose=0, shuffle=False)
    before = model.predict(x, verbose=0)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        again = keras.models.load_model(path)
        found.append(float(np.abs(again.predict(x, verbose=0) - before).max()))
        found += losses(again.fit(x, x[:, :2], epochs=1, verbose=0, shuffle=False))
        model.save_weights(os.path.join(folder, "w.weights.h5"))
        again.load_weights(os.path.join(folder, "w.weights.h5"))
        found.append(float(np.abs(again.predict(x, verbose=0) - before).max()))
    return found


PROGRAMS = (
    sequential, functional, subclass, pictures, sequences, attention, callbacks, by_hand, files,
)  # fmt: skip


def main():
    found = {}
    for program in PROGRAMS:
        keras.utils.set_random_seed(7)
        found[program.__name__] = program()
    print("answer: " + json.dumps(found))


if __name__ == "__main__":
    main()
