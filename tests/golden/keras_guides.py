"""Programs in the manner of Keras's guides: whole models, from data to predictions."""

import tempfile

import numpy as np
from keras_programs import program
from keras_training import history

X = np.random.RandomState(0).rand(64, 8).astype("float32")
Y = (X.sum(1) > 4).astype("int32")


@program
def texts_by_class(tf):
    L = tf.keras.layers
    texts = np.array(["good film really", "bad film", "awful bad", "great good"] * 8)
    batches = tf.data.Dataset.from_tensor_slices((texts, np.array([1, 0, 0, 1] * 8))).batch(8)
    words = L.TextVectorization(max_tokens=50, output_sequence_length=5)
    words.adapt(batches.map(lambda text, label: text))
    numbers = batches.map(lambda text, label: (words(text), label)).cache().prefetch(1)
    model = tf.keras.Sequential([
        L.Embedding(51, 8), L.Dropout(0.2), L.GlobalAveragePooling1D(),
        L.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    model.compile(loss=tf.keras.losses.BinaryCrossentropy(), optimizer="adam",
                  metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.5)])  # fmt: skip
    found = history(model, numbers, validation_data=numbers)
    whole = tf.keras.Sequential([words, model, L.Activation("sigmoid")])
    return [found, whole.predict(tf.constant(["good film", "awful"]), verbose=0)]


@program
def a_part_that_is_not_trained(tf):
    L = tf.keras.layers
    base = tf.keras.Sequential(
        [tf.keras.Input((8, 8, 3)), L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU()]
    )
    base.trainable = False
    inputs = tf.keras.Input((8, 8, 3))
    x = L.Rescaling(1 / 127.5, offset=-1)(L.RandomFlip("horizontal")(inputs))
    x = L.Dropout(0.2)(L.GlobalAveragePooling2D()(base(x, training=False)))
    model = tf.keras.Model(inputs, L.Dense(1)(x))
    model.compile(tf.keras.optimizers.Adam(1e-3),
                  tf.keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0)])  # fmt: skip
    pictures = np.random.RandomState(0).uniform(0, 255, (16, 8, 8, 3)).astype("float32")
    found = history(model, pictures, np.arange(16) % 2)
    count = len(model.trainable_variables)
    base.trainable = True
    return [found, count, len(model.trainable_variables)]


@program
def a_transformer(tf):
    L = tf.keras.layers

    class Block(L.Layer):
        def __init__(self, size, heads):
            super().__init__()
            self.attention = L.MultiHeadAttention(num_heads=heads, key_dim=size)
            self.dense = tf.keras.Sequential([L.Dense(16, activation="relu"), L.Dense(size)])
            self.norms = [L.LayerNormalization(epsilon=1e-6) for _ in range(2)]
            self.dropouts = [L.Dropout(0.1) for _ in range(2)]

        def call(self, inputs, training=False):
            seen = self.attention(inputs, inputs, use_causal_mask=True)
            x = self.norms[0](inputs + self.dropouts[0](seen, training=training))
            return self.norms[1](x + self.dropouts[1](self.dense(x), training=training))

    class Places(L.Layer):
        def __init__(self, length, words, size):
            super().__init__()
            self.words, self.places = L.Embedding(words, size), L.Embedding(length, size)

        def call(self, x):
            return self.words(x) + self.places(tf.range(0, tf.shape(x)[-1]))

    inputs = tf.keras.Input((6,))
    x = L.GlobalAveragePooling1D()(Block(8, 2)(Places(6, 20, 8)(inputs)))
    model = tf.keras.Model(inputs, L.Dense(2, activation="softmax")(x))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    words = np.random.RandomState(1).randint(0, 20, (32, 6))
    return [history(model, words, words[:, 0] % 2), model.count_params()]


