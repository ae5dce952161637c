"""Training by several replicas: what TensorFlow 2.21 gives with two CPUs, and that is what one
replica gives with the whole batch where a loss is divided by the size of that."""

import numpy as np
import pytest
import rheos as tf

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(20, 4).astype("float32")
Y = (X @ [[1.0], [2.0], [-1.0], [0.5]]).astype("float32")
CLASSES = (Y[:, 0] > 0).astype("int64")
KERNELS = [RANDOM.randn(*dims).astype("float32") * 0.3 for dims in ((4, 3), (3, 1), (3, 2))]
Dense = tf.keras.layers.Dense


def network(strategy, more=(), outputs=1, activation="tanh"):
    with strategy.scope():
        ends = [Dense(3, activation=activation), *more, Dense(outputs)]
        model = tf.keras.Sequential([tf.keras.layers.Input([4]), *ends])
        model.layers[0].set_weights([KERNELS[0], np.zeros(3)])
        model.layers[-1].set_weights([KERNELS[outputs], np.zeros(outputs)])
    return model


def mean_of_squares(strategy, optimizer="sgd", more=()):
    model = network(strategy, more)
    with strategy.scope():
        model.compile(optimizer, "mse", metrics=["mae"])
    return model


def fit(model, x=X, y=Y, **arguments):
    return model.fit(x, y, batch_size=8, shuffle=False, verbose=0, **arguments).history


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, atol=2e-4)


def losses_of_own_loop(strategy, optimizer, make_run):
    """The losses of a loop of the program's own over two epochs, and the weights after it."""
    model = network(strategy)
    with strategy.scope():
        optimizer.build(model.trainable_variables)
        squares = tf.keras.losses.MeanSquaredError(reduction="none")
    batches = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    batches = strategy.experimental_distribute_dataset(batches)

    def step(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            losses = squares(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=8)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    run = make_run(strategy, step)
    losses = [float(run(batch)) for _ in range(2) for batch in batches]
    return losses, np.concatenate([w.ravel() for w in model.get_weights()])


def all_in_a_function(strategy, step):
    return tf.function(lambda batch: at_once(strategy, step)(batch))


def at_once(strategy, step):
    return lambda batch: strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)


def step_in_a_function(strategy, step):
    return at_once(strategy, tf.function(step))


RUNS = (all_in_a_function, at_once, step_in_a_function)
OPTIMIZERS = {
    "Adam": [4.1971, 4.82192, 1.08833, 3.32313, 3.73062, 0.72074],
    "RMSprop": [4.1971, 4.17547, 0.80136, 2.4831, 2.31191, 0.27025],
    "Adagrad": [4.1971, 4.8482, 1.06169, 3.64872, 4.22705, 0.90671],
    "AdamW": [4.1971, 4.82218, 1.08847, 3.32398, 3.73214, 0.72135],
    "Nadam": [4.1971, 4.80172, 1.07101, 3.5382, 4.02131, 0.82189],
    "Ftrl": [4.1971, 5.55123, 1.30145, 4.32509, 5.17908, 1.22415],
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_own_loops_of_optimizers(strategy, name):
    kind = getattr(tf.keras.optimizers, name)
    for make_run in RUNS:
        losses, _ = losses_of_own_loop(strategy, kind(0.05), make_run)
        close(losses, OPTIMIZERS[name])


def test_two_replicas_learn_what_one_does(strategy):
    alone = tf.distribute.get_strategy()
    for name in ("SGD", "Adam"):
        kind = getattr(tf.keras.optimizers, name)
        both = [losses_of_own_loop(s, kind(0.05), at_once) for s in (strategy, alone)]
        close(both[0][0], both[1][0])
        close(both[0][1], both[1][1])


def test_a_loop_is_the_same_bits_each_time(strategy):
    kind = tf.keras.optimizers.Adam
    found = [losses_of_own_loop(strategy, kind(0.05), run) for run in (at_once, *RUNS[:2])]
    assert np.array_equal(found[0][1], found[2][1])
    assert found[0][0] == found[2][0]


def test_slots_and_counts_have_copies(strategy):
    model = network(strategy)
    with strategy.scope():
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
        optimizer.build(model.trainable_variables)

    def step():
        pairs = [(tf.ones_like(v), v) for v in model.trainable_variables]
        optimizer.apply_gradients(pairs)

    strategy.run(step)
    assert optimizer.iterations.numpy() == 1
    for variable in (*optimizer.variables, *model.variables):
        first, second = variable.values
        assert np.array_equal(first.numpy(), second.numpy())
    close(model.layers[0].bias.numpy(), [-0.2] * 3)  # the sum of two gradients of 1


def test_gradients_are_gathered_before_a_step(strategy):
    on_read = {
        "synchronization": tf.VariableSynchronization.ON_READ,
        "aggregation": tf.VariableAggregation.SUM,
        "trainable": False,
    }
    with strategy.scope():
        v = tf.Variable(1.0)
        kept = tf.Variable(0.0, **on_read)
        optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def gather(x):
        strategy.run(lambda x: kept.assign_add(x), args=(x,))

    for i in range(3):
        gather(strategy.experimental_distribute_values_from_function(
            lambda c, i=i: tf.constant(float(i + c.replica_id_in_sync_group))))  # fmt: skip
    assert kept.numpy() == 0 + 1 + 1 + 2 + 2 + 3
    strategy.run(lambda: optimizer.apply_gradients([(kept.read_value(), v)]))
    close(v.numpy(), 1 - 0.1 * 9)


def test_fit_evaluate_and_predict(strategy):
    model = mean_of_squares(strategy)
    history = fit(model, epochs=2)
    close(history["loss"], [4.1667, 3.9167])
    close(history["mae"], [1.6877, 1.6334])
    close(model.evaluate(X, Y, batch_size=8, verbose=0), [3.7269, 1.5924])
    found = model.predict(X[:5], batch_size=4, verbose=0)
    close(found.ravel(), [0.27111, -0.14613, 0.08884, 0.07912, 0.0541])


def test_fit_on_a_dataset_with_a_validation(strategy):
    with strategy.scope():
        adam = tf.keras.optimizers.Adam(0.05)
    model = mean_of_squares(strategy, adam)
    history = model.fit(
        tf.data.Dataset.from_tensor_slices((X, Y)).batch(8),
        epochs=2,
        verbose=0,
        validation_data=(X[:9], Y[:9]),
        validation_batch_size=8,
    ).history
    close(history["loss"], [4.0429, 3.0648])
    close(history["val_loss"], [4.5112, 3.489])
    close(history["val_mae"], [1.6955, 1.4734])


def test_fit_on_a_distributed_dataset(strategy):
    batches = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8).repeat()
    model = mean_of_squares(strategy)
    history = model.fit(
        strategy.experimental_distribute_dataset(batches), epochs=2, steps_per_epoch=2, verbose=0
    ).history
    close(history["loss"], [4.6333, 3.43])


