"""Calls of traced functions that are remembered mean what the first ones did."""

import gc
import weakref

import numpy as np
import pytest
import rheos as tf


def calls_remembered(function, call, times=3):
    """How many of the later calls were remembered ones."""
    call()
    function._take_calls()
    for _ in range(times):
        call()
    return function._take_calls()


def test_calls_like_the_first_are_remembered():
    @tf.function
    def program(x, y, scale=2.0, negate=False):
        total = (x - y) * scale
        return -total if negate else total

    x, y = tf.constant([3.0, 5.0]), tf.constant([1.0, 1.0])
    assert calls_remembered(program, lambda: program(x, y)) == 3
    assert calls_remembered(program, lambda: program(x, y=y, scale=3.0)) == 3
    assert program(x, y).numpy().tolist() == [4, 8]
    assert program(y, x).numpy().tolist() == [-4, -8]
    assert program(x, y, negate=True).numpy().tolist() == [-4, -8]
    assert program(x, y, 3.0).numpy().tolist() == [6, 12]
    assert program(x, y, scale=3.0).numpy().tolist() == [6, 12]
    assert program(y=y, x=x).numpy().tolist() == [4, 8]
    assert program(x=x, y=y).numpy().tolist() == [4, 8]


def test_names_in_another_order_do_not_mix_arguments_up():
    @tf.function
    def difference(a, b):
        return a - b

    x, y = tf.constant(1.0), tf.constant(5.0)
    for _ in range(2):
        assert difference(b=x, a=x).numpy() == 0
    for _ in range(2):
        assert difference(b=x, a=y).numpy() == 4
        assert difference(a=x, b=y).numpy() == -4


def test_other_shapes_dtypes_and_values_are_traced_anew():
    traces = []

    @tf.function
    def double(x, times=2):
        traces.append(x.shape)
        return x * times

    for _ in range(3):
        assert double(tf.constant(2.0)).numpy() == 4
        assert double(tf.constant([2.0])).numpy().tolist() == [4]
        assert double(tf.constant(2)).dtype == tf.int32
        assert double(tf.constant(2.0), 3).numpy() == 6
    assert len(traces) == 4


def test_results_keep_their_structure():
    @tf.function
    def program(x):
        return x + 1, {"two": x * 2, "list": [x, None]}

    @tf.function
    def pair(x):
        return x, x + 1

    @tf.function
    def nothing(x):
        pass

    x = tf.constant(1.0)
    for _ in range(3):
        one, rest = program(x)
        assert one.numpy() == 2 and rest["two"].numpy() == 2 and rest["list"][1] is None
        assert isinstance(pair(x), tuple) and pair(x)[1].numpy() == 2
        assert nothing(x) is None


def test_variables_are_watched_in_remembered_calls():
    v = tf.Variable(3.0)

    @tf.function
    def square(x):
        return v * v * x

    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = square(x)
        assert tape.gradient(y, v).numpy() == 12
    v.assign(1.0)
    assert square(x).numpy() == 2


def test_arrays_variables_and_lists_are_told_apart():
    @tf.function
    def total(values):
        return tf.add_n(values) if isinstance(values, list) else values + 0.0

    v, x = tf.Variable(4.0), tf.constant(2.0)
    for _ in range(3):
        assert total([x, x]).numpy() == 4
        assert total(np.float32(3)).numpy() == 3
        assert total(v).numpy() == 4
        assert total(x).numpy() == 2


def test_arguments_of_any_structure_are_remembered():
    @tf.function
    def program(pair, named, array, variable):
        variable.assign_add(array)
        return pair[0] - pair[1][0] + named["b"] * named["a"], {"v": variable + 0.0, "n": None}

    x, y = tf.constant([1.0, 2.0]), tf.constant([5.0, 7.0])
    array, v, w = np.ones(2, np.float32), tf.Variable([0.0, 0.0]), tf.Variable([1.0, 1.0])

    def call(variable=v):
        return program((x, [y]), {"a": x, "b": y}, array, variable)

    assert calls_remembered(program, call) == 3
    total, named = call(w)
    assert total.numpy().tolist() == [1, 9] and named["v"].numpy().tolist() == [2, 2]
    assert named["n"] is None and v.numpy().tolist() == [4, 4]
    array *= 10
    assert call(w)[1]["v"].numpy().tolist() == [12, 12]
    assert program((x, [y]), {"b": x, "a": y}, array, v)[0].numpy().tolist() == [1, 9]
    assert program((y, [x]), {"a": x, "b": y}, array, v)[0].numpy().tolist() == [9, 19]


