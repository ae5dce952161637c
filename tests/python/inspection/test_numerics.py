"""Checks of numbers: what is said of the first NaN or infinity, and of nothing else."""

import numpy as np
import pytest
import rheos as tf


@pytest.fixture(autouse=True)
def checks():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def _raises(match):
    return pytest.raises(tf.errors.InvalidArgumentError, match=match)


def test_an_operation_that_runs_at_once_is_named():
    with _raises("!!! Detected Infinity or NaN in output 0 of eagerly-executing op \"Log\"") as e:
        tf.math.log(tf.constant([0.0, -1.0, 2.0, 0.0]))
    text = e.value.message
    assert "(# of outputs: 1) !!!" in text
    assert "dtype: <dtype: 'float32'>" in text and "shape: (4,)" in text
    assert "# of -Inf elements: 2" in text and "# of +NaN elements: 1" in text
    assert "Input tensor: tf.Tensor([ 0. -1.  2.  0.]" in text
    assert f"{__file__[-40:]} (L" in text and "Tensor had -Inf and NaN values" in text


def test_an_output_among_several_and_inputs():
    with _raises("output 0 of .*RealDiv") as e:
        tf.constant([1.0]) / tf.constant([0.0])
    assert "Input tensors (2):" in e.value.message and "+Inf" in e.value.message


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64, tf.complex64])
def test_types_with_fractions(dtype):
    zero = tf.zeros([2], dtype)
    with _raises(f"dtype: <dtype: '{dtype.name}'>"):
        zero / zero


def test_what_only_hands_on_numbers_passes():
    bad = tf.constant([np.nan, 1.0])
    assert np.isnan(tf.reshape(bad, [2, 1]).numpy()[0, 0])
    assert tf.concat([bad, bad], 0).shape == (4,) and tf.identity(bad).shape == (2,)
    assert tf.constant([1, 2]).numpy().tolist() == [1, 2]


def test_functions_say_their_own_line():
    @tf.function
    def inner(x):
        return tf.sqrt(x)  # here

    @tf.function
    def outer(x):
        return inner(x) * 2.0

    with _raises("Sqrt") as e:
        outer(tf.constant(-1.0))
    assert "return tf.sqrt(x)  # here" in e.value.message
    assert outer(tf.constant(4.0)).numpy() == 4.0


def test_functions_stay_compiled_and_name_the_trip():
    traced = []

    @tf.function
    def f(x):
        traced.append(1)
        for _ in tf.range(4):
            x = tf.divide(1.0, x - 1.0, name="quotient")  # in the loop
        return x

    assert f(tf.constant(5.0)).numpy() != 0 and len(traced) == 1
    with _raises("graph op \"RealDiv\"") as e:
        f(tf.constant(1.5))  # 2, 1, infinity
    text = e.value.message
    assert "tensor: quotient:0" in text and "# of +Inf elements: 1" in text
    assert "while;2" in text and "# in the loop" in text
    assert len(traced) == 1 and not tf.config.functions_run_eagerly()


def test_gradients_inside_functions_are_checked():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sqrt(x)
        return tape.gradient(y, x)

    with _raises("tensor: gradient.*"):
        slope(tf.constant(0.0))
    assert slope(tf.constant(1.0)).numpy() == 0.5


def test_functions_of_datasets_are_checked():
    data = tf.data.Dataset.from_tensor_slices([1.0, 0.0]).map(lambda x: tf.divide(1.0, x))
    with _raises("graph op \"RealDiv\".*\n.*\n  in: inference_Dataset_map_"):
        list(data)


def test_gradients_are_checked():
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)
    with _raises("output 0 of .*GradientTape.gradient.*(# of outputs: 1)"):
        tape.gradient(y, x)


def test_steps_of_sessions_are_checked():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [3], name="x")
        result = tf.math.log(x, name="result")
        with v1.Session() as sess:
            assert sess.run(result, {x: [1, 1, 1]}).tolist() == [0, 0, 0]
            with _raises("output 0 of graph op \"Log\"") as e:
                sess.run(result, {x: [0, 1, -1]})
    text = e.value.message
    assert "tensor: result:0" in text and 'Input tensor: Tensor("x:0"' in text
    assert "# of -Inf elements: 1" in text and "# of +NaN elements: 1" in text
    assert 'result = tf.math.log(x, name="result")' in text


def test_sessions_that_were_open_and_bodies_of_functions():
    tf.debugging.disable_check_numerics()
    v1 = tf.compat.v1

    @tf.function
    def halved(x):
        return tf.divide(x, 0.0, name="bad")

    with tf.Graph().as_default(), v1.Session() as sess:
        y = halved(tf.constant(0.0))
        assert np.isnan(sess.run(y))
        tf.debugging.enable_check_numerics()
        with _raises("graph op \"RealDiv\".*\n.*tensor: bad:0\n  in: "):
            sess.run(y)
        tf.debugging.disable_check_numerics()
        assert np.isnan(sess.run(y))


def test_steps_with_texts_handles_and_loops_are_sound():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2], name="x")
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w), [0, x])[1]
        text = tf.strings.as_string(x[0])
        fetches = [v1.gradients(looped, [w])[0], text, tf.sparse.from_dense(x)]
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            slope, text, _ = sess.run(fetches, {x: [1, 2]})
    assert slope.tolist() == [3, 6] and text == b"1.000000"


def test_it_has_its_place_in_both_faces():
    assert tf.compat.v1.debugging.enable_check_numerics is tf.debugging.enable_check_numerics


def test_nothing_is_checked_when_it_is_off():
    tf.debugging.disable_check_numerics()
    tf.debugging.disable_check_numerics()
    assert np.isneginf(tf.math.log(tf.constant(0.0)).numpy())
    assert not tf.config.functions_run_eagerly()
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics(stack_height_limit=0)
    with _raises("Log") as e:
        tf.math.log(tf.constant(0.0))
    assert "Stack trace" not in e.value.message


def test_training_in_keras_is_checked():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(2, input_shape=(3,)),
            tf.keras.layers.Lambda(lambda x: tf.math.log(x - 1e6)),
        ]
    )
    model.compile("sgd", "mse")
    with _raises("Log"):
        model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
