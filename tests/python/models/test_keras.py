"""Models of layers: how they are made, named, trained, described, in graphs that a session runs."""

import subprocess
import sys

import numpy as np
import pytest
import rheos.v1 as tf

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def fresh():
    keras.backend.clear_session()
    tf.set_random_seed(3)
    np.random.seed(0)
    yield
    keras.backend.clear_session()


def data(count=60, features=4):
    x = np.random.rand(count, features).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def test_a_layer_by_itself_makes_variables_that_the_session_initializes():
    x = tf.placeholder(tf.float32, [None, 3])
    layer = layers.Dense(2, kernel_initializer="ones", bias_initializer="ones")
    y = layer(x)
    assert [v.name for v in layer.weights] == ["dense/kernel:0", "dense/bias:0"]
    found = keras.backend.get_session().run(y, {x: [[1, 2, 3]]})
    assert found.tolist() == [[7, 7]]


def test_fit_lowers_the_loss_and_keeps_a_history():
    x, y = data()
    model = keras.Sequential([layers.Dense(8, "relu", input_shape=(4,)), layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    history = model.fit(x, y, epochs=5, batch_size=10, validation_split=0.2, verbose=0)
    assert sorted(history.history) == [
        "loss", "mean_absolute_error", "val_loss", "val_mean_absolute_error"]  # fmt: skip
    losses = history.history["loss"]
    assert losses[-1] < losses[0] and history.epoch == [0, 1, 2, 3, 4]
    loss, error = model.evaluate(x, y, verbose=0)
    predicted = model.predict(x)
    assert loss == pytest.approx(np.mean((predicted - y) ** 2), rel=1e-5)
    assert error == pytest.approx(np.mean(np.abs(predicted - y)), rel=1e-5)


def test_several_inputs_and_outputs_and_shared_layers():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = layers.Dense(3, name="shared")
    left, right = shared(a), shared(b)
    one = layers.Dense(1, name="one")(left * 2.0 + 1.0)
    model = keras.Model([a, b], [one, right])
    assert [layer.name for layer in model.layers if "op" not in layer.name] == [
        "a", "b", "shared", "one"] or len(model.weights) == 4  # fmt: skip
    model.compile("sgd", ["mse", "mae"], loss_weights=[1.0, 0.5])
    x, y = data()
    found = model.train_on_batch({"a": x, "b": x}, [y, np.zeros((60, 3))])
    assert model.metrics_names == ["loss", "one_loss", "shared_loss"]
    assert found[0] == pytest.approx(found[1] + 0.5 * found[2], rel=1e-5)


def test_a_subclass_is_built_by_its_first_data():
    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = [layers.Dense(5), layers.Dense(1)]

        def call(self, x, training=None):
            return self.parts[1](self.parts[0](x))

    model = Two()
    model.compile(tf.train.AdamOptimizer(0.05), "mse")
    x, y = data()
    losses = model.fit(x, y, epochs=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    assert [v.name for v in model.weights][0] == "two/dense/kernel:0"


def test_a_configuration_makes_the_same_model():
    model = keras.Sequential([layers.Dense(8, "relu", input_shape=(4,)), layers.Dense(3)])
    other = keras.models.model_from_json(model.to_json())
    assert other.get_config() == model.get_config()
    other.set_weights(model.get_weights())
    x, _ = data()
    np.testing.assert_array_equal(other.predict(x), model.predict(x))


def test_the_table_of_a_model(capsys):
    keras.Sequential([layers.Dense(8, input_shape=(4,)), layers.Dense(3)]).summary()
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == 'Model: "sequential"'
    assert lines[4] == "dense (Dense)                (None, 8)                 40        "
    assert "Total params: 67" in lines


def test_wrong_data_are_told():
    model = keras.Sequential([layers.Dense(1, input_shape=(4,))])
    x, y = data()
    with pytest.raises(RuntimeError, match="compile"):
        model.fit(x, y, verbose=0)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="expected dense_input to have shape .4,."):
        model.fit(x[:, :3], y, verbose=0)
    with pytest.raises(ValueError, match="same number of samples"):
        model.fit(x, y[:5], verbose=0)
    with pytest.raises(ValueError, match="Unknown optimizer"):
        model.compile("no such optimizer", "mse")


@pytest.mark.parametrize("line, is_eager", [("", True), ("keras.backend.get_session()", False)])
def test_a_program_that_uses_keras_runs_as_one_of_version_2(tmp_path, line, is_eager):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "from tensorflow.keras.layers import Dense\n"
        "from tensorflow.keras.models import Sequential\n"
        "from tensorflow.keras.optimizers.schedules import ExponentialDecay\n"
        "from tensorflow.python.keras.layers import Conv2D\n"
        "model = Sequential([Dense(3, input_shape=(4,))])\n"
        "print(model.predict(np.ones((2, 4)), verbose=0).shape)\n"
        "from tensorflow import keras\n"
        f"{line}\n"
        "print(hasattr(model.weights[0], 'numpy') and hasattr(keras, 'config'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "rheos", "run", str(program)], capture_output=True, text=True
    )
    assert done.stdout == f"(2, 3)\n{is_eager}\n", done.stderr


def test_the_session_of_the_program_is_used():
    with tf.Graph().as_default(), tf.Session() as session:
        keras.backend.set_session(session)
        x = tf.placeholder(tf.float32, [None, 4])
        y = layers.Dense(1, name="mine")(layers.Dropout(0.5)(x))
        loss = tf.reduce_mean(tf.square(y - 1.0))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        feed = {x: np.ones((8, 4)), keras.backend.learning_phase(): 0}
        before = session.run(loss, feed)
        session.run(step, {x: np.ones((8, 4)), keras.backend.learning_phase(): 1})
        assert keras.backend.get_session() is session
        assert session.run(loss, feed) != before


def test_layers_in_a_traced_function():
    layer = layers.Dense(2, kernel_initializer="ones")
    layer.build((None, 3))
    function = tf.function(lambda x: layer(x) * 2.0)
    found = function(tf.constant([[1.0, 2.0, 3.0]]))
    assert keras.backend.get_session().run(found).tolist() == [[12, 12]]
