"""Models of several kinds under a strategy: the answers are TensorFlow 2.21's, with two CPUs."""

import numpy as np
import pytest
import rheos as tf
from replica_steps import numbers

X = np.random.RandomState(0).randn(8, 4).astype("float32")
layers = tf.keras.layers


def one_layer(strategy, optimizer, loss="mse", layer=None, **arguments):
    layer = layer or {"kernel_initializer": "ones"}
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Input([4]), layers.Dense(1, **layer)])
        model.compile(optimizer() if callable(optimizer) else optimizer, loss, **arguments)
    return model


def losses(model, x=X, y=X[:, :1], epochs=2, **arguments):
    settings = {"batch_size": 4, "verbose": 0, "shuffle": False, "epochs": epochs, **arguments}
    history = model.fit(x, y, **settings).history
    return {key: [float(v) for v in told] for key, told in history.items()}


def close(found, wanted):
    np.testing.assert_allclose(np.ravel(found), np.ravel(wanted), atol=2e-4)


sgd = tf.keras.optimizers.SGD
OPTIMIZERS = {
    "clipped": (lambda: sgd(0.1, clipnorm=0.5), [1.0521, 0.8426, 0.9343, 0.8073]),
    "decayed": (
        lambda: tf.keras.optimizers.AdamW(0.1, weight_decay=0.1), [0.8405, 0.5853, 0.6317, 0.6368],
    ),
    "scheduled": (
        lambda: sgd(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)),
        [0.9244, 0.6845, 0.7548, 0.3549],
    ),
}  # fmt: skip


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_options_of_optimizers(strategy, name, eagerly):
    optimizer, wanted = OPTIMIZERS[name]
    model = one_layer(strategy, optimizer, run_eagerly=eagerly)
    losses(model)
    close(model.get_weights()[0], wanted)


def test_losses_of_layers_are_shared(strategy):
    layer = {"kernel_initializer": "ones", "kernel_regularizer": "l2"}
    model = one_layer(strategy, "sgd", layer=layer)
    close(losses(model)["loss"], [3.2419, 2.8769])
    close(model.get_weights()[0], [0.9795, 0.9165, 0.9533, 0.879])


def test_several_outputs(strategy):
    with strategy.scope():
        x = tf.keras.Input([4])
        a = layers.Dense(1, name="a", kernel_initializer="ones")(x)
        b = layers.Dense(1, name="b", kernel_initializer="zeros")(x)
        model = tf.keras.Model(x, [a, b])
        model.compile("sgd", ["mse", "mae"], loss_weights=[1.0, 0.5])
    found = losses(model, y=[X[:, :1], X[:, 1:2]], epochs=1)
    close([found[key] for key in ("a_loss", "b_loss", "loss")], [3.2033, 0.7103, 3.5585])


def test_metrics_of_areas(strategy):
    metrics = [tf.keras.metrics.AUC(name="auc"), "accuracy", tf.keras.metrics.Precision(name="p")]
    layer = {"kernel_initializer": "ones", "activation": "sigmoid"}
    model = one_layer(strategy, "sgd", "binary_crossentropy", layer, metrics=metrics)
    found = losses(model, y=(X[:, :1] > 0).astype("float32"), epochs=1)
    close([found[key] for key in ("accuracy", "auc", "loss", "p")], [0.875, 0.6667, 0.4218, 0.8571])


def test_embeddings_and_recurrent_layers(strategy):
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Input([2], dtype="int32"),
            layers.Embedding(5, 2, embeddings_initializer="ones"),
            layers.Flatten(),
            layers.Dense(1, kernel_initializer="ones"),
        ])  # fmt: skip
        model.compile(tf.keras.optimizers.Adam(0.1), "mse")
    rows, wanted = np.array([[0, 1], [2, 3], [4, 0], [1, 1]]), np.array([1.0, 2.0, 3.0, 4.0])
    close(losses(model, rows, wanted)["loss"], [3.5, 1.6064])
    with strategy.scope():
        ones = {"kernel_initializer": "ones"}
        lstm = layers.LSTM(4, recurrent_initializer="ones", **ones)
        model = tf.keras.Sequential([tf.keras.layers.Input([3, 2]), lstm, layers.Dense(1, **ones)])
        model.compile("adam", "mse")
    found = losses(model, np.ones((8, 3, 2), "float32"), np.ones((8, 1), "float32"))
    close(found["loss"], [8.7442, 8.6842])


