"""Models, layers and metrics of version 2 as objects: copies, configurations, signatures."""

import copy
import importlib.util
import pickle

import numpy as np
import pytest
import rheos as tf

keras = tf.keras
layers = keras.layers
X = np.ones((2, 4), "float32")
needs_h5py = pytest.mark.skipif(importlib.util.find_spec("h5py") is None, reason="needs h5py")


def _network():
    inputs = keras.Input([4])
    return keras.Model(inputs, layers.Dense(2)(layers.Dense(3, activation="relu")(inputs)))


def _sequence():
    return keras.Sequential([keras.Input([4]), layers.Dense(2), layers.BatchNormalization()])


def _trained():
    model = _network()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, np.ones((2, 2)), verbose=0)
    return model


@needs_h5py
@pytest.mark.parametrize("make", [_network, _sequence, _trained])
@pytest.mark.parametrize(
    "copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy]
)
def test_copies_of_models_are_others_with_the_same_weights(make, copied):
    model = make()
    found = copied(model)
    np.testing.assert_allclose(found(X), model(X), rtol=1e-6)
    assert not {id(v) for v in found.weights} & {id(v) for v in model.weights}
    if make is _trained:
        assert int(found.optimizer.iterations) == 1 and found.loss == "mse"
        y = np.ones((2, 2))
        assert found.evaluate(X, y, verbose=0) == model.evaluate(X, y, verbose=0)
        found.fit(X, y, verbose=0)
        assert int(model.optimizer.iterations) == 1


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_copies_of_metrics_and_layers_go_their_own_way(copied):
    metric = keras.metrics.Mean()
    metric.update_state([1.0, 3.0])
    found = copied(metric)
    found.update_state([8.0])
    assert (float(metric.result()), float(found.result())) == (2.0, 4.0)
    layer = layers.Dense(2)
    layer(X)
    found = copied(layer)
    np.testing.assert_allclose(found(X), layer(X))
    assert found.kernel is not layer.kernel


class _Options(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)


class _Units(layers.Layer):
    def __init__(self, units, act="relu", **kwargs):
        super().__init__(**kwargs)


class _Bare(layers.Layer):
    def __init__(self, units=3):
        super().__init__()


class _Many(layers.Layer):
    def __init__(self, *sizes, inner=None):
        super().__init__()


class _Model(keras.Model):
    def __init__(self, n=3, **kwargs):
        super().__init__(**kwargs)


def test_what_init_was_given_is_the_configuration_of_a_class_without_one():
    cases = [
        (_Options(name="q", trainable=False), {"name": "q", "trainable": False}),
        (_Units(3, name="n"), {"name": "n", "units": 3, "act": "relu"}),
        (_Units(units=[1, (2, 3)], act=None), {"units": [1, (2, 3)], "act": None}),
        (_Bare(5), {"units": 5}),
        (_Many(), {"inner": None}),
        (_Model(n=4), {"n": 4}),
    ]
    for made, expected in cases:
        config = made.get_config()
        assert {key: config[key] for key in expected} == expected
        assert type(made).from_config(config).get_config() == config
    for made in (_Many(1, 2), _Many(inner=layers.Dense(1)), _Units(object())):
        with pytest.raises(NotImplementedError, match="get_config"):
            made.get_config()


@needs_h5py
def test_a_layer_of_options_is_saved(tmp_path):
    keras.utils.register_keras_serializable("tests")(_Units)
    model = keras.Sequential([keras.Input([4]), _Units(3, name="n"), layers.Dense(2)])
    model.save(tmp_path / "model.keras")
    found = keras.models.load_model(tmp_path / "model.keras")
    assert found.layers[0].get_config() == model.layers[0].get_config()
    np.testing.assert_allclose(found(X), model(X))
    keras.utils.get_custom_objects().clear()


def _served(model, folder):
    tf.saved_model.save(model, str(folder))
    return tf.saved_model.load(str(folder)).signatures["serving_default"]


