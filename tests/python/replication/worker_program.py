"""What test_multi_worker.py runs in each task: prints its results as JSON."""

import json
import os
import sys
import time

import numpy as np
import rheos as tf


def fit(strategy):
    random = np.random.RandomState(0)
    x = random.randn(24, 4).astype("float32")
    y = (x @ [[1.0], [2.0], [-1.0], [0.5]]).astype("float32")
    dense = tf.keras.layers.Dense
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Input([4]), dense(3), dense(1)])
        kernels = [0.3 * random.randn(*w.shape).astype("float32") for w in model.get_weights()]
        model.set_weights(kernels)
        model.compile(tf.keras.optimizers.Adam(0.05), "mse", metrics=["mae"])
    rows = tf.data.Dataset.from_tensor_slices((x, y)).batch(12)
    rows = strategy.experimental_distribute_dataset(rows)
    history = model.fit(x, y, batch_size=12, epochs=4, shuffle=False, verbose=0).history
    more = model.fit(rows, epochs=2, verbose=0).history
    return {
        **{key: [float(v) for v in history[key] + more[key]] for key in ("loss", "mae")},
        "weights": [float(v) for w in model.get_weights() for v in w.ravel()],
        "evaluated": model.evaluate(x[:12], y[:12], batch_size=8, verbose=0),
        "predicted": [float(v) for v in model.predict(x[:5], batch_size=4, verbose=0).ravel()],
    }


def values(strategy):
    rank = strategy.extended._first_replica
    with strategy.scope():
        drawn = tf.Variable(tf.random.normal([2]))
        on_read = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        assigned = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)
        rows = tf.Variable([10.0, 2.0, 1.0])
        optimizer = tf.keras.optimizers.SGD(1.0)

    def step():
        context = tf.distribute.get_replica_context()
        replica = tf.cast(context.replica_id_in_sync_group, tf.float32)
        on_read.assign_add(replica + 1)
        assigned.assign_add(replica + 1)
        x = tf.constant([1.0, 2.0]) * (replica + 1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context.all_reduce("sum", x * x)
        at = tf.cast(tf.reshape(replica, [1]), tf.int64)
        slices = tf.IndexedSlices(tf.reshape(-replica, [1]), at, tf.constant([3], tf.int64))
        optimizer.apply_gradients([(slices, rows)])
        mean = context.all_reduce("MEAN", replica)
        gathered = context.all_gather(tf.fill([rank + 1, 2], replica), axis=0)
        return mean, gathered, y, tape.gradient(y, x)

    mean, gathered, total, gradient = tf.function(lambda: strategy.run(step))()
    numbers = tf.data.Dataset.range(7).batch(4)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF

    def make(context):
        numbers = tf.data.Dataset.range(8)
        mine = numbers.shard(context.num_input_pipelines, context.input_pipeline_id)
        return mine.batch(context.get_per_replica_batch_size(4))

    def listed(dataset):
        return [x.numpy().tolist() for x in dataset]

    return {
        "mean": float(mean),
        "gathered": gathered.numpy().tolist(),
        "sum": total.numpy().tolist(),
        "gradient": gradient.numpy().tolist(),
        "on_read": float(on_read.numpy()),
        "assigned": float(assigned.numpy()),
        "slices": rows.numpy().tolist(),
        "random": drawn.numpy().tolist(),
        "reduced": [
            float(strategy.reduce("SUM", tf.constant(2.0), axis=None)),
            float(strategy.reduce("MEAN", tf.constant([1.0, 2.0]) * (rank + 1), axis=0)),
        ],
        "shares": listed(strategy.experimental_distribute_dataset(numbers)),
        "whole": listed(strategy.experimental_distribute_dataset(numbers.with_options(options))),
        "made": listed(strategy.distribute_datasets_from_function(make)),
        "checkpoints": strategy.extended.should_checkpoint,
    }


def lost(strategy):
    """The second task ends in the middle of a step that the first one waits for."""
    strategy.reduce("SUM", tf.constant(1.0), axis=None)
    if strategy.extended._first_replica == 1:
        time.sleep(0.5)  # the first task takes the sum
        print("{}", flush=True)
        os._exit(0)
    began = time.monotonic()
    try:
        strategy.reduce("SUM", tf.constant(1.0), axis=None)
    except tf.errors.OpError as error:
        return {"error": type(error).__name__, "text": str(error), "s": time.monotonic() - began}


if __name__ == "__main__":
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    found = {"fit": fit, "values": values, "lost": lost}[sys.argv[1]](strategy)
    print(json.dumps({"replicas": strategy.num_replicas_in_sync, **found}))
