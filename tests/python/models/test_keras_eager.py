"""Models of tf.keras predict and train as TensorFlow 2's do, where operations run at once."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import pytest

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden")


def run(program, *arguments):
    """What a program prints in a process of its own, as eager execution is for good."""
    text = textwrap.dedent(program)
    found = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


COMPARED = """
    import json, sys
    sys.path.insert(0, sys.argv[1])
    import keras_models
    import rheos as tf
    with open(sys.argv[1] + "/keras2.json") as file:
        recorded = json.load(file)
    answers = {}
    for name in recorded:
        tf.keras.backend.clear_session()
        try:
            found = keras_models.run(tf.keras, keras_models.CASES[name])
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {error}"
        else:
            answers[name] = {key: found[key] for key in recorded[name]}
    with open(sys.argv[2], "w") as file:
        json.dump(answers, file)
"""


def assert_arrays(found, expected, tolerance):
    assert [shape for shape, _ in found] == [shape for shape, _ in expected]
    for (_, numbers), (_, wanted) in zip(found, expected):
        np.testing.assert_allclose(numbers, wanted, rtol=1e-5, atol=tolerance)


with open(os.path.join(GOLDEN, "keras2.json")) as _file:
    RECORDED = json.load(_file)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    path = tmp_path_factory.mktemp("keras") / "answers.json"
    run(COMPARED, GOLDEN, str(path))
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", RECORDED)
def test_a_model_gives_what_tensorflow_2_gives(answers, name):
    found, expected = answers[name], RECORDED[name]
    assert isinstance(found, dict), found
    assert_arrays(found["outputs"], expected["outputs"], 1e-5)
    np.testing.assert_allclose(found["evaluated"], expected["evaluated"], rtol=1e-4, atol=1e-5)
    assert sorted(found["history"]) == sorted(expected["history"])
    for key, values in expected["history"].items():
        np.testing.assert_allclose(found["history"][key], values, rtol=1e-4, atol=1e-5)
    assert_arrays(found["after"], expected["after"], 1e-4)


def test_a_loop_of_ones_own_trains_a_subclass():
    program = """
        import numpy as np
        import rheos as tf

        class Two(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.first = tf.keras.layers.Dense(8, activation="tanh")
                self.second = tf.keras.layers.Dense(1)

            def call(self, x, training=False):
                return self.second(self.first(x))

        model, error = Two(), tf.keras.losses.MeanSquaredError()
        optimizer, mean = tf.keras.optimizers.Adam(0.05), tf.keras.metrics.Mean()
        x = np.random.RandomState(1).uniform(-1, 1, (32, 3)).astype("float32")
        y = x.sum(1, keepdims=True)
        {decorator}
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = error(y, model(x, training=True))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            mean.update_state(loss)
            return loss

        losses = [float(step(x, y)) for _ in range(40)]
        assert losses[-1] < losses[0] / 4, losses
        np.testing.assert_allclose(float(mean.result()), np.mean(losses), rtol=1e-4)
        assert int(optimizer.iterations) == 40
        model.save_weights({path!r})
        before = model(x).numpy()
        for v in model.variables:
            v.assign(tf.zeros_like(v))
        model.load_weights({path!r})
        np.testing.assert_array_equal(model(x).numpy(), before)
    """
    for decorator in ("", "@tf.function"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two")
            run(textwrap.dedent(program).format(decorator=decorator, path=path))


def test_a_model_of_many_layers_runs_eagerly_and_as_a_function():
    run("""
        import numpy as np
        import rheos as tf
        layers = [tf.keras.layers.Dense(10, activation="relu") for _ in range(100)]
        model = tf.keras.Sequential([tf.keras.Input((10,)), *layers])
        x = tf.random.uniform([20, 10])
        np.testing.assert_allclose(tf.function(model)(x), model(x), rtol=1e-5, atol=1e-6)
        assert len(model.trainable_variables) == 200
    """)


def test_a_result_of_a_function_is_also_added_to_a_variable():
    run("""
        import rheos as tf
        total = tf.Variable(1.0)

        @tf.function
        def step(x):
            mean = tf.reduce_mean(x)
            total.assign_add(tf.reduce_sum(mean))
            return mean

        for _ in range(3):
            assert float(step(tf.fill([8, 4], 2.0))) == 2.0
        assert float(total) == 7.0
    """)


def test_a_model_calls_its_layers_once():
    run("""
        import rheos as tf

        class Counting(tf.keras.layers.Layer):
            calls = 0

            def call(self, x):
                self.calls += 1
                return x

        layer = Counting()
        tf.keras.Sequential([layer])(tf.ones([2, 3]))
        assert layer.calls == 1
    """)


def test_the_table_counts_variables_and_those_of_the_optimizer():
    text = run("""
        import rheos as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
        model(tf.ones([64, 4]))
        model.compile("adam", "mse")
        model.fit(tf.ones([64, 4]).numpy(), tf.ones([64, 1]).numpy(), verbose=0)
        model.summary()
    """)
    assert "\u2502 dense (Dense)                   \u2502 (64, 8)  " in text
    assert " Total params: 149 (600.00 B)\n" in text
    assert " Optimizer params: 100 (404.00 B)\n" in text


def test_the_module_says_what_it_does_not_have():
    run("""
        import rheos as tf
        assert "Dense" in dir(tf.keras.layers)
        assert tf.losses.MeanSquaredError is tf.keras.losses.MeanSquaredError
        assert tf.optimizers.schedules.CosineDecay is tf.keras.optimizers.schedules.CosineDecay
        try:
            tf.keras.layers.NoSuchLayer
        except AttributeError as error:
            assert "tf.keras.layers" in str(error)
        else:
            raise AssertionError("found")
    """)


def test_a_checkpoint_keeps_the_optimizer_also_for_one_not_built_yet(tmp_path):
    run(
        """
        import sys
        import numpy as np
        import rheos as tf
        x, y = np.random.RandomState(0).rand(8, 3), np.ones((8, 1))
        def made(steps):
            model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
            for _ in range(steps):
                model.fit(x, y, verbose=0, shuffle=False)
            return model, tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        first, checkpoint = made(2)
        path = checkpoint.save(sys.argv[1] + "/a")
        names = [name for name, _ in tf.train.list_variables(path)]
        assert "optimizer/_variables/2/.ATTRIBUTES/VARIABLE_VALUE" in names
        first.fit(x, y, verbose=0, shuffle=False)
        for steps in (0, 1):
            other, checkpoint = made(steps)
            checkpoint.restore(path).assert_existing_objects_matched()
            assert int(other.optimizer.iterations) == 2
            other.fit(x, y, verbose=0, shuffle=False)
            for a, b in zip(first.get_weights(), other.get_weights()):
                np.testing.assert_allclose(a, b, rtol=1e-6)
        """,
        str(tmp_path),
    )


def test_the_steps_of_datasets_are_told_by_the_bar_of_keras_3():
    printed = run("""
        import numpy as np
        import rheos as tf

        x, y = np.ones((10, 2), "float32"), np.ones((10, 1), "float32")
        dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(dataset)
        model.evaluate(dataset)
        model.predict(dataset)
        print("now of unknown size")
        model.evaluate(dataset.filter(lambda x, y: True))
    """)
    known, unknown = printed.split("now of unknown size")
    assert "Unknown" not in known
    assert known.count("1/3") == known.count("3/3") == 3
    assert "1/Unknown" in unknown
    assert "3/3" in unknown
