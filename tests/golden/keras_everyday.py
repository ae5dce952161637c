"""Programs as everyday users of tf.keras write them: see keras_programs.py."""

import numpy as np
from keras_programs import numbers, program


def _fitted(tf, optimizer):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
    model.compile(optimizer, "mse")
    model.fit(numbers(4, 2), numbers(4, 3), verbose=0)
    return model.optimizer


@program
def variables_of_optimizers(tf):
    kinds, found = tf.keras.optimizers, {}
    slow = kinds.schedules.ExponentialDecay(0.1, 10, 0.9)
    for name, optimizer in {
        "sgd": kinds.SGD(),
        "momentum": kinds.SGD(0.1, momentum=0.9),
        "adam": kinds.Adam(0.1),
        "amsgrad": kinds.Adam(0.1, amsgrad=True),
        "rmsprop": kinds.RMSprop(momentum=0.1, centered=True),
        "scheduled": kinds.Adam(slow),
        "ftrl": kinds.Ftrl(),
        "lion": kinds.Lion(),
    }.items():
        found[name] = [list(v.shape) for v in _fitted(tf, optimizer).variables]
    return found


@program
def variables_of_an_optimizer_of_a_loop(tf):
    weights = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
    optimizer = tf.keras.optimizers.Adam(0.5)
    with tf.GradientTape() as tape:
        loss = sum(tf.reduce_sum(w * w) for w in weights)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return [v.numpy() for v in optimizer.variables]


def _shown(model):
    lines = []
    model.summary(print_fn=lines.append)
    rows = "\n".join(lines).split("\n")
    return [row.split("\u2502")[2].strip() for row in rows if row.count("\u2502") == 4]


@program
def a_table_after_each_way_to_call(tf):
    class Two(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(8, activation="relu")
            self.last = tf.keras.layers.Dense(3)

        def call(self, x):
            return self.last(self.first(x))

    x, y = numbers(70, 4), numbers(70, 3)
    found = {}
    for way in ("fit", "evaluate", "dataset", "called"):
        model = Two()
        model.compile("sgd", "mse")
        if way == "fit":
            model.fit(x, y, verbose=0)
        elif way == "evaluate":
            model.evaluate(x, y, verbose=0)
        elif way == "dataset":
            data = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
            model.fit(data, verbose=0)
        else:
            model(x)
        found[way] = _shown(model)
    return found


def _losses(history):
    return {key: np.float32(values) for key, values in history.history.items()}


@program
def digits_by_dense_layers(tf):
    x, y = numbers(96, 8, 8, low=0, high=255), np.arange(96) % 10
    model = tf.keras.models.Sequential([
        tf.keras.Input(shape=(8, 8)),
        tf.keras.layers.Rescaling(1 / 255.0),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dropout(0.0),
        tf.keras.layers.Dense(10),
    ])  # fmt: skip
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    history = model.fit(x, y, epochs=2, batch_size=16, shuffle=False, verbose=0,
                        validation_split=0.25)  # fmt: skip
    judged = tf.keras.Sequential([model, tf.keras.layers.Softmax()])
    return _losses(history), model.evaluate(x, y, verbose=0, return_dict=True), judged(x[:2])


@program
def a_convolutional_network_with_classes_weighed(tf):
    layers = tf.keras.layers
    x, y = numbers(48, 8, 8, 3), np.arange(48) % 3
    model = tf.keras.Sequential([
        layers.Input((8, 8, 3)),
        layers.Conv2D(4, 3, padding="same", activation="relu", kernel_regularizer="l2"),
        layers.BatchNormalization(),
        layers.MaxPooling2D(),
        layers.SeparableConv2D(6, (3, 3), activation="elu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(3, activation="softmax"),
    ])  # fmt: skip
    model.compile(tf.keras.optimizers.RMSprop(0.01), "categorical_crossentropy",
                  metrics=["accuracy", tf.keras.metrics.AUC(name="auc"),
                           tf.keras.metrics.TopKCategoricalAccuracy(k=2)])  # fmt: skip
    wide = tf.keras.utils.to_categorical(y, 3)
    history = model.fit(x, wide, epochs=2, batch_size=12, shuffle=False, verbose=0,
                        class_weight={0: 1.0, 1: 2.0, 2: 0.5})  # fmt: skip
    return _losses(history), model.predict(x[:3], verbose=0), _shown(model)


@program
def texts_by_a_vocabulary(tf):
    texts = np.array(["a good film", "bad bad film", "good fun", "no fun at all"] * 6)
    labels = np.array([1, 0, 1, 0] * 6, "float32")
    vectorize = tf.keras.layers.TextVectorization(max_tokens=20, output_sequence_length=5)
    vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(8))
    data = tf.data.Dataset.from_tensor_slices((texts, labels)).batch(6)
    data = data.map(lambda t, y: (vectorize(t), y)).cache().prefetch(tf.data.AUTOTUNE)
    model = tf.keras.Sequential([
        tf.keras.layers.Embedding(20, 8, mask_zero=True),
        tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4, return_sequences=True)),
        tf.keras.layers.GRU(4),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    model.compile("adam", "binary_crossentropy",
                  metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.4), "Precision", "recall"])
    history = model.fit(data, epochs=2, verbose=0)
    whole = tf.keras.Sequential([tf.keras.Input((), dtype=tf.string), vectorize, model])
    return _losses(history), vectorize.get_vocabulary(), whole(tf.constant(["good film"]))


