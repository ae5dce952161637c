"""Programs that train models by steps of their own, or on data of every kind."""

import numpy as np
from keras_programs import numbers, program

X = numbers(40, 6)
Y = (X.sum(1) > 0).astype("float32")


def history(model, *args, **settings):
    """Loss and metrics of each epoch, by their names in order."""
    found = model.fit(*args, **{"epochs": 2, "verbose": 0, "shuffle": False, **settings}).history
    return {key: np.array(found[key], "float64") for key in sorted(found)}


def made(tf, kind=None):
    """A small network, of a class."""
    inputs = tf.keras.Input((6,))
    hidden = tf.keras.layers.Dense(5, activation="tanh")(inputs)
    return (kind or tf.keras.Model)(inputs, tf.keras.layers.Dense(1)(hidden))


@program
def a_train_step_with_compiled_losses(tf):
    class Custom(tf.keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply(gradients, self.trainable_variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred)
            return {m.name: m.result() for m in self.metrics}

    model = made(tf, Custom)
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    return [history(model, X, Y, epochs=3), np.array(model.evaluate(X, Y, verbose=0)),
            model.evaluate(X, Y, verbose=0, return_dict=True)["loss"]]  # fmt: skip


@program
def steps_with_metrics_of_their_own(tf):
    class Low(tf.keras.Model):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.mean = tf.keras.metrics.Mean(name="loss")
            self.error = tf.keras.metrics.MeanAbsoluteError(name="mae")
            self.function = tf.keras.losses.MeanSquaredError()

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.function(y, y_pred)
            gradients = tape.gradient(loss, self.trainable_weights)
            self.optimizer.apply(gradients, self.trainable_weights)
            self.mean.update_state(loss)
            self.error.update_state(y, y_pred)
            return {"loss": self.mean.result(), "mae": self.error.result()}

        def test_step(self, data):
            x, y = data
            self.mean.update_state(self.function(y, self(x, training=False)))
            return {"loss": self.mean.result()}

        @property
        def metrics(self):
            return [self.mean, self.error]

    model = made(tf, Low)
    model.compile(optimizer="sgd")
    column = Y[:, None]
    return [history(model, X, column, validation_data=(X, column)),
            model.evaluate(X, column, verbose=0)]  # fmt: skip


@program
def a_train_step_with_sample_weights(tf):
    class Weighted(tf.keras.Model):
        def train_step(self, data):
            x, y, weights = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred, sample_weight=weights)
            variables = self.trainable_variables
            gradients = tape.gradient(loss, variables)
            self.optimizer.apply_gradients(zip(gradients, variables))
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred, sample_weight=weights)
            return {m.name: m.result() for m in self.metrics}

    model = made(tf, Weighted)
    model.compile("sgd", "mse", metrics=["mae"])
    return history(model, X, Y, sample_weight=np.linspace(0, 2, 40))


@program
def a_variational_autoencoder(tf):
    class Autoencoder(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = tf.keras.layers.Dense(4), tf.keras.layers.Dense(6)
            self.seed = tf.keras.random.SeedGenerator(1337)
            self.total = tf.keras.metrics.Mean(name="total")
            self.divergence = tf.keras.metrics.Mean(name="divergence")

        @property
        def metrics(self):
            return [self.total, self.divergence]

        def train_step(self, data):
            with tf.GradientTape() as tape:
                hidden = self.encoder(data)
                mean, log = hidden[:, :2], hidden[:, 2:]
                noise = tf.keras.random.normal(tf.shape(mean), seed=self.seed)
                found = self.decoder(mean + tf.exp(0.5 * log) * noise)
                error = tf.reduce_sum(tf.keras.losses.mse(data, found))
                divergence = tf.reduce_mean(-0.5 * (1 + log - tf.square(mean) - tf.exp(log)))
                total = error + divergence
            gradients = tape.gradient(total, self.trainable_weights)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
            self.total.update_state(total)
            self.divergence.update_state(divergence)
            return {"total": self.total.result(), "divergence": self.divergence.result()}

    model = Autoencoder()
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01))
    return history(model, X, epochs=3, batch_size=16)