@program
def twins(tf):
    L = tf.keras.layers
    embed = tf.keras.Sequential([tf.keras.Input((8,)), L.Dense(4, activation="tanh")])
    first, second = tf.keras.Input((8,)), tf.keras.Input((8,))

    def distance(pair):
        square = tf.reduce_sum(tf.square(pair[0] - pair[1]), axis=1, keepdims=True)
        return tf.sqrt(tf.maximum(square, 1e-7))

    def contrast(y_true, y_pred):
        far = tf.square(tf.maximum(1 - y_pred, 0))
        return tf.reduce_mean((1 - y_true) * tf.square(y_pred) + y_true * far)

    x = L.Lambda(distance, output_shape=(1,))([embed(first), embed(second)])
    outputs = L.Dense(1, activation="sigmoid")(L.BatchNormalization()(x))
    model = tf.keras.Model([first, second], outputs)
    model.compile(loss=contrast, optimizer="RMSprop", metrics=["accuracy"])
    return history(model, [X[:32], X[32:]], Y[:32].astype("float32"), batch_size=8)


@program
def states_from_one_network_to_another(tf):
    L = tf.keras.layers
    inputs, later = tf.keras.Input((5, 3)), tf.keras.Input((None, 3))
    _, hidden, cell = L.LSTM(4, return_state=True)(inputs)
    x, _, _ = L.LSTM(4, return_sequences=True, return_state=True)(
        later, initial_state=[hidden, cell]
    )
    model = tf.keras.Model([inputs, later], L.Dense(2)(x))
    model.compile("rmsprop", "mse")
    series = np.random.RandomState(0).rand(8, 5, 3).astype("float32")
    return history(model, [series, series], np.ones((8, 5, 2)))


@program
def half_precision(tf):
    L = tf.keras.layers
    tf.keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = tf.keras.Sequential([
            tf.keras.Input((8,)), L.Dense(4, activation="relu"), L.BatchNormalization(),
            L.Dense(1, dtype="float32"),
        ])  # fmt: skip
    finally:
        tf.keras.mixed_precision.set_global_policy("float32")
    model.compile("adam", "mse")
    first = model.layers[0]
    kinds = [first.compute_dtype, first.variable_dtype, model(X).dtype.name, first(X).dtype.name]
    found = history(model, X, Y.astype("float32"))["loss"]
    return [kinds, [round(float(x), 2) for x in found], type(model.optimizer).__name__]


@program
def dtypes_of_inputs(tf):
    L = tf.keras.layers
    wide = np.random.RandomState(0).rand(2, 3)
    return [L.Dense(2)(wide), L.Conv1D(2, 1)(wide[None]), L.LayerNormalization()(wide),
            L.Dense(2, dtype="float64")(wide)]  # fmt: skip


@program
def what_callbacks_see(tf):
    seen, callbacks = [], tf.keras.callbacks

    class Listener(callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(batch)

        def on_epoch_end(self, epoch, logs=None):
            seen.append([epoch, sorted(logs)])

    with tempfile.TemporaryDirectory() as folder:
        model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse", metrics=["mae"])
        table = folder + "/table.csv"
        kept = [
            Listener(), callbacks.EarlyStopping(patience=1, restore_best_weights=True),
            callbacks.CSVLogger(table), callbacks.ReduceLROnPlateau(patience=1),
            callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
            callbacks.TerminateOnNaN(), callbacks.BackupAndRestore(folder + "/backup"),
            callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: seen.append("begin")),
        ]  # fmt: skip
        found = history(model, X, Y.astype("float32"), epochs=3, validation_split=0.25,
                        callbacks=kept)  # fmt: skip
        with open(table) as file:
            return [found, seen, file.readline().strip()]


@program
def tables(tf):
    L, lines = tf.keras.layers, []
    inputs = tf.keras.Input((8,), name="inputs")
    both = [L.Dense(4, name="a")(inputs), L.Dense(4, name="b")(inputs)]
    network = tf.keras.Model(inputs, L.Dense(1, name="out")(L.concatenate(both, name="c")))
    line = tf.keras.Sequential([L.Dense(3), L.Dense(2)])
    line.build((None, 5))
    for model in (network, line, tf.keras.Sequential([L.Dense(3)])):
        model.summary(print_fn=lambda text, **kwargs: lines.append(text))
    return lines


@program
def the_same_order_of_samples(tf):
    L = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((8,)), L.Dense(16, activation="relu"), L.Dropout(0.2),
        L.Dense(2, activation="softmax"),
    ])  # fmt: skip
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    found = history(model, X, Y, epochs=3, batch_size=8, shuffle=True)
    return [found, np.array(model.evaluate(X, Y, verbose=0), "float64")]