@program
def a_series_in_windows(tf):
    series = np.sin(np.arange(60, dtype="float32") / 5)
    data = tf.keras.utils.timeseries_dataset_from_array(
        series[:-6, None], series[6:], sequence_length=6, batch_size=16)
    model = tf.keras.Sequential([
        tf.keras.layers.LSTM(6, return_sequences=True),
        tf.keras.layers.Dense(3, activation="tanh"),
        tf.keras.layers.LSTM(4),
        tf.keras.layers.Dense(1),
    ])  # fmt: skip
    stop = tf.keras.callbacks.EarlyStopping("loss", patience=1, restore_best_weights=True)
    model.compile(tf.keras.optimizers.SGD(0.1, 0.9, nesterov=True), "huber", metrics=["mae"])
    history = model.fit(data, epochs=3, callbacks=[stop], verbose=0, validation_data=data)
    return _losses(history), model.predict(data.take(1), verbose=0)[:3], model.count_params()


@program
def an_autoencoder_in_two_models(tf):
    class Autoencoder(tf.keras.models.Model):
        def __init__(self, latent, shape):
            super().__init__()
            self.encoder = tf.keras.Sequential([
                tf.keras.layers.Flatten(), tf.keras.layers.Dense(latent, activation="relu")])
            self.decoder = tf.keras.Sequential([
                tf.keras.layers.Dense(int(np.prod(shape)), activation="sigmoid"),
                tf.keras.layers.Reshape(shape)])

        def call(self, x):
            return self.decoder(self.encoder(x))

    x = numbers(40, 4, 4, low=0, high=1)
    model = Autoencoder(3, (4, 4))
    model.compile(optimizer="adam", loss=tf.keras.losses.MeanSquaredError())
    history = model.fit(x, x, epochs=2, shuffle=False, batch_size=10, verbose=0,
                        validation_data=(x[:8], x[:8]))  # fmt: skip
    encoded = model.encoder(x[:2]).numpy()
    return _losses(history), encoded, model.decoder(encoded)


@program
def layers_taken_over_and_frozen(tf):
    base = tf.keras.Sequential([
        tf.keras.Input((6,)), tf.keras.layers.Dense(8, activation="gelu", name="features"),
        tf.keras.layers.Dense(4, name="top")], name="base")  # fmt: skip
    features = tf.keras.Model(base.inputs, base.get_layer("features").output)
    features.trainable = False
    inputs = tf.keras.Input((6,))
    x = features(inputs, training=False)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2, name="new")(x))
    model.compile("adam", "mse")
    before = features.get_weights()[0]
    model.fit(numbers(16, 6), numbers(16, 2, seed=2), shuffle=False, verbose=0)
    frozen = bool((features.get_weights()[0] == before).all()), len(model.trainable_weights)
    features.trainable = True
    model.compile(tf.keras.optimizers.Adam(1e-3), "mse")
    loss = model.fit(numbers(16, 6), numbers(16, 2, seed=2), shuffle=False, verbose=0)
    clone = tf.keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    same = np.abs(clone.predict(numbers(3, 6), verbose=0) - model(numbers(3, 6)).numpy()).max()
    return frozen, len(model.trainable_weights), _losses(loss), float(same) < 1e-6