def test_a_saved_model_of_a_model_can_be_served(tmp_path):
    model = _network()
    found = _served(model, tmp_path / "one")(inputs=tf.constant(X))
    np.testing.assert_allclose(found["output_0"], model(X), rtol=1e-6)
    a, b = keras.Input([4]), keras.Input([1])
    model = keras.Model({"a": a, "b": b}, {"p": layers.Dense(2)(a), "q": layers.Dense(1)(b)})
    serve = _served(model, tmp_path / "two")
    assert sorted(serve(inputs=tf.constant(X), inputs_1=tf.ones([2, 1]))) == ["p", "q"]

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dense(2)

        def call(self, x):
            return self.inner(x)

    model = Own()
    model(X)
    assert _served(model, tmp_path / "own")(inputs=tf.ones([3, 4]))["output_0"].shape == [3, 2]
    tf.saved_model.save(Own(), str(tmp_path / "unbuilt"))  # it has none
    assert not tf.saved_model.load(str(tmp_path / "unbuilt")).signatures
    model.export(str(tmp_path / "exported"), verbose=False)
    exported = tf.saved_model.load(str(tmp_path / "exported"))
    assert sorted(exported.signatures) == ["serve", "serving_default"]


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda: layers.BatchNormalization(), (None, 4, 4, 2)),
        (lambda: layers.LayerNormalization(), (None, 4, 2)),
        (lambda: layers.GroupNormalization(2), (None, 4, 2)),
        (lambda: layers.Dense(3), (None, 2)),
        (lambda: layers.Conv2D(3, 2), (None, 4, 4, 2)),
        (lambda: layers.SeparableConv2D(3, 2), (None, 4, 4, 2)),
        (lambda: layers.LSTM(3), (None, 4, 2)),
        (lambda: layers.Bidirectional(layers.GRU(3)), (None, 4, 2)),
        (lambda: layers.TimeDistributed(layers.Dense(3)), (None, 4, 2)),
        (lambda: layers.PReLU(), (None, 4)),
        (lambda: layers.Embedding(3, 2), (None, 4)),
    ],
)
def test_layers_are_built_before_any_call(make, shape):
    layer = make()
    layer.build(shape)
    assert layer.built and layer.weights and layer.weights[0].dtype == tf.float32
    count = len(layer.weights)
    layer(tf.ones([1, *shape[1:]]))
    assert len(layer.weights) == count


def test_layers_of_many_outputs_give_tuples():
    x = tf.ones([1, 2, 3])
    for made, count in [
        (layers.LSTM(2, return_state=True), 3),
        (layers.GRU(2, return_state=True, return_sequences=True), 2),
        (layers.RNN(layers.LSTMCell(2), return_state=True), 3),
        (layers.Bidirectional(layers.LSTM(2, return_state=True)), 5),
        (layers.Bidirectional(layers.GRU(2), merge_mode=None), 2),
        (layers.Bidirectional(layers.GRU(2, return_state=True), merge_mode="sum"), 3),
    ]:
        for given in (x, keras.Input([2, 3])):
            found = made(given)
            assert type(found) is tuple and len(found) == count
        assert len(made.compute_output_shape((1, 2, 3))) == count


def test_cells_start_from_a_batch_size():
    assert [s.shape for s in layers.LSTMCell(2).get_initial_state(5)] == [[5, 2], [5, 2]]
    assert [s.shape for s in layers.GRUCell(2).get_initial_state(batch_size=3)] == [[3, 2]]

    class Cell(layers.Layer):
        state_size = output_size = 3

        def call(self, inputs, states):
            return states[0] + inputs, [states[0] + inputs]

        def get_initial_state(self, batch_size=None):
            return [tf.ones([batch_size, 3])]

    np.testing.assert_allclose(layers.RNN(Cell())(tf.ones([1, 2, 3])), [[3, 3, 3]])


