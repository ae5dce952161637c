"""Trains a small network by two replicas, each on a CPU of its own.

    rheos run examples/mirrored.py

A TensorFlow 2 program in two ways: a loop of its own, and Keras's fit(). A process has one CPU by
default, which is seen as two here. With a cluster in TF_CONFIG, or under mpirun, the same program
is one of several workers.
"""

import os

import numpy as np
import tensorflow as tf

BATCH = 64  # of all replicas
EPOCHS = 3


def make_strategy():
    if os.environ.get("TF_CONFIG") or os.environ.get("OMPI_COMM_WORLD_SIZE"):
        return tf.distribute.MultiWorkerMirroredStrategy()
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def make_data():
    random = np.random.RandomState(0)
    x = random.randn(1024, 16).astype("float32")
    y = (x @ random.randn(16, 4)).argmax(axis=1)
    return x, y


def make_model():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input([16]),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(4),
        ]
    )


def train_by_hand(strategy, x, y):
    with strategy.scope():  # variables that are made here have a copy for each replica
        model = make_model()
        optimizer = tf.keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
    batches = strategy.experimental_distribute_dataset(batches)  # each replica gets its part

    def step(inputs):
        rows, labels = inputs
        with tf.GradientTape() as tape:
            losses = loss_of(labels, model(rows, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # the sums of all
        return loss

    @tf.function
    def step_of_all(inputs):
        return strategy.reduce("SUM", strategy.run(step, args=(inputs,)), axis=None)

    for epoch in range(EPOCHS):
        losses = [float(step_of_all(batch)) for batch in batches]
        print(f"by hand, epoch {epoch}: loss {np.mean(losses):.4f}")


def train_by_keras(strategy, x, y):
    with strategy.scope():
        model = make_model()
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(tf.keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    history = model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, verbose=0).history
    for epoch in range(EPOCHS):
        print(f"fit, epoch {epoch}: loss {history['loss'][epoch]:.4f}")
    print(f"accuracy {model.evaluate(x, y, verbose=0)[1]:.3f}")


if __name__ == "__main__":
    strategy = make_strategy()
    print(f"{strategy.num_replicas_in_sync} replicas")
    data = make_data()
    train_by_hand(strategy, *data)
    train_by_keras(strategy, *data)
