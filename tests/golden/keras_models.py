"""Small models of tf.keras, each with data and what it is trained by; see make_keras.py.

A case is a function of the module keras that gives a dict: model, x, y, and what compile() takes.
"""

import numpy as np

CASES = {}


def case(function):
    """A decorator: a function of keras gives a case."""
    CASES[function.__name__] = function
    return function


def numbers(*shape, seed=1):
    """Numbers from -1 to 1."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def layer(name, make, *shape, batch=6, x=None, optimizer="sgd", **more):
    """A case of one layer on inputs of a shape."""

    def one(keras):
        inputs = keras.Input(shape, dtype=None if x is None else x.dtype.name)
        model = keras.Model(inputs, make(keras.layers)(inputs))
        return {"model": model, "x": numbers(batch, *shape) if x is None else x,
                "optimizer": optimizer, "loss": "mse", **more}  # fmt: skip

    CASES[name] = one


layer("dense", lambda L: L.Dense(3), 4)
layer("dense_relu", lambda L: L.Dense(3, activation="relu", use_bias=False), 4)
layer("dense_of_sequences", lambda L: L.Dense(3, activation="tanh"), 5, 4)
for _name in ("elu", "selu", "softplus", "softsign", "sigmoid", "hard_sigmoid", "exponential",
              "linear", "softmax"):  # fmt: skip
    layer(f"activation_{_name}", lambda L, n=_name: L.Dense(4, activation=n), 5)
layer("dense_regularized",
      lambda L: L.Dense(3, kernel_regularizer="l2", activity_regularizer="l2"), 4)  # fmt: skip
layer("dense_constrained", lambda L: L.Dense(3, kernel_constraint="max_norm",
                                             bias_constraint="non_neg"), 4)  # fmt: skip
layer("conv1d", lambda L: L.Conv1D(3, 3, padding="same", activation="relu"), 8, 2)
layer("conv1d_causal", lambda L: L.Conv1D(3, 2, padding="causal", dilation_rate=2), 8, 2)
layer("conv2d", lambda L: L.Conv2D(3, (3, 2), strides=2), 7, 6, 2)
layer("conv2d_dilated", lambda L: L.Conv2D(3, 3, dilation_rate=2, padding="same"), 7, 6, 2)
layer("conv3d", lambda L: L.Conv3D(2, 2, padding="same"), 4, 4, 4, 2, batch=2)
layer("conv2d_transpose", lambda L: L.Conv2DTranspose(3, 3, strides=2, padding="same"), 4, 5, 2)
layer("conv2d_transpose_valid", lambda L: L.Conv2DTranspose(3, 3, strides=2), 4, 5, 2)
layer("conv2d_transpose_output_padding",
      lambda L: L.Conv2DTranspose(2, 3, strides=2, padding="same", output_padding=1),
      4, 5, 2)  # fmt: skip
layer("conv3d_transpose", lambda L: L.Conv3DTranspose(2, 2, strides=2), 3, 3, 3, 2, batch=2)
layer("depthwise_conv2d", lambda L: L.DepthwiseConv2D(3, depth_multiplier=2), 6, 6, 2)
layer("separable_conv1d", lambda L: L.SeparableConv1D(3, 3, padding="same"), 8, 2)
layer("separable_conv2d", lambda L: L.SeparableConv2D(3, 3, depth_multiplier=2), 6, 6, 2)
layer("max_pooling1d", lambda L: L.MaxPooling1D(2), 8, 2)
layer("max_pooling2d", lambda L: L.MaxPooling2D((2, 3), strides=2, padding="same"), 7, 6, 2)
layer("max_pooling3d", lambda L: L.MaxPooling3D(2), 4, 4, 4, 2, batch=2)
layer("average_pooling1d", lambda L: L.AveragePooling1D(3, strides=1, padding="same"), 8, 2)
layer("average_pooling2d", lambda L: L.AveragePooling2D(), 7, 6, 2)
layer("average_pooling3d", lambda L: L.AveragePooling3D(2), 4, 4, 4, 2, batch=2)
for _name in ("Average", "Max"):
    for _rank in (1, 2, 3):
        layer(f"global_{_name.lower()}_pooling{_rank}d",
              lambda L, n=f"Global{_name}Pooling{_rank}D": getattr(L, n)(),
              *([4] * _rank), 3, batch=2)  # fmt: skip
layer("up_sampling1d", lambda L: L.UpSampling1D(3), 4, 2)
layer("up_sampling2d", lambda L: L.UpSampling2D((2, 3)), 4, 3, 2)
layer("up_sampling2d_bilinear", lambda L: L.UpSampling2D(2, interpolation="bilinear"), 4, 3, 2)
layer("up_sampling3d", lambda L: L.UpSampling3D(2), 2, 3, 2, 2, batch=2)
layer("zero_padding1d", lambda L: L.ZeroPadding1D((1, 2)), 4, 2)
layer("zero_padding2d", lambda L: L.ZeroPadding2D(((1, 0), (2, 1))), 4, 3, 2)
layer("zero_padding3d", lambda L: L.ZeroPadding3D(1), 2, 3, 2, 2, batch=2)
layer("cropping1d", lambda L: L.Cropping1D(1), 5, 2)
layer("cropping2d", lambda L: L.Cropping2D(((1, 0), (1, 2))), 5, 5, 2)
layer("cropping3d", lambda L: L.Cropping3D(1), 4, 4, 4, 2, batch=2)
layer("batch_normalization", lambda L: L.BatchNormalization(), 4)
layer("batch_normalization_images", lambda L: L.BatchNormalization(momentum=0.8), 5, 4, 3)
layer("batch_normalization_axis", lambda L: L.BatchNormalization(axis=1, scale=False), 3, 4)
layer("layer_normalization", lambda L: L.LayerNormalization(), 5, 4)
layer("layer_normalization_axes", lambda L: L.LayerNormalization(axis=[1, 2]), 5, 4)
layer("flatten", lambda L: L.Flatten(), 3, 4)
layer("reshape", lambda L: L.Reshape((2, -1)), 3, 4)
layer("permute", lambda L: L.Permute((2, 1)), 3, 4)
layer("repeat_vector", lambda L: L.RepeatVector(3), 4)
layer("activation", lambda L: L.Activation("tanh"), 4)
layer("leaky_relu", lambda L: L.LeakyReLU(0.2), 4)
layer("elu_layer", lambda L: L.ELU(0.7), 4)
layer("thresholded_relu", lambda L: L.ThresholdedReLU(0.3), 4)
layer("relu_layer", lambda L: L.ReLU(0.5, 0.1, 0.1), 4)
layer("prelu", lambda L: L.PReLU(shared_axes=[1]), 4, 3)
layer("softmax_layer", lambda L: L.Softmax(axis=1), 4, 3)
layer("lambda_layer", lambda L: L.Lambda(lambda x: x * 2 + 1), 4)
layer("simple_rnn", lambda L: L.SimpleRNN(3), 5, 4)
layer("simple_rnn_sequences", lambda L: L.SimpleRNN(3, return_sequences=True, unroll=True), 5, 4)
layer("lstm", lambda L: L.LSTM(3), 5, 4)
layer("lstm_sequences_backwards", lambda L: L.LSTM(3, return_sequences=True, go_backwards=True),
      5, 4)  # fmt: skip
layer("gru", lambda L: L.GRU(3), 5, 4)
layer("gru_reset_after", lambda L: L.GRU(3, reset_after=True, recurrent_activation="sigmoid"), 5, 4)
layer("rnn_of_cells", lambda L: L.RNN([L.GRUCell(3), L.LSTMCell(2)]), 5, 4)
layer("rnn_with_states", lambda L: L.RNN(L.SimpleRNNCell(3), return_state=True), 5, 4)
layer("conv_lstm2d", lambda L: L.ConvLSTM2D(2, 2, padding="same"), 3, 4, 4, 2, batch=2)
layer("conv_lstm2d_sequences", lambda L: L.ConvLSTM2D(2, 2, return_sequences=True),
      3, 4, 4, 2, batch=2)  # fmt: skip
layer("locally_connected1d", lambda L: L.LocallyConnected1D(3, 2, strides=2), 7, 2)
layer("locally_connected2d", lambda L: L.LocallyConnected2D(2, (2, 3), activation="relu"), 5, 4, 2)
layer("bidirectional", lambda L: L.Bidirectional(L.LSTM(3)), 5, 4)
layer("bidirectional_sum", lambda L: L.Bidirectional(L.GRU(3, return_sequences=True), "sum"), 5, 4)
layer("time_distributed", lambda L: L.TimeDistributed(L.Dense(3)), 5, 4)
layer("time_distributed_conv", lambda L: L.TimeDistributed(L.Conv2D(2, 2)), 2, 4, 4, 2, batch=2)
_WORDS = np.array([[1, 2, 3, 0, 0], [4, 1, 0, 0, 0], [2, 2, 5, 1, 3]], dtype="int32")
layer("embedding", lambda L: L.Embedding(6, 3), 5, x=_WORDS)
for _name in ("sgd", "rmsprop", "adam", "adagrad", "adadelta", "adamax", "nadam", "ftrl"):
    layer(f"optimizer_{_name}", lambda L: L.Dense(3, activation="tanh"), 4, optimizer=_name)
    layer(f"optimizer_{_name}_of_rows", lambda L: L.Embedding(6, 3), 5, x=_WORDS,
          optimizer=_name)  # fmt: skip
for _name in ("mse", "mae", "mape", "msle", "binary_crossentropy", "categorical_crossentropy",
              "kld", "poisson", "hinge", "squared_hinge", "categorical_hinge", "logcosh",
              "cosine_similarity"):  # fmt: skip
    layer(f"loss_{_name}", lambda L: L.Dense(3, activation="softmax"), 4, loss=_name,
          y=np.eye(3, dtype="float32")[[0, 2, 1, 1, 0, 2]],
          metrics=["accuracy", "mae"])  # fmt: skip
layer("loss_sparse", lambda L: L.Dense(3, activation="softmax"), 4,
      loss="sparse_categorical_crossentropy", y=np.array([0, 2, 1, 1, 0, 2]),
      metrics=["acc", "sparse_top_k_categorical_accuracy"])  # fmt: skip
layer("loss_sparse_of_logits", lambda L: L.Dense(3), 5, 4, y=np.arange(30).reshape(6, 5, 1) % 3,
      loss=lambda keras: keras.losses.SparseCategoricalCrossentropy(from_logits=True))  # fmt: skip
layer("loss_huber", lambda L: L.Dense(1), 4, loss=lambda keras: keras.losses.Huber(0.5))
layer("loss_smoothed", lambda L: L.Dense(1, activation="sigmoid"), 4,
      y=np.array([0, 1, 1, 0, 1, 0]), metrics=["accuracy"],
      loss=lambda keras: keras.losses.BinaryCrossentropy(label_smoothing=0.1))  # fmt: skip
layer("binary_accuracy", lambda L: L.Dense(1, activation="sigmoid"), 4,
      y=np.array([0, 1, 1, 0, 1, 0]), loss="binary_crossentropy",
      metrics=["accuracy", "binary_crossentropy"])  # fmt: skip
layer("metrics_of_confusion", lambda L: L.Dense(1, activation="sigmoid"), 4,
      y=np.array([0, 1, 1, 0, 1, 0]), loss="binary_crossentropy",
      metrics=lambda keras: [keras.metrics.AUC(name="auc"), keras.metrics.Precision(name="p"),
                             keras.metrics.Recall(name="r"), keras.metrics.TruePositives(name="tp"),
                             keras.metrics.FalseNegatives(name="fn"),
                             keras.metrics.SensitivityAtSpecificity(0.5, name="ss")])  # fmt: skip
layer("sample_weights", lambda L: L.Dense(2), 4, metrics=["mae"],
      sample_weight=np.array([1, 2, 0.5, 0, 1, 3]), weighted_metrics=["mse"])  # fmt: skip
layer("class_weights", lambda L: L.Dense(3, activation="softmax"), 4,
      loss="sparse_categorical_crossentropy", y=np.array([0, 2, 1, 1, 0, 2]),
      class_weight={0: 1.0, 1: 2.0, 2: 0.5})  # fmt: skip
for _name, _settings in (
    ("momentum", ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True})),
    ("decay", ("SGD", {"lr": 0.1, "decay": 0.1, "clipnorm": 0.5})),
    ("rmsprop_centered", ("RMSprop", {"momentum": 0.5, "centered": True})),
    ("rmsprop_plain_centered", ("RMSprop", {"centered": True, "clipvalue": 0.1})),
    ("amsgrad", ("Adam", {"amsgrad": True})),
):
    layer(f"optimizer_{_name}", lambda L: L.Dense(3, activation="tanh"), 4,
          optimizer=lambda keras, s=_settings: getattr(keras.optimizers, s[0])(**s[1]))  # fmt: skip
layer("schedule", lambda L: L.Dense(3), 4, optimizer=lambda keras: keras.optimizers.SGD(
    keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)))  # fmt: skip


@case
def merges(keras):
    L = keras.layers
    a, b = keras.Input((4,)), keras.Input((4,))
    outputs = [make()([a, b]) for make in (L.Add, L.Subtract, L.Multiply, L.Average, L.Maximum,
                                           L.Minimum, L.Concatenate)]  # fmt: skip
    outputs.append(L.Dot(1)([a, b]))
    joined = L.concatenate(outputs)
    model = keras.Model([a, b], L.Dense(2)(joined))
    return {"model": model, "x": [numbers(6, 4), numbers(6, 4, seed=2)], "loss": "mse"}


@case
def dot_of_sequences(keras):
    a, b = keras.Input((3, 4)), keras.Input((5, 4))
    model = keras.Model([a, b], keras.layers.Dot(axes=(2, 2), normalize=True)([a, b]))
    return {"model": model, "x": [numbers(2, 3, 4), numbers(2, 5, 4, seed=2)], "loss": "mse"}


@case
def attention(keras):
    L = keras.layers
    q, v = keras.Input((3, 4)), keras.Input((5, 4))
    model = keras.Model([q, v], [L.Attention(use_scale=True)([q, v]),
                                 L.AdditiveAttention()([q, v])])  # fmt: skip
    return {"model": model, "x": [numbers(2, 3, 4), numbers(2, 5, 4, seed=2)], "loss": "mse"}


@case
def masked_sequences(keras):
    L = keras.layers
    words = keras.Input((5,), dtype="int32")
    x = L.Embedding(6, 3, mask_zero=True)(words)
    x = L.LSTM(4, return_sequences=True)(x)
    x = L.Bidirectional(L.GRU(3))(x)
    return {"model": keras.Model(words, L.Dense(1)(x)), "x": _WORDS, "loss": "mse"}


@case
def masking_layer(keras):
    L = keras.layers
    x = numbers(4, 5, 3)
    x[0, 3:] = x[1, 1:] = 0
    model = keras.Sequential([L.Masking(input_shape=(5, 3)),
                              L.SimpleRNN(4, return_sequences=True), L.Dense(2)])  # fmt: skip
    return {"model": model, "x": x, "loss": "mse", "metrics": ["mae"]}


@case
def shared_layers_and_two_outputs(keras):
    L = keras.layers
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = L.Dense(3, activation="tanh", name="shared")
    both = L.Add(name="both")([shared(a), shared(b)])
    model = keras.Model([a, b], [L.Dense(1, name="one")(both), L.Dense(2, name="two")(both)])
    return {"model": model, "x": [numbers(6, 4), numbers(6, 4, seed=2)],
            "loss": {"one": "mse", "two": "mae"}, "loss_weights": [1.0, 0.3],
            "metrics": {"two": ["mse"]}}  # fmt: skip


@case
def a_model_in_a_model(keras):
    L = keras.layers
    inner = keras.Sequential([L.Dense(5, "relu", input_shape=(4,)), L.Dense(3)], name="inner")
    inputs = keras.Input((4,))
    return {"model": keras.Model(inputs, L.Dense(1)(inner(inputs))), "x": numbers(6, 4),
            "loss": "mse"}  # fmt: skip


@case
def a_subclass(keras):
    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = keras.layers.Dense(5, activation="relu")
            self.second = keras.layers.Dense(1)

        def call(self, inputs):
            return self.second(self.first(inputs))

    model = Two()
    model.build((None, 4))
    return {"model": model, "x": numbers(6, 4), "y": numbers(6, 1, seed=5), "loss": "mse",
            "described": False}  # fmt: skip


@case
def residual_network(keras):
    L = keras.layers
    inputs = keras.Input((8, 8, 2))
    x = L.Conv2D(4, 3, padding="same", use_bias=False)(inputs)
    x = L.BatchNormalization()(x)
    x = L.Activation("relu")(x)
    y = L.Conv2D(4, 3, padding="same")(x)
    x = L.add([x, y])
    x = L.GlobalAveragePooling2D()(x)
    outputs = L.Dense(3, activation="softmax")(x)
    return {"model": keras.Model(inputs, outputs), "x": numbers(6, 8, 8, 2),
            "y": np.array([0, 1, 2, 2, 1, 0]), "loss": "sparse_categorical_crossentropy",
            "metrics": ["accuracy"], "optimizer": "adam"}  # fmt: skip


@case
def losses_and_metrics_of_layers(keras):
    inputs = keras.Input((4,))
    hidden = keras.layers.Dense(3)(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
    model.add_loss(keras.backend.mean(hidden) * 0.1)
    model.add_metric(keras.backend.sum(hidden), name="total", aggregation="mean")
    return {"model": model, "x": numbers(6, 4), "loss": "mse", "described": False}


def _settled(value, keras):
    return value(keras) if callable(value) else value


def run(keras, function):
    """What a case gives: predictions, losses, a history, names, the table, the configuration."""
    settings = function(keras)
    model, x = settings.pop("model"), settings.pop("x")
    described = settings.pop("described", True)
    y = settings.pop("y", None)
    fit = {k: settings.pop(k) for k in ("sample_weight", "class_weight") if k in settings}
    model.compile(**{k: _settled(v, keras) for k, v in settings.items()})
    names = [[w.name, w.shape.as_list()] for w in model.weights]
    random = np.random.RandomState(7)
    model.set_weights([random.uniform(0.1, 0.6, w.shape).astype("float32")
                       for w in model.get_weights()])  # fmt: skip
    found = model.predict(x)
    outputs = found if isinstance(found, list) else [found]
    if y is None:
        y = [numbers(*o.shape, seed=i + 3) for i, o in enumerate(outputs)]
        y = y if len(y) > 1 else y[0]
    result = {"names": names, "outputs": [_short(o) for o in outputs]}
    result["metrics_names"] = list(model.metrics_names)
    evaluated = model.evaluate(x, y, verbose=0)
    result["evaluated"] = np.asarray(evaluated, "float64").reshape(-1).tolist()
    history = model.fit(x, y, epochs=3, batch_size=4, shuffle=False, verbose=0, **fit).history
    result["history"] = {k: np.asarray(v, "float64").tolist() for k, v in history.items()}
    result["after"] = [_short(o) for o in _as_list(model.predict(x))]
    lines = []
    model.summary(print_fn=lines.append)
    if described:
        result["table"] = [line.rstrip() for line in lines]
        result["config"] = model.get_config()
    return result


def _as_list(found):
    return found if isinstance(found, list) else [found]


def _short(array):
    """At most 24 numbers of an array, and its shape."""
    flat = np.asarray(array, "float64").reshape(-1)
    step = max(len(flat) // 24, 1)
    return [list(array.shape), [round(v, 7) for v in flat[::step][:24].tolist()]]