@program
def two_networks_against_each_other(tf):
    L = tf.keras.layers

    class Adversaries(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.maker = tf.keras.Sequential([tf.keras.Input((3,)), L.Dense(6)])
            self.judge = tf.keras.Sequential([
                tf.keras.Input((6,)), L.Dense(4), L.LeakyReLU(negative_slope=0.2), L.Dense(1)
            ])  # fmt: skip
            self.seed = tf.keras.random.SeedGenerator(7)
            self.first = tf.keras.metrics.Mean(name="judge_loss")
            self.second = tf.keras.metrics.Mean(name="maker_loss")

        def compile(self, judge_optimizer, maker_optimizer, function):
            super().compile()
            self.optimizers = judge_optimizer, maker_optimizer
            self.function = function

        @property
        def metrics(self):
            return [self.first, self.second]

        def made(self, count):
            return self.maker(tf.keras.random.normal((count, 3), seed=self.seed))

        def train_step(self, real):
            count = tf.shape(real)[0]
            both = tf.concat([self.made(count), real], 0)
            labels = tf.concat([tf.ones((count, 1)), tf.zeros((count, 1))], 0)
            with tf.GradientTape() as tape:
                first = self.function(labels, self.judge(both))
            variables = self.judge.trainable_weights
            self.optimizers[0].apply_gradients(zip(tape.gradient(first, variables), variables))
            with tf.GradientTape() as tape:
                judged = self.judge(self.made(count))
                second = self.function(tf.zeros((count, 1)), judged)
            variables = self.maker.trainable_weights
            self.optimizers[1].apply_gradients(zip(tape.gradient(second, variables), variables))
            self.first.update_state(first)
            self.second.update_state(second)
            return {"judge_loss": self.first.result(), "maker_loss": self.second.result()}

    adam, model = tf.keras.optimizers.Adam, Adversaries()
    model.compile(adam(3e-3), adam(3e-3), tf.keras.losses.BinaryCrossentropy(from_logits=True))
    return history(model, tf.data.Dataset.from_tensor_slices(X).batch(16))


@program
def ways_to_compile(tf):
    found = []
    for settings in ({"run_eagerly": True}, {"steps_per_execution": 2, "jit_compile": False}):
        model = made(tf)
        model.compile("adam", "mse", metrics=["mae"], **settings)
        found += [history(model, X, Y), model.predict(X[:3], verbose=0)]
    return found


@program
def losses_of_ones_own(tf):
    class Absolute(tf.keras.Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, **kwargs):
            return tf.reduce_mean(tf.abs(y - y_pred)) + sum(self.losses)

    class Small(tf.keras.layers.Layer):
        def call(self, inputs):
            self.add_loss(0.01 * tf.reduce_sum(tf.square(inputs)))
            return inputs

    model = made(tf, Absolute)
    model.compile("sgd")
    found = [history(model, X, Y[:, None])]
    L = tf.keras.layers
    model = tf.keras.Sequential([L.Dense(4), Small(), L.Dense(1)])
    model.compile("adam", "mse")
    return [*found, history(model, X, Y), len(model.losses)]


@program
def a_predict_step(tf):
    class Sevens(tf.keras.Model):
        def predict_step(self, data):
            return self(data) * 0 + 7

    model = made(tf, Sevens)
    return model.predict(X[:3], verbose=0)


@program
def batches_by_themselves(tf):
    model = made(tf)
    model.compile("sgd", "mse", metrics=["mae"])
    return [{k: np.float64(v) for k, v in model.train_on_batch(X, Y, return_dict=True).items()},
            np.array(model.test_on_batch(X, Y), "float64"),
            model.predict_on_batch(X[:2])]  # fmt: skip


@program
def kinds_of_data(tf):
    model = made(tf)
    model.compile("sgd", "mse", metrics=["mae"])
    batches = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    found = [history(model, batches, validation_data=batches), model.predict(batches, verbose=0),
             np.array(model.evaluate(batches, verbose=0))]  # fmt: skip

    def without_end():
        while True:
            yield X[:8], Y[:8]

    class ByNumber(tf.keras.utils.PyDataset):
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return X[i * 8 : i * 8 + 8], Y[i * 8 : i * 8 + 8]

    # fmt: off
    found += [history(model, without_end(), steps_per_epoch=3),
              history(model, ByNumber(), class_weight={0: 1.0, 1: 2.0}),
              history(model, tf.constant(X), tf.constant(Y)),
              history(model, X, Y, validation_split=0.25, class_weight={0: 1.0, 1: 2.0})]
    return found


@program
def outputs_by_name(tf):
    L = tf.keras.layers
    inputs = tf.keras.Input((6,), name="inp")
    hidden = L.Dense(4)(inputs)
    model = tf.keras.Model(inputs, {"a": L.Dense(1)(hidden), "b": L.Dense(2)(hidden)})
    model.compile("sgd", {"a": "mse", "b": "mae"}, loss_weights={"a": 1.0, "b": 0.5},
                  metrics={"a": ["mae"]})  # fmt: skip
    targets = {"a": Y[:, None], "b": X[:, :2]}
    logs = model.evaluate({"inp": X}, targets, verbose=0, return_dict=True)
    return [history(model, {"inp": X}, targets), model.predict(X[:2], verbose=0),
            {key: logs[key] for key in sorted(logs)}]  # fmt: skip