def test_callbacks(strategy, tmp_path):
    pytest.importorskip("h5py")
    model = one_layer(strategy, "sgd")
    keeps = tf.keras.callbacks.ModelCheckpoint(
        str(tmp_path / "{epoch}.weights.h5"), save_weights_only=True
    )
    rates = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    close(losses(model, epochs=3, callbacks=[keeps, rates])["loss"], [3.4372, 0.7618, 0.4051])
    assert (tmp_path / "3.weights.h5").exists()


def test_objects_are_saved_without_copies(strategy, tmp_path):
    class Scale(tf.Module):
        def __init__(self):
            self.v = tf.Variable([1.0, 2.0])
            self.r = tf.Variable(
                3.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.MEAN,
            )

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def __call__(self, x):
            return x * self.v + self.r

    with strategy.scope():
        scale = Scale()
    assert scale([1.0, 1.0]).numpy().tolist() == [4, 5]
    assert numbers(strategy.run(scale, args=(tf.constant([1.0, 1.0]),))) == [[4, 5]] * 2
    tf.saved_model.save(scale, str(tmp_path / "scale"))
    loaded = tf.saved_model.load(str(tmp_path / "scale"))
    assert loaded(tf.constant([1.0, 1.0])).numpy().tolist() == [4, 5]
    model = one_layer(strategy, "sgd")
    model.export(str(tmp_path / "model"), verbose=False)
    served = tf.saved_model.load(str(tmp_path / "model")).serve(X)
    close(served, model.predict(X, verbose=0))


def test_variables_of_other_places_are_not_changed(strategy):
    alone = tf.Variable(1.0)
    with strategy.scope():
        optimizer = sgd(0.1)
    with pytest.raises(ValueError, match="not made in the scope"):
        strategy.run(lambda: optimizer.apply_gradients([(tf.constant(1.0), alone)]))


def test_steps_may_branch_and_loop_over_tensors(strategy):
    def step(x):
        total = 0.0
        for _ in tf.range(3):
            if tf.reduce_sum(x) > 3.0:
                total += tf.reduce_sum(x)
            else:
                total -= 1.0
        return total

    @tf.function
    def of_all(batches):
        total = 0.0
        for x in batches:
            total += strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)
        return total

    rows = tf.data.Dataset.range(8).map(lambda x: tf.cast(x, tf.float32)).batch(4)
    assert of_all(strategy.experimental_distribute_dataset(rows)).numpy() == 78


# ---- What fit() is given

ROWS = np.random.RandomState(0).randn(16, 4).astype("float32")
TWICE = ROWS[:, :1] * 2


def test_parts_of_data_by_name_and_sequences_of_batches(strategy):
    class Batches(tf.keras.utils.PyDataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return ROWS[4 * i : 4 * i + 4], TWICE[4 * i : 4 * i + 4]

    with strategy.scope():
        a, b = tf.keras.Input([2], name="a"), tf.keras.Input([2], name="b")
        dense = layers.Dense(1, kernel_initializer="ones")
        named = tf.keras.Model({"a": a, "b": b}, dense(layers.Concatenate()([a, b])))
        named.compile("sgd", "mse")
    wanted = [3.1928, 2.7276]
    close(losses(named, {"a": ROWS[:, :2], "b": ROWS[:, 2:]}, TWICE)["loss"], wanted)
    close(losses(one_layer(strategy, "sgd"), Batches(), None, batch_size=None)["loss"], wanted)


def test_classes_may_count_more(strategy):
    labels = (TWICE[:, 0] > 0).astype("int32")
    model = one_layer(strategy, "sgd")
    found = losses(model, ROWS, labels, epochs=1, class_weight={0: 1.0, 1: 3.0})
    alone = one_layer(tf.distribute.get_strategy(), "sgd")
    wanted = losses(alone, ROWS, labels, epochs=1, class_weight={0: 1.0, 1: 3.0})
    close(found["loss"], wanted["loss"])


def test_running_means_of_weights(strategy):
    model = one_layer(strategy, lambda: sgd(0.1, use_ema=True, ema_momentum=0.9))
    losses(model, ROWS, TWICE)
    np.testing.assert_allclose(
        model.get_weights()[0].ravel(), [1.479, 0.466, 0.757, 0.506], atol=1e-3
    )


def test_the_rate_may_be_set_between_steps(strategy):
    model = one_layer(strategy, "sgd")
    model.optimizer.learning_rate = 0.5
    model.optimizer.learning_rate.assign(0.2)
    close(losses(model, ROWS, TWICE, batch_size=8)["loss"], [3.1403, 0.5249])
    assert model.optimizer.learning_rate.numpy() == np.float32(0.2)