@pytest.mark.parametrize(
    "losses, settings, expected",  # of TensorFlow 2.21: epochs, wait, stopped, best, its epoch, w
    [
        ([3, 2, 1, 2, 2, 2], {"patience": 2}, (5, 2, 4, 1, 2, 4)),
        ([3, 2, 1, 2, 2, 2], {"patience": 2, "restore_best_weights": True}, (5, 2, 4, 1, 2, 2)),
        ([1, 2, 3, 4], {"patience": 0}, (2, 1, 1, 1, 0, 1)),
        ([5, 4, 4, 4, 4], {"patience": 1, "baseline": 2.5, "restore_best_weights": True},
         (3, 3, 2, 4, 1, 1)),
        ([3, 2, 1], {"patience": 3, "baseline": 0.5}, (3, 3, 0, 1, 2, 2)),
        ([3, 1, 2], {"patience": 9, "restore_best_weights": True}, (3, 1, 0, 1, 1, 1)),
    ],
)  # fmt: skip
def test_early_stopping_knows_the_best_epoch(losses, settings, expected):
    class Losses(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["loss"] = losses[epoch]
            self.model.set_weights([np.full((1, 1), epoch)])

    model = keras.Sequential([keras.Input([1]), layers.Dense(1, use_bias=False)])
    model.compile("sgd", "mse")
    stop = keras.callbacks.EarlyStopping("loss", **settings)
    history = model.fit(X[:, :1], X[:, :1], epochs=len(losses), verbose=0,
                        callbacks=[Losses(), stop])  # fmt: skip
    found = (len(history.history["loss"]), stop.wait, stop.stopped_epoch, stop.best,
             stop.best_epoch, int(model.get_weights()[0][0, 0]))  # fmt: skip
    assert found == expected


def test_texts_and_bytes():
    compat = tf.compat
    assert compat.as_bytes("é") == "é".encode() and compat.as_text(b"a") == "a"
    assert compat.as_str(b"\xe9", "latin-1") == "é" and compat.as_str_any(b"\xe9", "latin-1") == "é"
    assert compat.as_str_any(1) == "1" and compat.path_to_str("a/b") == "a/b"
    assert isinstance(1, compat.integral_types) and isinstance("a", compat.bytes_or_text_types)
    assert compat.dimension_value(3) == 3
    assert compat.dimension_at_index(tf.TensorShape([2, None]), 0).value == 2
    assert compat.forward_compatible(2020, 1, 1) and not compat.forward_compatible(2099, 1, 1)
    with compat.forward_compatibility_horizon(2100, 1, 1):
        assert compat.forward_compatible(2099, 1, 1)
    with pytest.raises(TypeError):
        compat.as_bytes(1)


@pytest.mark.parametrize(
    "name, settings, wrong",
    [
        ("Dense", {}, {"units": [-1, 0, 2.5, "x"]}),
        ("Conv2D", {"filters": 2, "kernel_size": 2},
         {"filters": [-1, 0], "kernel_size": [0, (2, -1)], "strides": [-1, 0],
          "dilation_rate": [0], "groups": [-1]}),
        ("DepthwiseConv2D", {"kernel_size": 2}, {"depth_multiplier": [-1, 0, "x"]}),
        ("ConvLSTM2D", {"filters": 2, "kernel_size": 2}, {"kernel_size": [0, -1]}),
        ("MaxPooling2D", {}, {"pool_size": [-1, 0, (0, 1)], "strides": [-1]}),
        ("LSTM", {}, {"units": [-2, 0, 2.5]}),
        ("Embedding", {"input_dim": 3, "output_dim": 2},
         {"input_dim": [0, -1, None, 2.5], "output_dim": [0, "x"]}),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2},
         {"num_heads": [0, -1], "key_dim": [0, 1.5]}),
        ("Attention", {}, {"score_mode": ["x", None]}),
        ("Dropout", {}, {"rate": [-0.5, 1.5]}),
        ("GaussianNoise", {}, {"stddev": [-1, 2.5]}),
        ("GroupNormalization", {}, {"groups": [0, 2.5, None]}),
        ("RepeatVector", {}, {"n": [0, -1]}),
        ("Flatten", {}, {"data_format": ["x", 2]}),
        ("Lambda", {}, {"function": [None, 3, "x"]}),
        ("ZeroPadding1D", {}, {"padding": [-1]}),
        ("Cropping2D", {}, {"cropping": [-1]}),
        ("UpSampling2D", {}, {"size": [0, -1]}),
        ("LeakyReLU", {}, {"negative_slope": [-1]}),
        ("ReLU", {}, {"trainable": ["x"], "activity_regularizer": ["zzz"]}),
    ],
)  # fmt: skip
def test_layers_refuse_arguments_that_are_nonsense(name, settings, wrong):
    for argument, given in wrong.items():
        for value in given:
            with pytest.raises((ValueError, TypeError)):
                getattr(layers, name)(**{**settings, argument: value})


def test_networks_with_vocabularies_tell_what_these_lack():
    words = keras.Input([1], dtype=tf.string)
    lookup = layers.StringLookup(vocabulary=["no", "yes"], num_oov_indices=0, mask_token=None)
    model = keras.Model(words, lookup(words))
    assert model(tf.constant([["yes"], ["no"]])).numpy().tolist() == [[1], [0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="maybe"):
        tf.function(model)(tf.constant([["maybe"]]))
