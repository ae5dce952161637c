"""Saved models that are loaded in a strategy's scope: their variables are the strategy's."""

import numpy as np
import pytest
import rheos as tf


class Scaled(tf.Module):
    def __init__(self):
        self.w = tf.Variable([2.0, 3.0])
        self.calls = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def scaled(self, x):
        self.calls.assign_add(1)
        return self.w * x


@pytest.fixture
def folder(tmp_path):
    tf.saved_model.save(Scaled(), str(tmp_path))
    return str(tmp_path)


@pytest.mark.parametrize("decorator", [lambda f: f, tf.function])
def test_replicas_have_copies_which_optimizers_change(strategy, folder, decorator):
    with strategy.scope():
        loaded = tf.saved_model.load(folder)
        optimizer = tf.keras.optimizers.SGD(0.1)

    @decorator
    def step():
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(loaded.scaled(tf.ones([2]) * tf.cast(number + 1, tf.float32)))
        optimizer.apply_gradients([(tape.gradient(y, loaded.w), loaded.w)])
        return y

    assert [y.numpy() for y in strategy.run(step).values] == [5, 10]
    for copy in loaded.w.values:  # each lowered by the sum of both gradients
        np.testing.assert_allclose(copy, [1.7, 2.7], rtol=1e-6)
    np.testing.assert_allclose(loaded.scaled(tf.ones([2])), [1.7, 2.7], rtol=1e-6)


def test_parameter_servers_have_them(served, folder):
    coordinator = tf.distribute.coordinator.ClusterCoordinator(served)
    with served.scope():
        loaded = tf.saved_model.load(folder)
    assert "/job:ps" in loaded.w.device
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(loaded.scaled(x), [2, 6])
    np.testing.assert_array_equal(coordinator.schedule(loaded.scaled, args=(x,)).fetch(), [2, 6])
    inside = tf.function(lambda x: loaded.scaled(x) + 1.0)
    np.testing.assert_array_equal(coordinator.schedule(inside, args=(x,)).fetch(), [3, 7])
    assert loaded.calls.numpy() == 3


def test_variables_of_servers_are_saved(served, folder, tmp_path):
    with served.scope():
        made = Scaled()
    made.w.assign([4.0, 5.0])
    tf.saved_model.save(made, str(tmp_path / "again"))
    loaded = tf.saved_model.load(str(tmp_path / "again"))
    np.testing.assert_array_equal(loaded.scaled(tf.ones([2])), [4, 5])
