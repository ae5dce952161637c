"""Keras's fit() and its like, whose steps the workers of parameter servers make."""

import numpy as np
import pytest
import rheos as tf
from ports import free_port

creator_of = tf.keras.utils.experimental.DatasetCreator


def strategy_of(partitioner=None):
    jobs = {job: [f"localhost:{free_port()}" for _ in range(2)] for job in ("worker", "ps")}
    spec = tf.train.ClusterSpec(jobs)
    for job in jobs:
        for task in range(2):
            tf.distribute.Server(spec, job_name=job, task_index=task)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec)
    return tf.distribute.ParameterServerStrategy(resolver, partitioner)


def dataset(context):
    x = tf.random.stateless_uniform((64, 4), [1, 2])
    parts = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True)))
    return parts.shuffle(64).repeat().batch(context.get_per_replica_batch_size(16))


def model_of(strategy):
    with strategy.scope():
        model = tf.keras.Sequential(
            [tf.keras.Input((4,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)]
        )
        model.compile(tf.keras.optimizers.Adam(0.01), loss="mse", metrics=["mae"])
    return model


CUT = tf.distribute.experimental.partitioners.MinSizePartitioner(4, max_shards=2)


@pytest.mark.parametrize("partitioner", [None, CUT])
def test_workers_train_on_datasets_of_their_own(grpc, partitioner):
    model = model_of(strategy_of(partitioner))
    history = model.fit(creator_of(dataset), epochs=4, steps_per_epoch=40, verbose=0).history
    assert history["loss"][-1] < 0.2 * history["loss"][0] and len(history["mae"]) == 4
    assert model.optimizer.iterations.numpy() == 160
    loss, error = model.evaluate(creator_of(dataset), steps=4, verbose=0)
    assert loss < 0.2 * history["loss"][0] and error > 0
    assert {v.device for v in model.trainable_variables} == {
        f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in range(2)
    }


def test_batches_of_the_program_are_shared_by_workers(grpc):
    model, plain = model_of(strategy_of()), model_of(tf.distribute.get_strategy())
    x = np.random.default_rng(0).random((100, 4), "float32")
    y = x.sum(1, keepdims=True)
    plain.set_weights(model.get_weights())
    np.testing.assert_allclose(model.predict(x, verbose=0), plain.predict(x, verbose=0), rtol=1e-5)
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0), plain.evaluate(x, y, verbose=0),
                               rtol=1e-5)  # fmt: skip
    log = model.fit(x, y, epochs=3, batch_size=10, validation_data=(x, y), verbose=0).history
    assert log["val_loss"][-1] < log["val_loss"][0]
    pairs = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
    model.fit(pairs, verbose=0)
    assert model.optimizer.iterations.numpy() == 40
    assert model.train_on_batch(x, y)[0] < log["loss"][0]


def test_a_model_that_was_served_is_saved_and_read_again(grpc, tmp_path):
    pytest.importorskip("h5py")
    model = model_of(strategy_of())
    x = np.random.default_rng(0).random((20, 4), "float32")
    model.fit(x, x.sum(1, keepdims=True), verbose=0)
    model.save(str(tmp_path / "model.keras"))
    loaded = tf.keras.models.load_model(str(tmp_path / "model.keras"))
    np.testing.assert_allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5)


def test_a_creator_wants_steps_and_gives_a_dataset(grpc):
    model = model_of(strategy_of())
    with pytest.raises(ValueError, match="steps_per_epoch"):
        model.fit(creator_of(dataset))
    with pytest.raises(TypeError, match="callable"):
        creator_of(3)
    with pytest.raises(TypeError, match="must return a Dataset"):
        model.fit(creator_of(lambda context: 3), steps_per_epoch=1)


def test_one_process_takes_creators_too():
    model = model_of(tf.distribute.get_strategy())
    history = model.fit(creator_of(dataset), epochs=2, steps_per_epoch=10, verbose=0).history
    assert history["loss"][1] < history["loss"][0]
