"""The callback that names the first NaN of a fit."""

import numpy as np
import pytest
import rheos as tf
from rheos import v1


def model_of(keras, function):
    model = keras.Sequential(
        [
            keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,), name="first"),
            keras.layers.Lambda(function),
        ]
    )
    model.compile("sgd", "mse")
    return model


DATA = np.array([[1.0, 2.0], [2.0, 2.0], [-5.0, 1.0], [1.0, 1.0]], np.float32)


def fit(model, callback, **kwargs):
    return model.fit(
        DATA, np.ones((4, 1)), batch_size=1, shuffle=False, verbose=0, callbacks=[callback],
        **kwargs,
    )  # fmt: skip


def test_the_operation_that_made_it_is_named(capfd):
    model = model_of(tf.keras, lambda x: tf.math.log(x, name="logs"))  # here
    callback = tf.keras.callbacks.FirstNaN()
    history = fit(model, callback, epochs=3)
    assert model.stop_training and len(history.history["loss"]) == 1
    assert callback.found.op == "Log" and callback.found.place.startswith("inference_")
    assert callback.found.file == __file__
    assert "# here" in open(__file__).read().splitlines()[callback.found.line - 1]
    ((_, taken),) = callback.found.inputs
    assert taken.most < 0
    told = capfd.readouterr().err
    assert "Batch 2: the loss is nan, training ends\nThe first NaN is of step " in told
    assert "(Log)" in told and "\n  took " in told


def test_a_nan_that_is_not_of_the_loss_is_none(capfd):
    def zeros(x):
        nothing = tf.math.log(-tf.abs(x) - 1.0)  # NaN
        return x + tf.cast(tf.math.is_nan(nothing), tf.float32)

    callback = tf.keras.callbacks.FirstNaN()
    model = model_of(tf.keras, zeros)
    fit(model, callback)
    assert callback.found is None and not model.stop_training
    assert "training ends" not in capfd.readouterr().err


def test_a_function_is_told_and_the_watch_ends():
    seen = []
    model = model_of(tf.keras, tf.math.log)
    fit(model, tf.keras.callbacks.FirstNaN(seen.append))
    assert [w.op for w in seen] == ["Log"]
    tf.math.log(tf.constant(-1.0))
    assert len(seen) == 1


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_training_that_runs_eagerly_too(run_eagerly):
    seen = []
    model = model_of(tf.keras, tf.math.log)
    model.compile("sgd", "mse", run_eagerly=run_eagerly)
    fit(model, tf.keras.callbacks.FirstNaN(seen.append))
    assert [w.op for w in seen] == ["Log"] and bool(seen[0].place) != run_eagerly


def test_training_in_a_session():
    seen = []
    with tf.Graph().as_default(), v1.Session() as session:
        v1.keras.backend.set_session(session)
        model = model_of(v1.keras, tf.math.log)
        fit(model, v1.keras.callbacks.FirstNaN(seen.append))
    assert [w.op for w in seen] == ["Log"]
