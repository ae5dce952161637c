"""Trains a small network on two parameter servers by two workers.

    rheos run examples/parameter_servers.py

A TensorFlow 2 program: a coordinator schedules steps on workers, whichever is free. All tasks are
in this process here; with a cluster in TF_CONFIG the same program is each of its tasks.
"""

import os
import socket

import tensorflow as tf

EPOCHS, STEPS = 4, 100  # steps of all workers together


def resolver_of_cluster():
    """Which cluster this process is of; servers of it never get past this."""
    if not os.environ.get("TF_CONFIG"):
        return resolver_in_process()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        server = tf.distribute.Server(
            resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id
        )
        server.join()
    return resolver


def resolver_in_process():
    sockets = [socket.create_server(("localhost", 0)) for _ in range(4)]
    addresses = ["localhost:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    spec = tf.train.ClusterSpec({"worker": addresses[:2], "ps": addresses[2:]})
    for job in ("worker", "ps"):
        for task in range(2):
            tf.distribute.Server(spec, job_name=job, task_index=task)
    return tf.distribute.cluster_resolver.SimpleClusterResolver(spec)


def make_dataset():
    """What each worker makes for itself."""
    x = tf.random.stateless_normal([1024, 16], seed=[1, 2])
    y = tf.argmax(x @ tf.random.stateless_normal([16, 4], seed=[3, 4]), axis=1)
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024).repeat().batch(64)


def main():
    strategy = tf.distribute.ParameterServerStrategy(resolver_of_cluster())
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():  # variables that are made here are on the parameter servers
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Input([16]),
                tf.keras.layers.Dense(32, activation="relu"),
                tf.keras.layers.Dense(4),
            ]
        )
        optimizer = tf.keras.optimizers.Adam(0.01)
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(batches):
        x, y = next(batches)
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_of(y, logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        accuracy.update_state(y, logits)
        return loss

    batches = iter(coordinator.create_per_worker_dataset(make_dataset))
    for epoch in range(EPOCHS):
        accuracy.reset_state()
        losses = [coordinator.schedule(step, args=(batches,)) for _ in range(STEPS)]
        coordinator.join()
        print(f"epoch {epoch}: loss {losses[-1].fetch():.4f}, accuracy {accuracy.result():.3f}")
    for variable in model.trainable_variables:
        print(f"{variable.name} is on {variable.device}")


if __name__ == "__main__":
    main()
