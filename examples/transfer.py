"""Learns digits that a net has never seen, from four pictures of each, by what the net knows.

    rheos run examples/transfer.py [model.keras]

A TensorFlow 2 program. The model of Keras that it begins with may be one of TensorFlow's, with a
dense layer at its end; without one, a net is trained on the digits 0 to 6 and saved. The layers
below the last are kept: first as they are, under a new last layer, then all learn a little.
"""

import os
import sys
import tempfile

import tensorflow as tf
from pictures import SIZE, make_digits
from tensorflow.keras import layers

KNOWN, NEW = range(7), range(7, 10)


def compile_for_digits(model, rate):
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
    return model


def train_base(path):
    model = tf.keras.Sequential(
        [
            layers.Input([SIZE, SIZE]),
            layers.Reshape([SIZE, SIZE, 1]),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(len(KNOWN)),
        ]
    )
    pictures, labels = make_digits(6000, seed=1, digits=KNOWN)
    compile_for_digits(model, 2e-3).fit(pictures, labels, batch_size=64, epochs=3, verbose=0)
    right = model.evaluate(*make_digits(1000, seed=2, digits=KNOWN), verbose=0)[1]
    print(f"the base reads {right:.3f} of unseen digits 0 to 6")
    model.save(path)


def learn(model, rate, epochs):
    pictures, labels = make_digits(12, seed=3, digits=NEW)
    compile_for_digits(model, rate).fit(
        pictures, labels - NEW[0], batch_size=10, epochs=epochs, verbose=0
    )
    pictures, labels = make_digits(1000, seed=4, digits=NEW)
    return model.evaluate(pictures, labels - NEW[0], verbose=0)[1]


tf.keras.utils.set_random_seed(1)
with tempfile.TemporaryDirectory() as folder:
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(folder, "base.keras")
    if not os.path.exists(path):
        train_base(path)
    base = tf.keras.models.load_model(path)

features = tf.keras.Model(base.inputs, base.layers[-2].output)
features.trainable = False
model = tf.keras.Sequential([features, layers.Dense(len(NEW))])
print(f"new last layer: {learn(model, 1e-2, 20):.3f} of unseen digits 7 to 9")
features.trainable = True
print(f"and all learn a little: {learn(model, 3e-4, 20):.3f}")
fresh = tf.keras.models.clone_model(model)  # with values of its own to start with
print(f"from nothing: {learn(fresh, 1e-3, 40):.3f}")