def test_a_last_batch_may_be_one_replicas(strategy):
    history = fit(mean_of_squares(strategy, "rmsprop"), X[:9], Y[:9])
    close(history["loss"], [5.6416])


def test_moving_averages_are_the_first_replicas(strategy):
    model = mean_of_squares(strategy, "sgd", [tf.keras.layers.BatchNormalization()])
    close(fit(model, X[:16], Y[:16], epochs=2)["loss"], [4.0188, 3.4991])
    wanted = [[0.9973, 1.0383, 1.019], [0.0003, -0.0012, -0.0011], [0.0077, -0.0032, 0.0073],
              [0.9699, 0.9685, 0.9721]]  # fmt: skip
    for found, one in zip(model.layers[1].get_weights(), wanted):
        close(found, one)


def test_metrics_and_weights_of_samples(strategy):
    model = network(strategy, outputs=2, activation="relu")
    with strategy.scope():
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        metric = tf.keras.metrics.SparseCategoricalCrossentropy(from_logits=True, name="sce")
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
        model.compile(optimizer, loss, metrics=["accuracy", metric])
    history = fit(model, X, CLASSES, epochs=3)
    close(history["accuracy"], [0.85, 0.95, 0.9])
    close(history["loss"], [0.6558, 0.5832, 0.462])
    close(history["sce"], [0.6558, 0.5832, 0.462])
    close(fit(model, X, CLASSES, sample_weight=np.linspace(0, 1, 20))["loss"], [0.1494])
    found = model.evaluate(X, CLASSES, batch_size=8, verbose=0)
    close(found[1], np.mean(model.predict(X, verbose=0).argmax(axis=1) == CLASSES))
    close(model.train_on_batch(X[:8], CLASSES[:8]), [0.2926, 1, 0.2926])
    close(model.test_on_batch(X[:8], CLASSES[:8]), [0.2546, 1, 0.2546])


def test_a_step_of_the_programs_own(strategy):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = Dense(1, kernel_initializer="ones")
            self.mean = tf.keras.metrics.Mean(name="own")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2) / 2
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            self.mean.update_state(loss)
            return {"own": self.mean.result()}

        @property
        def metrics(self):
            return [self.mean]

    with strategy.scope():
        model = Own()
        model.compile(tf.keras.optimizers.SGD(0.1))
    close(fit(model, epochs=2)["own"], [1.1914, 0.5628])
    close(model.dense.get_weights()[0].ravel(), [0.7628, 1.4196, -0.0086, 0.839])


def test_weights_and_models_are_saved(strategy, tmp_path):
    pytest.importorskip("h5py")
    model = mean_of_squares(strategy)
    fit(model)
    wanted = model.predict(X, verbose=0)
    model.save_weights(str(tmp_path / "w.weights.h5"))
    model.save(str(tmp_path / "m.keras"))
    other = mean_of_squares(strategy)
    other.load_weights(str(tmp_path / "w.weights.h5"))
    close(other.predict(X, verbose=0), wanted)
    assert all(np.array_equal(*(one.numpy() for one in v.values)) for v in other.weights)
    alone = tf.keras.models.load_model(str(tmp_path / "m.keras"))
    close(alone.predict(X, verbose=0), wanted)
