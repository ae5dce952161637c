"""Models in Keras 3's files, .keras and .weights.h5, and as SavedModels that predict."""

import collections
import importlib.util
import json
import os
import shutil
import sys
import zipfile

import numpy as np
import pytest
import rheos as tf

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden")
FILES = os.path.join(GOLDEN, "keras_files")
X = np.random.RandomState(0).uniform(-1, 1, (4, 6)).astype("float32")
WORDS = np.arange(12).reshape(2, 6) % 9
needs_h5py = pytest.mark.skipif(importlib.util.find_spec("h5py") is None, reason="needs h5py")


@pytest.fixture
def makers():
    """The functions that made the golden files, without the TensorFlow that they ran with."""
    sys.modules["tensorflow"], held = tf, sys.modules.get("tensorflow")
    try:
        spec = importlib.util.spec_from_file_location(
            "make_keras_files", os.path.join(GOLDEN, "make_keras_files.py")
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        if held is None:
            del sys.modules["tensorflow"]
        else:
            sys.modules["tensorflow"] = held
    yield module
    tf.keras.utils.get_custom_objects().clear()


@pytest.fixture
def answers():
    with open(os.path.join(FILES, "answers.json")) as file:
        return json.load(file)


@needs_h5py
def test_a_network_of_tensorflow_predicts_and_trains_on(makers, answers):
    model = tf.keras.models.load_model(os.path.join(FILES, "network.keras"))
    found = model.predict(WORDS, verbose=0)
    np.testing.assert_allclose(found, answers["network"], rtol=1e-4, atol=1e-5)
    assert int(model.optimizer.iterations.numpy()) == 2
    before = model.evaluate(WORDS, np.ones((2, 2)), verbose=0)[0]
    model.fit(WORDS, np.ones((2, 2)), epochs=20, verbose=0)
    assert model.evaluate(WORDS, np.ones((2, 2)), verbose=0)[0] < before
    assert int(model.optimizer.iterations.numpy()) == 22


@needs_h5py
def test_a_class_of_the_program_is_found_by_its_registered_name(makers, answers):
    path = os.path.join(FILES, "subclass.keras")
    with pytest.raises(TypeError, match="Could not locate class 'Stack'"):
        tf.keras.models.load_model(path)
    kind = makers.keras_classes(tf)
    model = tf.keras.models.load_model(path)
    assert type(model) is kind
    found = model.predict(X, verbose=0)
    np.testing.assert_allclose(found, answers["subclass"], rtol=1e-4, atol=1e-5)
    other = kind(4)
    other.build((None, 6))
    other.load_weights(os.path.join(FILES, "subclass.weights.h5"))
    np.testing.assert_array_equal(other.predict(X, verbose=0), found)


@needs_h5py
def test_what_is_written_is_read_again(makers, tmp_path):
    network, stack = makers.network(tf), makers.keras_classes(tf)(4)
    network.fit(WORDS, np.ones((2, 2)), verbose=0)
    stack.compile("adam", "mse")
    stack.fit(X, X[:, :1], verbose=0)
    for model, x in ((network, WORDS), (stack, X)):
        path = str(tmp_path / "model.keras")
        model.save(path)
        again = tf.keras.models.load_model(path)
        np.testing.assert_array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0))
        assert int(again.optimizer.iterations.numpy()) == 1
        for mine, its in zip(model.optimizer.weights, again.optimizer.weights):
            np.testing.assert_array_equal(mine.numpy(), its.numpy())
    assert sorted(os.listdir(tmp_path)) == ["model.keras"]


@needs_h5py
def test_vocabularies_are_kept_in_files(tmp_path):
    L = tf.keras.layers
    words = L.TextVectorization(output_sequence_length=3)
    words.adapt(["a b c", "b c", "c"])
    model = tf.keras.Sequential([tf.keras.Input((1,), dtype="string"), words, L.Embedding(9, 2)])
    path, texts = str(tmp_path / "texts.keras"), tf.constant([["a c"], ["b z"]])
    model.save(path)
    again = tf.keras.models.load_model(path)
    np.testing.assert_array_equal(again(texts), model(texts))
    assert again.layers[0].get_vocabulary() == ["", "[UNK]", "c", "b", "a"]