def test_the_order_of_a_dict_does_not_mix_tensors_up():
    @tf.function
    def difference(named):
        return named["a"] - named["b"]

    x, y = tf.constant(1.0), tf.constant(5.0)
    for _ in range(2):
        assert difference({"b": x, "a": x}).numpy() == 0
    for _ in range(3):
        assert difference({"b": x, "a": y}).numpy() == 4
        assert difference({"a": x, "b": y}).numpy() == -4
    assert calls_remembered(difference, lambda: difference({"b": x, "a": y})) == 3
    assert difference({"b": y, "a": x}).numpy() == -4
    arrays = {"b": np.float32(1), "a": np.float32(5)}
    assert [difference(arrays).numpy() for _ in range(3)] == [4, 4, 4]


def test_a_variable_that_is_there_twice_is_one():
    @tf.function
    def move(a, b):
        a.assign_add(1.0)
        return b + 0.0

    v, w = tf.Variable(0.0), tf.Variable(10.0)
    for step in range(1, 4):
        assert move(v, v).numpy() == step
    for _ in range(3):
        assert move(v, w).numpy() == 10
    assert move(w, w).numpy() == 11 and v.numpy() == 6


def test_variables_among_the_arguments_are_watched():
    @tf.function
    def times(v, x):
        return v * x

    x = tf.constant(2.0)
    for value in (3.0, 4.0, 5.0):
        v, fixed = tf.Variable(value), tf.Variable(1.0, trainable=False)
        with tf.GradientTape() as tape:
            y = times(v, x) * times(v, x)
            times(fixed, x)
        assert tape.watched_variables() == (v,)
        assert tape.gradient(y, v).numpy() == 8 * value


def test_a_variable_of_an_open_shape_takes_any():
    @tf.function
    def total(v):
        return tf.reduce_sum(v)

    v = tf.Variable([1.0], shape=tf.TensorShape([None]))
    for n in range(1, 4):
        v.assign(tf.ones([n]))
        assert total(v).numpy() == n


def test_an_iterator_among_the_arguments_is_remembered():
    @tf.function
    def total(iterator):
        return tf.reduce_sum(next(iterator))

    dataset = tf.data.Dataset.range(100).batch(2)
    one, other = iter(dataset), iter(dataset)
    assert [int(total(one)) for _ in range(3)] == [1, 5, 9]
    assert [int(total(other)) for _ in range(2)] == [1, 5]
    assert calls_remembered(total, lambda: total(one)) == 3
    assert int(total(other)) == 9
    for _ in range(3):
        assert [int(total(i)) for i in (iter(dataset), iter(dataset.skip(1)))] == [1, 9 - 4]
    assert total.experimental_get_tracing_count() == 1


def test_functions_that_run_eagerly_are_python():
    seen = []

    @tf.function
    def program(x):
        seen.append(x)
        return x

    x = tf.constant(1.0)
    program(x), program(x)
    tf.config.run_functions_eagerly(True)
    try:
        program(x)
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(seen) == 2 and seen[-1] is x


def test_within_a_function_they_are_calls_of_it():
    @tf.function
    def inner(x):
        return x * 2

    @tf.function
    def outer(x):
        return inner(x) + 1

    x = tf.constant(3.0)
    assert inner(x).numpy() == 6 and inner(x).numpy() == 6
    assert outer(x).numpy() == 7
    with tf.Graph().as_default():
        assert not hasattr(inner(tf.constant(3.0)), "numpy")


def test_a_seed_has_calls_looked_up_anew():
    @tf.function
    def draw(x):
        return tf.random.uniform([3]) + x

    x = tf.constant(0.0)
    assert calls_remembered(draw, lambda: draw(x)) == 3
    tf.random.set_seed(7)
    draw(x)
    assert draw._take_calls() == 0


def test_errors_name_the_node_and_the_next_call_works():
    @tf.function
    def divide(x, y):
        return x // y

    one, zero = tf.constant(1), tf.constant(0)
    assert divide(one, one).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        divide(one, zero)
    assert divide(one, one).numpy() == 1


def test_concrete_functions_remember_too():
    @tf.function
    def program(x, y):
        return x - y

    x, y = tf.constant(5.0), tf.constant(2.0)
    concrete = program.get_concrete_function(x, y)
    assert calls_remembered(concrete, lambda: concrete(x, y)) == 3
    assert concrete(y, x).numpy() == -3 and concrete(x=x, y=y).numpy() == 3
    with pytest.raises(TypeError):
        concrete(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a float"):
        concrete(x, tf.constant(2))


def test_what_is_dropped_is_freed():
    big = tf.constant(np.zeros(1000, np.float32))
    function = tf.function(lambda x: x + big)
    function(big), function(big)
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


def test_the_first_call_makes_variables_once():
    class Model:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(10.0)
            return self.v.assign_add(x)

    model, x = Model(), tf.constant(1.0)
    assert [float(model(x)) for _ in range(4)] == [11, 12, 13, 14]


def test_a_signature_is_kept():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x):
        return tf.reduce_sum(x)

    for n in (1, 2, 3, 2, 1):
        assert total(tf.ones([n])).numpy() == n
    assert total.experimental_get_tracing_count() == 1
    with pytest.raises((TypeError, ValueError)):
        total(tf.ones([2, 2]))
