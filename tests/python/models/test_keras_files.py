"""Models and their variables in files: of HDF5, and checkpoints of objects."""

import json

import numpy as np
import pytest
import rheos.v1 as tf

keras = tf.keras
layers = keras.layers
X = np.random.RandomState(0).rand(8, 5, 4).astype("float32")
Y = np.eye(2)[[0, 1, 1, 0, 1, 0, 0, 1]]


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def build():
    inputs = keras.Input((5, 4))
    x = layers.LSTM(3, return_sequences=True)(inputs)
    x = layers.Flatten()(layers.BatchNormalization()(x))
    model = keras.Model(inputs, layers.Dense(2, activation="softmax")(x))
    model.compile(keras.optimizers.Adam(lr=0.01), "categorical_crossentropy", metrics=["accuracy"])
    return model


class Two(keras.Model):
    def __init__(self):
        super().__init__()
        self.first = layers.Dense(3)
        self.others = [layers.Dense(2)]

    def call(self, inputs):
        return self.others[0](self.first(inputs))


def test_weights_in_a_checkpoint_of_objects(tmp_path):
    model = build()
    expected = model.predict(X)
    model.save_weights(str(tmp_path / "weights"))
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "weights"))]
    assert "layer_with_weights-0/cell/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names
    other = build()
    assert not np.allclose(other.predict(X), expected)
    other.load_weights(str(tmp_path / "weights"))
    np.testing.assert_array_equal(other.predict(X), expected)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "weights")


def test_weights_of_a_subclass_by_the_names_of_its_attributes(tmp_path):
    model, other = Two(), Two()
    for each in (model, other):
        each.build((None, 4))
    model.save_weights(str(tmp_path / "weights"))
    names = [name for name, _ in tf.train.list_variables(str(tmp_path / "weights"))]
    assert "others/0/bias/.ATTRIBUTES/VARIABLE_VALUE" in names
    other.load_weights(str(tmp_path / "weights"))
    np.testing.assert_array_equal(other.predict(X[:, 0]), model.predict(X[:, 0]))


def test_a_model_in_hdf5_goes_on_where_it_was(tmp_path):
    pytest.importorskip("h5py")
    model = build()
    model.fit(X, Y, epochs=2, verbose=0)
    path = str(tmp_path / "model.h5")
    model.save(path)
    other = keras.models.load_model(path)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert other.train_on_batch(X, Y) == pytest.approx(model.train_on_batch(X, Y))
    assert other.optimizer.get_weights()[0] == 3


def test_the_layout_of_hdf5_is_that_of_keras(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "model.h5")
    keras.Sequential([layers.Dense(2, input_shape=(3,))]).save(path)
    with h5py.File(path) as file:
        assert json.loads(file.attrs["model_config"])["class_name"] == "Sequential"
        group = file["model_weights"]
        assert [bytes(n) for n in group.attrs["layer_names"]] == [b"dense"]
        assert [bytes(n) for n in group["dense"].attrs["weight_names"]] == [
            b"dense/kernel:0", b"dense/bias:0"]  # fmt: skip
        assert group["dense"]["dense/kernel:0"].shape == (3, 2)


def test_what_does_not_fit_is_told(tmp_path):
    pytest.importorskip("h5py")
    path = str(tmp_path / "weights.h5")
    build().save_weights(path)
    small = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    with pytest.raises(ValueError, match="containing 3 layers into a model with 1 layers"):
        small.load_weights(path)
    with pytest.raises(NotImplementedError, match="subclassed models"):
        model = Two()
        model.build((None, 4))
        model.save(path)
    with pytest.raises(OSError, match="does not exist"):
        keras.models.load_model(str(tmp_path / "nothing.h5"))


def test_a_model_is_cloned_with_variables_of_its_own():
    model = build()
    other = keras.models.clone_model(model)
    assert len(other.weights) == len(model.weights)
    assert not set(map(id, other.weights)) & set(map(id, model.weights))
    other.set_weights(model.get_weights())
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