@needs_h5py
def test_damaged_files_are_refused(tmp_path):
    path = str(tmp_path / "damaged.keras")
    with pytest.raises(ValueError, match="File not found"):
        tf.keras.models.load_model(path)
    with open(path, "wb") as file:
        file.write(b"no zip")
    with pytest.raises(ValueError, match="is not a file .keras"):
        tf.keras.models.load_model(path)
    sound = os.path.join(FILES, "network.keras")
    with zipfile.ZipFile(sound) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, content, message in (
        ("config.json", b"{", "damaged"),
        ("config.json", None, "has no config.json"),
        ("config.json", b"[]", "config"),
        ("model.weights.h5", b"no HDF5", "variables are damaged"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for part, held in {**parts, name: content}.items():
                if held is not None:
                    archive.writestr(part, held)
        with pytest.raises(ValueError, match=message):
            tf.keras.models.load_model(path)
    shutil.copy(sound, path)
    model = tf.keras.models.load_model(path)
    wrong = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
    model.save_weights(str(tmp_path / "other.weights.h5"))
    with pytest.raises(ValueError, match="variable"):
        wrong.load_weights(str(tmp_path / "other.weights.h5"))


@needs_h5py
def test_a_lambda_in_a_file_is_not_run_unless_asked_for(tmp_path):
    double = tf.keras.layers.Lambda(lambda x: x * 2)
    model, path = tf.keras.Sequential([tf.keras.Input((2,)), double]), str(tmp_path / "l.keras")
    model.save(path)
    with pytest.raises(ValueError, match="safe_mode=False"):
        tf.keras.models.load_model(path)
    again = tf.keras.models.load_model(path, safe_mode=False)
    np.testing.assert_array_equal(again(np.ones((1, 2), "float32")), [[2, 2]])


def test_other_formats_are_refused(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
    with pytest.raises(ValueError, match="`.keras` extension"):
        model.save(str(tmp_path / "folder"))
    with pytest.raises(NotImplementedError, match="onnx"):
        model.export(str(tmp_path / "folder"), format="onnx")


def test_an_exported_model_predicts(tmp_path):
    L = tf.keras.layers
    first, second = tf.keras.Input((6,), name="first"), tf.keras.Input((6,), name="second")
    outputs = [L.Dense(2)(first), L.LSTM(2)(L.Reshape((3, 2))(second))]
    model, path = tf.keras.Model([first, second], outputs), str(tmp_path / "served")
    model.export(path, verbose=False)
    loaded = tf.saved_model.load(path)
    serving = loaded.signatures["serving_default"]
    found = serving(first=tf.constant(X), second=tf.constant(X))
    for name, expected in zip(("output_0", "output_1"), model.predict([X, X], verbose=0)):
        np.testing.assert_allclose(found[name], expected, rtol=1e-5)


def test_a_layer_calls_a_saved_models_endpoint(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(2)])
    path = str(tmp_path / "served")
    model.export(path, verbose=False)
    layer = tf.keras.layers.TFSMLayer(path, call_endpoint="serve")
    np.testing.assert_allclose(layer(X), model(X), rtol=1e-6)
    with pytest.raises(ValueError, match="neither an attribute"):
        tf.keras.layers.TFSMLayer(path, call_endpoint="nothing")


def _kept_in(kind, make):
    """Layers in containers of a kind: (what holds them, the layers in the order of calls)."""
    layers = [make() for _ in range(3)]
    a, b, c = layers
    return {
        "lists": [[a, b], [c]],
        "tuples": ((a,), (b, c)),
        "dict": {"z": [a], "a": {"x": b, "b": c}},
        "pairs": [("first", a), ("second", [b, None, 3]), c],
        "ordered": collections.OrderedDict([("z", a), ("a", [b, c])]),
        "default": collections.defaultdict(list, {"k": [a, b, c]}),
        "named": collections.namedtuple("Named", "u v w")(a, b, c),
    }[kind], layers


@needs_h5py
@pytest.mark.parametrize(
    "kind", ["lists", "tuples", "dict", "pairs", "ordered", "default", "named"]
)
def test_layers_in_containers_in_containers_are_saved(tmp_path, kind):
    keras = tf.keras

    @keras.utils.register_keras_serializable("tests")
    class Held(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.held, layers = _kept_in(kind, lambda: keras.layers.Dense(6))
            self.__dict__["in_order"] = lambda: layers

        def build(self, shape):
            for layer in self.in_order():
                layer.build(shape)

        def call(self, x):
            for layer in self.in_order():
                x = layer(x)
            return x

    def made():
        inputs = keras.Input([6])
        return keras.Model(inputs, Held()(inputs))

    model = made()
    values = [np.random.RandomState(1).uniform(size=w.shape) for w in model.get_weights()]
    assert len(values) == 6
    model.set_weights(values)
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    saved = tf.train.Checkpoint(model=model).save(str(tmp_path / "checkpoint"))
    of_weights, of_checkpoint = made(), made()
    of_weights.load_weights(tmp_path / "model.weights.h5")
    tf.train.Checkpoint(model=of_checkpoint).restore(saved)
    for found in (keras.models.load_model(tmp_path / "model.keras"), of_weights, of_checkpoint):
        np.testing.assert_allclose(found(X), model(X), rtol=1e-5)
    keras.utils.get_custom_objects().clear()


@needs_h5py
def test_nested_layers_have_the_paths_of_keras_3(tmp_path):
    import h5py

    class Held(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.rows = [tf.keras.layers.Dense(2), [[tf.keras.layers.Dense(3)]], []]

        def call(self, x):
            return self.rows[1][0][0](self.rows[0](x))

    model = tf.keras.Sequential([tf.keras.Input([6]), Held()])
    model.save_weights(tmp_path / "model.weights.h5")
    with h5py.File(tmp_path / "model.weights.h5") as file:
        found = []
        file.visititems(lambda name, x: found.append(name) if isinstance(x, h5py.Dataset) else None)
    rows = "layers/held/rows/"
    assert found == [
        f"{rows}{inside}dense/vars/{i}" for inside in ("container/container/", "") for i in (0, 1)
    ]


@needs_h5py
@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_sequences_that_learned_their_input_by_training_come_back(tmp_path, suffix):
    dense = tf.keras.layers.Dense
    inner = tf.keras.Sequential([dense(5, activation="tanh")])
    model = tf.keras.Sequential([inner, dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, X.sum(1, keepdims=True), epochs=1, verbose=0)
    assert list(model.get_config()["build_input_shape"]) == [None, 6]
    model.save(tmp_path / f"model.{suffix}")
    found = tf.keras.models.load_model(tmp_path / f"model.{suffix}")
    np.testing.assert_allclose(found(X), model(X), rtol=1e-6)