@program
def a_loop_of_ones_own(tf):
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, "tanh"),
                                 tf.keras.layers.Dense(3)])  # fmt: skip
    optimizer = tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.CosineDecay(0.1, 20), clipnorm=1.0)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    seen, right = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_fn(y, logits) + sum(model.losses)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        seen.update_state(loss)
        right.update_state(y, logits)
        return loss

    data = tf.data.Dataset.from_tensor_slices((numbers(40, 4), np.arange(40) % 3)).batch(10)
    found = []
    for _ in range(2):
        seen.reset_state()
        right.reset_state()
        for x, y in data:
            step(x, y)
        found.append([seen.result().numpy(), float(right.result())])
    return found, int(optimizer.iterations), float(optimizer.learning_rate)


@program
def layers_losses_and_metrics_of_ones_own(tf):
    @tf.keras.utils.register_keras_serializable("everyday")
    class Linear(tf.keras.layers.Layer):
        def __init__(self, units=3, **kwargs):
            super().__init__(**kwargs)
            self.units = units

        def build(self, input_shape):
            self.w = self.add_weight(shape=(input_shape[-1], self.units),
                                     initializer="glorot_uniform", name="w")
            self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

        def call(self, x, training=False):
            self.add_loss(1e-2 * tf.reduce_sum(self.w**2))
            y = tf.matmul(x, self.w) + self.b
            return y * 0.5 if training else y

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    class Farthest(tf.keras.metrics.Metric):
        def __init__(self, name="farthest", **kwargs):
            super().__init__(name=name, **kwargs)
            self.most = self.add_weight(name="most", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            away = tf.reduce_max(tf.abs(tf.cast(y_true, y_pred.dtype) - y_pred))
            self.most.assign(tf.maximum(self.most, away))

        def result(self):
            return self.most

    def quartic(y_true, y_pred):
        return tf.reduce_mean((y_true - y_pred) ** 4, axis=-1)

    model = tf.keras.Sequential([tf.keras.Input((5,)), Linear(4, name="one"),
                                 tf.keras.layers.ReLU(), Linear(2)])  # fmt: skip
    model.compile("sgd", quartic, metrics=[Farthest(), "mse"])
    x, y = numbers(24, 5), numbers(24, 2, seed=3)
    history = model.fit(x, y, epochs=2, shuffle=False, batch_size=8, verbose=0)
    again = tf.keras.Sequential.from_config(model.get_config())
    again.set_weights(model.get_weights())
    return _losses(history), again(x[:2]), model.layers[0].get_config()["units"], len(model.losses)


@program
def several_inputs_and_outputs(tf):
    layers = tf.keras.layers
    title = tf.keras.Input(shape=(None,), name="title", dtype="int32")
    tags = tf.keras.Input(shape=(4,), name="tags")
    x = layers.Embedding(12, 6)(title)
    x = layers.Conv1D(5, 2, activation="relu")(x)
    x = layers.GlobalMaxPooling1D()(x)
    x = layers.concatenate([x, layers.Dense(3)(tags)])
    skip = layers.Add()([layers.Dense(4)(x), tags])
    priority = layers.Dense(1, activation="sigmoid", name="priority")(skip)
    team = layers.Dense(3, activation="softmax", name="team")(x)
    model = tf.keras.Model(inputs=[title, tags], outputs={"priority": priority, "team": team})
    model.compile(
        "adam", {"priority": "binary_crossentropy", "team": "sparse_categorical_crossentropy"},
        loss_weights={"priority": 1.0, "team": 0.2}, metrics={"team": ["accuracy"]},
    )  # fmt: skip
    x = {"title": np.arange(48).reshape(12, 4) % 12, "tags": numbers(12, 4)}
    y = {"priority": np.arange(12) % 2, "team": np.arange(12) % 3}
    history = model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    found = model.predict({k: v[:2] for k, v in x.items()}, verbose=0)
    return _losses(history), found["priority"], found["team"], sorted(model.output_names)


@program
def callbacks_of_a_training(tf):
    seen = []

    class Told(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append(["begin", sorted(self.params), type(self.model).__name__])

        def on_epoch_end(self, epoch, logs=None):
            seen.append([epoch, sorted(logs), round(float(self.model.optimizer.learning_rate), 5)])
            if epoch == 2:
                self.model.stop_training = True

        def on_train_batch_end(self, batch, logs=None):
            seen.append([batch, sorted(logs)])

    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    rate = tf.keras.callbacks.LearningRateScheduler(lambda e, lr: lr if e < 1 else lr * 0.5)
    history = model.fit(
        numbers(8, 3), numbers(8, 1), epochs=9, batch_size=4, verbose=0, shuffle=False,
        callbacks=[Told(), rate, tf.keras.callbacks.LambdaCallback(
            on_epoch_begin=lambda e, logs: seen.append(e)), tf.keras.callbacks.TerminateOnNaN()],
    )  # fmt: skip
    return seen, history.epoch, _losses(history)


@program
def attention_over_tokens(tf):
    layers = tf.keras.layers

    class Block(layers.Layer):
        def __init__(self, size, heads, inner):
            super().__init__()
            self.att = layers.MultiHeadAttention(num_heads=heads, key_dim=size // heads)
            self.ffn = tf.keras.Sequential([layers.Dense(inner, "relu"), layers.Dense(size)])
            self.norms = [layers.LayerNormalization(epsilon=1e-6) for _ in range(2)]
            self.drop = layers.Dropout(0.0)

        def call(self, x, training=False):
            seen = self.drop(self.att(x, x, use_causal_mask=True), training=training)
            x = self.norms[0](x + seen)
            return self.norms[1](x + self.ffn(x))

    class Placed(layers.Layer):
        def __init__(self, length, words, size):
            super().__init__()
            self.words, self.places = layers.Embedding(words, size), layers.Embedding(length, size)

        def call(self, x):
            return self.words(x) + self.places(tf.range(tf.shape(x)[-1]))

    inputs = layers.Input(shape=(6,), dtype="int64")
    x = Block(8, 2, 12)(Placed(6, 10, 8)(inputs))
    model = tf.keras.Model(inputs, layers.Dense(10)(x))
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  weighted_metrics=["accuracy"])
    tokens = np.arange(72).reshape(12, 6) * 7 % 10
    history = model.fit(tokens, np.roll(tokens, -1, 1), epochs=2, batch_size=4, shuffle=False,
                        verbose=0, sample_weight=np.linspace(0.1, 1, 12)[:, None])  # fmt: skip
    return _losses(history), model.predict(tokens[:1], verbose=0), model.count_params()


@program
def generators_and_sequences(tf):
    def batches():
        for i in range(100):
            yield numbers(4, 3, seed=i), numbers(4, 2, seed=i + 1), np.full(4, 0.5, "float32")

    class Some(tf.keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            return numbers(4, 3, seed=i), numbers(4, 2, seed=i + 7)

    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    model.compile("adagrad", "mae", jit_compile=False, steps_per_execution=2)
    first = model.fit(batches(), steps_per_epoch=4, epochs=2, verbose=0)
    second = model.fit(Some(), epochs=2, shuffle=False, verbose=0, validation_data=Some())
    repeated = tf.data.Dataset.from_generator(
        lambda: ((numbers(3, seed=i), numbers(2, seed=i)) for i in range(8)),
        output_signature=(tf.TensorSpec((3,)), tf.TensorSpec((2,))),
    ).batch(4, drop_remainder=True).repeat()  # fmt: skip
    third = model.fit(repeated, steps_per_epoch=2, verbose=0)
    return [_losses(h) for h in (first, second, third)], model.evaluate(Some(), verbose=0)


@program
def mixed_precision_and_regularizers(tf):
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        model = tf.keras.Sequential([
            tf.keras.Input((4,)),
            tf.keras.layers.Dense(8, "swish", kernel_constraint=tf.keras.constraints.MaxNorm(0.5),
                                  bias_initializer=tf.keras.initializers.Constant(0.1)),
            tf.keras.layers.Dense(2, dtype="float32", activity_regularizer="l1"),
        ])  # fmt: skip
        kinds = [model.layers[0].compute_dtype, model.layers[0].kernel.dtype, model.dtype_policy]
        model.compile("adamw", "mse")
        history = model.fit(numbers(16, 4), numbers(16, 2), shuffle=False, verbose=0)
        biggest = float(np.linalg.norm(model.layers[0].kernel.numpy(), axis=0).max())
        dtypes = [str(getattr(k, "name", k)) for k in kinds]
        return dtypes, float(np.round(history.history["loss"][0], 2)), biggest < 0.5001
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
